#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the rules of our code that the compiler does not know; CONTRIBUTING.md lists them.
# check-layers.sh [FILE…]: all Swift files of Sources and Tests, or those given.
set -euo pipefail
cd "$(dirname "$0")/.."

allowlist=scripts/unchecked-allowlist
if [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(find Sources Tests -name '*.swift' -type f | sort)
fi

findings=$(
    awk -v allowlist="$allowlist" '
        BEGIN {
            while ((getline line < allowlist) > 0)
                if (line ~ /^[^#].*: ./) allowed[substr(line, 1, index(line, ":") - 1)] = 1
        }

        function say(what) { printf "%s:%d: %s\n", FILENAME, FNR, what }

        # The comment of a line, in lower case; nothing when there is none.
        function comment(text) {
            if (text !~ /^[ \t]*\/\//) gsub(/"[^"]*"/, "", text)
            return match(text, /\/\//) ? tolower(substr(text, RSTART)) " " : ""
        }

        # What is left of a line without comments and the insides of strings.
        function code(text) {
            gsub(/\\"/, "", text)
            gsub(/"[^"]*"/, "\"\"", text)
            sub(/\/\/.*/, "", text)
            return text
        }

        # What a person types: an option, a command of utter, or a variable.
        function named(text) {
            # An option of another program.
            gsub(/setpriv --[a-z]+/, "", text)
            return text ~ /(^|[^A-Za-z0-9-])--[a-z]/ || text ~ /(UTTER|XDG)_[A-Z]/ \
                || text ~ /(^|[^A-Za-z])utter (record|send|list|retry|flush|show|last|fetch)([^a-z]|$)/ \
                || text ~ /(^|[^A-Za-z])utter (loop|play|export|rm|key new|devices|level|doctor|services|serve|demo|setup|config|start|stop|toggle|cancel|status|daemon|keys|fleet)([^a-z]|$)/
        }

        # The insides of the strings of a line.
        function strings(text, inside) {
            if (text ~ /^[ \t]*\/\//) return ""
            gsub(/\\"/, "", text)
            while (match(text, /"[^"]*"/)) {
                inside = inside " " substr(text, RSTART + 1, RLENGTH - 2)
                text = substr(text, RSTART + RLENGTH)
            }
            return inside
        }

        FNR == 1 {
            shipped = FILENAME ~ /^Sources\//
            split(FILENAME, parts, "/")
            target = parts[2] == "Companions" ? parts[3] : parts[2]
            command = target == "Programs"
            library = shipped && !command && target !~ /^Utter(Commands|Control|Settings|Terminal)$/
            previous = ""
            quoted = 0
        }
        FNR == 401 { say("the file has more than 400 lines") }

        {
            # A string over several lines is text, not code.
            marks = gsub(/"""/, "\"\"\"")
            inside = quoted
            if (marks % 2) quoted = !quoted
            if (library && named(inside ? $0 : strings($0)))
                say("options, commands and variables are named by Hints alone")
            if (inside) { previous = $0; next }
            text = code($0)
        }
        text ~ /(^|[^A-Za-z0-9_])try\?/ && $0 !~ /\/\// && previous !~ /^[ \t]*\/\// {
            say("try? without a comment that says why the error does not matter")
        }
        text ~ /try!|[ \t]as![ \t]|(^|[^A-Za-z0-9_.])fatalError\(/ {
            say("try!, as! and fatalError have no place here")
        }
        text ~ /@unchecked|nonisolated\(unsafe\)/ && !(FILENAME in allowed) {
            say("@unchecked and nonisolated(unsafe) need a reason in " allowlist)
        }
        shipped && !command && text ~ /(^|[^A-Za-z0-9_.])(print|debugPrint)\(/ \
            && text !~ /func print\(/ {
            say("a library does not print")
        }
        shipped && !command && text ~ /^[a-z@_ ]*import ([a-z]+ )?Foundation([^A-Za-z]|$)/ {
            say("no library imports Foundation; FoundationEssentials may do in some")
        }
        shipped && !command && text ~ /^[a-z@_ ]*import FoundationEssentials/ \
            && target !~ /^(CassetteRecording|Cassettes|Downloads|Fleet|SpeechService|TakeStore|RecognitionEndpoint|Utter|UtterCommands|UtterControl|UtterTerminal)$/ {
            say("FoundationEssentials is not for this module")
        }
        shipped && comment($0) ~ /[^a-z](nobody|whoever|somebody|anybody|someone|anyone|everybody)[^a-z]/ {
            say("a comment names the thread, the process, the caller or the person")
        }
        { previous = $0 }
    ' "${files[@]}"

    # A C library is fenced in by one target.
    for folder in Sources/C/*/; do
        library=$(basename "$folder")
        importers=$(grep -rlE "^[a-z@_ ]*import ([a-z]+ )?$library([^A-Za-z]|$)" \
            --include='*.swift' Sources | sed 's|/Companions||' | cut -d / -f 2 | sort -u || true)
        # Of libcurl, the parser of URLs is for the module that describes services.
        [ "$library $importers" = $'CCurl SpeechService\nUpload' ] && continue
        if [ "$(wc -w <<<"$importers")" -gt 1 ]; then
            echo "Sources/C/$library: imported by more than one target: ${importers//$'\n'/, }"
        fi
    done

    # A folder that is seen at one glance.
    find Sources Tests -name '*.swift' -type f -printf '%h\n' | sort | uniq -c |
        while read -r count folder; do
            [ "$count" -le 20 ] || echo "$folder: $count files, more than 20: make a room in it"
        done

    # A reason that is not needed any more is removed with its cause.
    { grep -vE '^(#|$)' "$allowlist" || true; } | while IFS=: read -r path reason; do
        if [ -z "${reason// /}" ]; then
            echo "$allowlist: '$path' has no reason"
        elif ! grep -qE '@unchecked|nonisolated\(unsafe\)' "$path" 2>/dev/null; then
            echo "$allowlist: '$path' does not need its line"
        fi
    done
)

[ -z "$findings" ] && exit 0
printf '%s\n' "$findings"
exit 1
