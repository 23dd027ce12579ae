#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the release build, or removes it: install.sh install|uninstall DESTDIR PREFIX
set -euo pipefail
cd "$(dirname "$0")/.."

action=$1
prefix=$3
root=$2$3

bash_completion=$root/share/bash-completion/completions/utter
zsh_completion=$root/share/zsh/site-functions/_utter
fish_completion=$root/share/fish/vendor_completions.d/utter.fish

units=$root/share/systemd/user

# Installs one file with the given mode, making its folder.
put() { install -D -m "$1" "$2" "$3"; }

# A release build without its symbols, which are half of it.
put_program() {
    put 755 "$1" "$2"
    if command -v strip >/dev/null; then strip "$2"; fi
}

put_all() {
    local built program library
    built=$(swift build -c release --show-bin-path)
    program=$built/utter
    put_program "$program" "$root/bin/utter"
    put_program "$built/utter-endpoint" "$root/libexec/utter/utter-endpoint"
    for library in "$(dirname "$built")"/lib/utter/*; do
        install -d "$root/lib/utter"
        # Most are links to one.
        cp -P "$library" "$root/lib/utter/"
    done
    put 644 man/utter.1 "$root/share/man/man1/utter.1"
    put 644 <("$program" --generate-completion-script bash) "$bash_completion"
    put 644 <("$program" --generate-completion-script zsh) "$zsh_completion"
    put 644 <("$program" --generate-completion-script fish) "$fish_completion"
    # The units name the program where it will be, not where DESTDIR puts it for now.
    put 644 <(sed "s|@PREFIX@|$prefix|" systemd/utter-flush.service) "$units/utter-flush.service"
    put 644 systemd/utter-flush.timer "$units/utter-flush.timer"
    for sample in go-forward.wav jfk.wav grammar/demo.gram; do
        put 644 "samples/$sample" "$root/share/utter/$sample"
    done
    put 644 LICENSE "$root/share/doc/utter/LICENSE"
    echo "installed $root/bin/utter; it needs the packages of: scripts/install-packages.sh runtime"
}

remove_all() {
    rm -f "$root/bin/utter" "$root/share/man/man1/utter.1" \
        "$bash_completion" "$zsh_completion" "$fish_completion" \
        "$units/utter-flush.service" "$units/utter-flush.timer"
    rm -rf "$root/libexec/utter" "$root/lib/utter" "$root/share/utter" "$root/share/doc/utter"
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

check_writable
case "$action" in
    install) put_all ;;
    uninstall) remove_all ;;
    *) echo "utter: error: '$action' is neither install nor uninstall" >&2 && exit 64 ;;
esac
