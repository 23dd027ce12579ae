#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the release build, or removes it: install.sh install|uninstall DESTDIR PREFIX
# UTTER_BUILD names the folder of another build.
set -euo pipefail
cd "$(dirname "$0")/.."

# dash and zsh leave the tilde of "make install PREFIX=~/.local" as it is.
expanded() {
    case "$1" in
        "~" | "~/"*) echo "$HOME${1#\~}" ;;
        *) echo "$1" ;;
    esac
}

action=$1
prefix=$(expanded "$3")
root=$(expanded "$2")$prefix

bash_completion=$root/share/bash-completion/completions/utter
zsh_completion=$root/share/zsh/site-functions/_utter
fish_completion=$root/share/fish/vendor_completions.d/utter.fish

units=$root/share/systemd/user

# The folders that were made, the outer ones first, and the files: uninstall removes these alone.
made=$root/share/utter/folders
list=$root/share/utter/files
new=()
files=()

# Makes a folder and those around it, and remembers which were not there.
make_folder() {
    [ -d "$1" ] && return
    make_folder "$(dirname "$1")"
    install -d -m 755 "$1"
    new+=("$1")
}

# Installs one file with the given mode, making its folder.
put() {
    make_folder "$(dirname "$3")"
    install -m "$1" "$2" "$3"
    files+=("${3#"$root"/}")
}

# Installs the manual: the pages that are written, and one for each command, which are made of the
# definitions that the parser has.
put_manual() {
    local date page program section
    for page in man/*.[1-8]; do
        section=${page##*.}
        put 644 "$page" "$root/share/man/man$section/${page##*/}"
    done
    date=$(sed -n 's/^\.Dd //p' man/utter.1)
    for program in "$built/utter" "$built/utter-endpoint" "$built/utter-keys" "$built/utter-work"; do
        "$program" --experimental-dump-help | "$built/utter-manual" "$1" "$date"
    done
    for page in "$1"/*.1; do put 644 "$page" "$root/share/man/man1/${page##*/}"; done
    put 644 <(echo ".so man1/utter-fleet.1") "$root/share/man/man1/utter-work.1"
}

# A release build without its symbols, which are half of it.
put_program() {
    put 755 "$1" "$2"
    if command -v strip >/dev/null; then strip "$2"; fi
}

put_all() {
    local built program
    built=${UTTER_BUILD:-$(swift build -c release --show-bin-path)}
    program=$built/utter
    put_program "$program" "$root/bin/utter"
    put_program "$built/utter-endpoint" "$root/libexec/utter/utter-endpoint"
    put_program "$built/utter-ear" "$root/libexec/utter/utter-ear"
    put_program "$built/utter-keys" "$root/libexec/utter/utter-keys"
    put_program "$built/utter-work" "$root/bin/utter-work"
    pages=$(mktemp -d)
    trap 'rm -rf "$pages"' EXIT
    put_manual "$pages"
    put 644 <(scripts/completions.sh bash "$program") "$bash_completion"
    put 644 <(scripts/completions.sh zsh "$program") "$zsh_completion"
    put 644 <(scripts/completions.sh fish "$program") "$fish_completion"
    # The units name the program where it will be, not where DESTDIR puts it for now.
    put 644 <(sed "s|@PREFIX@|$prefix|" systemd/utter-flush.service) "$units/utter-flush.service"
    put 644 systemd/utter-flush.timer "$units/utter-flush.timer"
    put 644 <(sed "s|@PREFIX@|$prefix|" systemd/utter.service) "$units/utter.service"
    put 644 systemd/utter.socket "$units/utter.socket"
    put 644 <(sed "s|@PREFIX@|$prefix|" systemd/utter-recogniser.service) \
        "$units/utter-recogniser.service"
    put 644 systemd/utter-recogniser.socket "$units/utter-recogniser.socket"
    for sample in go-forward.wav jfk.wav grammar/demo.gram; do
        put 644 "samples/$sample" "$root/share/utter/$sample"
    done
    for recipe in samples/recognisers/*.{py,toml,txt}; do
        put 644 "$recipe" "$root/share/utter/recognisers/${recipe##*/}"
    done
    for schema in docs/*.schema.json; do put 644 "$schema" "$root/share/utter/${schema##*/}"; done
    # By its name a desktop knows who asks for a key.
    put 644 <(sed "s|@PREFIX@|$prefix|" packaging/org.utter.Utter.desktop) \
        "$root/share/applications/org.utter.Utter.desktop"
    for text in docs/{using,fleet,fleet-figures,metrics,keys,services,profiles,cassettes,control}.md \
        docs/recogniser.md LICENSE; do
        put 644 "$text" "$root/share/doc/utter/${text##*/}"
    done
    # What an earlier version has installed, and this one does not, goes.
    if [ -e "$list" ]; then
        while read -r file; do
            [[ " ${files[*]} " == *" $file "* ]] || rm -f "$root/$file"
        done <"$list"
    fi
    printf '%s\n' "${files[@]}" >"$list"
    if [ "${#new[@]}" -gt 0 ]; then printf '%s\n' "${new[@]}" >>"$made"; fi
    echo "installed $root/bin/utter; it needs the packages of: scripts/install-packages.sh runtime"
}

remove_all() {
    local folders=() index
    # There is none where an earlier version was installed.
    if [ -e "$made" ]; then mapfile -t folders <"$made"; fi
    if [ -e "$list" ]; then
        while read -r file; do rm -f "$root/$file"; done <"$list"
    fi
    rm -f "$root/bin/utter" "$root/share/man/man1/utter.1" \
        "$bash_completion" "$zsh_completion" "$fish_completion" \
        "$units/utter-flush.service" "$units/utter-flush.timer" \
        "$units/utter.service" "$units/utter.socket"
    rm -rf "$root/libexec/utter" "$root/share/utter" "$root/share/doc/utter"
    for ((index = ${#folders[@]} - 1; index >= 0; index--)); do
        # What others have put there since keeps its folder.
        rmdir "${folders[index]}" 2>/dev/null || true
    done
    echo "removed $root/bin/utter and what belongs to it; recordings are left where they are"
}

# Says what to do when the folder is not ours to write in.
check_writable() {
    local folder=$root
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -w "$folder" ] && return
    echo "utter: error: cannot write in '$folder'" >&2
    echo "utter: hint: run 'sudo make $action', or choose a folder: make $action PREFIX=~/.local" >&2
    exit 1
}

case "$prefix" in
    /*) ;;
    *)
        echo "utter: error: PREFIX is '$prefix', which is no absolute path" >&2
        echo "utter: hint: name the folder from the root on: make $action PREFIX=\$HOME/.local" >&2
        exit 64
        ;;
esac
check_writable
case "$action" in
    install) put_all ;;
    uninstall) remove_all ;;
    *) echo "utter: error: '$action' is neither install nor uninstall" >&2 && exit 64 ;;
esac
