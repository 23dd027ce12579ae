#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of Debian or Ubuntu that are missing:
#     install-packages.sh [--check] [runtime|build|test|peers|bench|deb|sway|pictures|system|release]
# --check only says which they are, and fails when there are any. At a terminal it asks first; YES=1
# answers that. UTTER_PACKAGES=skip does nothing, for other systems.
set -euo pipefail
export LC_ALL=C

# Names and what each is for. "a|b" is one library under the names of several releases: Debian 12,
# Debian 13, Ubuntu 24.04. A name in brackets is left out where no package source has it.
runtime_packages='
libasound2t64|libasound2     reads the microphone (ALSA)
libcurl4t64|libcurl4         sends the recording over HTTP and TLS
libopus0                     compresses speech
libogg0                      wraps the compressed speech into pages
libflac14|libflac12|libflac12t64 compresses speech without loss
[libwebrtc-audio-processing1|libwebrtc-audio-processing-1-3] hears whether a voice goes on
libsamplerate0               converts other sample rates to 16 kHz
libevdev2                    reads keyboards in utter-keys
libsystemd0                  asks the desktop for a key in utter-keys
libnats3.4|libnats3.10|libnats3.7|libnats3.7t64 asks the queue of a fleet in utter-work
libssl3t64|libssl3           encrypts recordings on the disk, if asked to
libpocketsphinx3             recognises speech in utter-ear
pocketsphinx-en-us           the English model that it recognises with
ca-certificates              whom to trust in TLS'
build_packages='
libasound2-dev               reads the microphone (ALSA)
libcurl4-openssl-dev         sends the recording over HTTP and TLS
libopus-dev                  compresses speech
libogg-dev                   wraps the compressed speech into pages
libflac-dev                  compresses speech without loss
[libwebrtc-audio-processing-dev] hears whether a voice goes on
libsamplerate0-dev           converts other sample rates to 16 kHz
libevdev-dev                 reads keyboards in utter-keys
libsystemd-dev               asks the desktop for a key in utter-keys
libnats-dev                  asks the queue of a fleet in utter-work
zlib1g-dev                   reads transcripts that are compressed in a header
libssl-dev                   computes the SHA-256 of a recording, and encrypts it
libtomlplusplus-dev          reads settings and descriptions of services
libpocketsphinx-dev          recognises speech in utter-ear
pocketsphinx-en-us           the English model that it recognises with
ca-certificates              whom to trust in TLS
pkg-config                   tells the compiler where the libraries are'
# Libraries and tools alone; the servers that tests start are unpacked by scripts/servers.sh.
test_packages="$build_packages
make                         runs the targets of the Makefile
sox                          makes recordings to compare with
opus-tools                   judges our Ogg Opus files
flac                         judges our FLAC files
ffmpeg                       judges them, and makes odd recordings
strace                       shows what reaches the disk, and when
gcc                          builds the virtual microphone
libc6-dev                    builds the virtual microphone
dbus-daemon                  a bus for a desktop's portal
jq                           reads JSON in a filter of texts
procps                       shows threads and memory
brotli                       compresses answers
curl                         a second client to compare with
openssl                      a second opinion on digests
python3                      reads our forms, and is a recogniser
python3-venv                 installs one
python3-jsonschema           judges what programs read
python3-websockets           is a realtime service
groff-base                   judges our manual
librsvg2-bin                 judges our pictures"

peers_packages="$test_packages
python3-swift                OpenStack Swift, a store
[chromium]                   opens the page of the endpoint"

system_packages='
debootstrap                  makes the root of another system'

release_packages="$system_packages
apt-utils                    makes the folders that apt reads"

deb_packages="$build_packages
dpkg-dev                     finds the libraries that the programs need
lintian                      judges the package"

bench_packages="$build_packages
gcc                          builds the virtual microphone
libc6-dev                    builds the virtual microphone
alsa-utils                   arecord, to compare with
curl                         to compare with
ffmpeg                       to compare with
python3-websockets           is a realtime service
strace                       counts system calls
valgrind                     counts allocations"

pictures_packages='
gcc                          builds the virtual microphone
libc6-dev                    builds the virtual microphone
libasound2-dev               builds the virtual microphone
python3-pyte                 is the terminal that is recorded'

sway_packages='
sway                         a desktop without a screen
wtype                        presses the keys, and types the text
foot                         the window with the editor
wl-clipboard                 the clipboard
gcc                          builds the virtual microphone
libc6-dev                    builds the virtual microphone
libasound2-dev               builds the virtual microphone
util-linux                   runs Sway as another user than root'

say() { printf 'utter: %s\n' "$*" >&2; }

cannot() {
    say "error: $1"
    say "hint: $2"
    exit 1
}

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Prints the lines of the list on standard input that are not installed.
missing_lines() {
    local names reason name
    while read -r names reason; do
        [ -n "$names" ] || continue
        for name in ${names//[][|]/ }; do
            is_installed "$name" && continue 2
        done
        printf '%s %s\n' "$names" "$reason"
    done
}

# Prints the first of the alternative names that this system has.
known_name() {
    local name
    for name in ${1//[][|]/ }; do
        if apt-cache policy "$name" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null; then
            printf '%s\n' "$name"
            return
        fi
    done
    return 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq "$@" >&2
}

only_check=
if [ "${1:-}" = --check ]; then
    only_check=yes
    shift
fi
list=${1:-build}
case "$list" in
    runtime) wanted=$runtime_packages ;;
    build) wanted=$build_packages ;;
    test) wanted=$test_packages ;;
    peers) wanted=$peers_packages ;;
    bench) wanted=$bench_packages ;;
    deb) wanted=$deb_packages ;;
    sway) wanted=$sway_packages ;;
    pictures) wanted=$pictures_packages ;;
    system) wanted=$system_packages ;;
    release) wanted=$release_packages ;;
    *) cannot "there is no list '$list'" \
        "say runtime, build, test, peers, bench, deb, sway, pictures, system or release" ;;
esac

[ "${UTTER_PACKAGES:-}" = skip ] && exit 0
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    cannot "this system has no apt-get, so the packages cannot be installed" \
        "install what README.md names for your system, then set UTTER_PACKAGES=skip"
fi

missing=$(missing_lines <<<"$wanted")
[ -n "$missing" ] || exit 0

# What no package source has is left out where utter does without it: known once the lists are there.
names=()
unknown=
find_names() {
    local alternatives name
    names=() unknown=
    while read -r alternatives _; do
        if name=$(known_name "$alternatives"); then
            names+=("$name")
        elif [ "${alternatives#[}" = "$alternatives" ]; then
            unknown=$alternatives
        fi
    done <<<"$missing"
}
find_names

if [ -n "$only_check" ] && [ -z "$unknown" ] && [ "${#names[@]}" -eq 0 ]; then exit 0; fi

say "these packages are missing:"
while read -r alternatives reason; do
    name=$(known_name "$alternatives") || name=${alternatives//[][]/}
    printf '  %-30s %s\n' "${name%%|*}" "$reason" >&2
done <<<"$missing"

if [ -n "$only_check" ]; then
    say "hint: install them with: scripts/install-packages.sh $list"
    exit 1
fi

if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    cannot "installing them takes root, and there is no sudo" \
        "as root, run scripts/install-packages.sh $list"
fi

# Asks a person at a terminal; what runs by itself goes on.
agree() {
    local answer
    [ "${YES:-}" != 1 ] && [ -t 0 ] && [ -t 2 ] || return 0
    printf 'utter: %s [Y/n] ' "$1" >&2
    read -r answer || answer=n
    case "$answer" in
        "" | [Yy]*) ;;
        *) cannot "nothing was installed" "YES=1 installs them without a question" ;;
    esac
}

if [ -n "$unknown" ] || [ "${#names[@]}" -eq 0 ]; then
    agree "the lists of packages are old: update them as root?"
    apt update || cannot "apt-get update failed" "look at the lines above; is there a network?"
    find_names
    [ -z "$unknown" ] || cannot "no package source offers '$unknown'" "look at /etc/apt/sources.list"
    [ "${#names[@]}" -gt 0 ] || exit 0
fi

# "Need to get 12.3 MB of archives. After this operation, 45.6 MB of additional disk space …"
summary() {
    local said
    said=$(apt-get install --assume-no --no-install-recommends "${names[@]}" 2>/dev/null || true)
    sed -n 's/^.* \([0-9]*\) newly installed.*/\1 packages/p' <<<"$said"
    sed -n 's/^Need to get \([^ ]* [kMG]*B\).*/, \1 to fetch/p' <<<"$said"
    sed -n 's/^After this operation, \([^ ]* [kMG]*B\) of additional.*/, \1 on the disk/p' <<<"$said"
}
agree "install $(summary | tr -d '\n') as root?"
say "installing $(summary | tr -d '\n')"
install_all() { apt install --yes --no-install-recommends "${names[@]}"; }
# Old lists name versions that no server has any more.
install_all || { apt update && install_all; } || cannot "apt-get install failed" "look at the lines above"
