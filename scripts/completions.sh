#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints a shell's completions: completions.sh bash|zsh|fish PROGRAM
#
# Two things that the generated ones lack are added: a line that begins with an option is completed
# as one of 'utter record', and 'utter help' is followed by a command.
set -euo pipefail

shell=$1
script=$("$2" --generate-completion-script "$shell")

case "$shell" in
    bash)
        # shellcheck disable=SC2016
        printf '%s\n' "${script/%complete -o filenames -F _utter utter/}" '
_utter_line() {
    local -a line=("${COMP_WORDS[@]}")
    local -i number=COMP_CWORD
    if [[ "${line[1]}" = -* ]]; then
        line=("${line[0]}" record "${line[@]:1}")
        number+=1
    elif [[ "${line[1]}" = help && "${number}" -gt 1 ]]; then
        line=("${line[0]}" "${line[@]:2}")
        number+=-1
    fi
    local -a COMP_WORDS=("${line[@]}")
    local -i COMP_CWORD=number
    _utter "${@}"
}

complete -o filenames -F _utter_line utter'
        ;;
    zsh)
        # shellcheck disable=SC2016
        line='_utter() {
    if [[ "${words[2]}" = -* ]]; then
        words=("${words[1]}" record "${(@)words[2,-1]}")
        ((CURRENT += 1))
    elif [[ "${words[2]}" = help && "${CURRENT}" -gt 2 ]]; then
        words=("${words[1]}" "${(@)words[3,-1]}")
        ((CURRENT -= 1))
    fi
    _utter_words "${@}"
}

'
        # shellcheck disable=SC2016
        tail='if [[ "${funcstack[1]}" = _utter ]]; then'
        script=${script/$'\n_utter() {'/$'\n_utter_words() {'}
        printf '%s\n' "${script/"$tail"/"$line$tail"}"
        ;;
    fish)
        # The parser of a line without a command knows the options of record, and so do its lines.
        options=$(sed -n "/case 'record'/{n;s/.*__utter_parse_subcommand 0 //p;q}" <<<"$script")
        sed "s|__utter_parse_subcommand 0 'version' 'h/help'\$|__utter_parse_subcommand 0 $options|;t;b" \
            <<<"$script" | awk -v options="$options" '
                { print }
                /"utter record"/ { sub(/"utter record"/, "\"utter\""); print }
                /__utter_should_offer_completions_for_positional "utter" -eq 1/ {
                    sub(/"utter" -eq 1/, "\"utter help\" -eq 1"); print
                }'
        ;;
    *)
        echo "utter: error: '$shell' is none of bash, zsh and fish" >&2
        exit 64
        ;;
esac
