#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks the servers that tests start into .build/servers, as ordinary files: servers.sh [--check]
# Their packages come by apt-get in the versions that the package source offers. Nothing is installed,
# so that no service begins; that takes no root. --check only fails when one is missing.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

# Package, program in it, and what it is for. "a|b" is one program under the names of two releases.
servers='
nginx                usr/sbin/nginx                 TLS and HTTP/2 in front of a service, and files to fetch
apache2-bin          usr/sbin/apache2               a web server with files to fetch
tinyproxy-bin        usr/bin/tinyproxy              a proxy on the way to a service
alsa-utils           usr/bin/aplay                  plays takes and tones
systemd              usr/bin/systemd-socket-activate hands its socket to the daemon
nats-server          usr/sbin/nats-server           the queue of a fleet'

folder=$PWD/.build/servers
say() { printf 'utter: %s\n' "$*" >&2; }

[ "${UTTER_PACKAGES:-}" = skip ] && exit 0
missing=
while read -r package program _; do
    [ -z "$package" ] || [ -x "$folder/programs/${program##*/}" ] || missing+=" $package"
done <<<"$servers"
[ -n "$missing" ] || exit 0
if [ "${1:-}" = --check ]; then
    say "error: these servers are not unpacked:$missing"
    say "hint: unpack them with: scripts/servers.sh"
    exit 1
fi

# Everything is unpacked anew: programs and libraries fit together then.
work=$folder.new
rm -rf "$work"
mkdir -p "$work/packages" "$work/programs"
mapfile -t names < <(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' <<<"$servers")
# Fetches the versions that are offered, of what is named and of the libraries that this system lacks.
fetch() {
    local plan wanted name
    plan=$(apt-get --simulate --no-install-recommends install "${names[@]}" 2>/dev/null) || return
    wanted=$(sed -n 's/^Inst \([^ ]*\) .*(\([^ ]*\) .*/\1=\2/p' <<<"$plan")
    for name in "${names[@]}"; do
        grep -q "^$name=" <<<"$wanted" && continue
        wanted+=$'\n'$name=$(apt-cache policy "$name" | sed -n 's/^ *Candidate: //p')
    done
    say "unpacking $(wc -w <<<"$wanted") packages into .build/servers"
    # As root apt would become a user who may not write here.
    # shellcheck disable=SC2086 # Names and versions have no spaces.
    (cd "$work/packages" && apt-get -qq -o APT::Sandbox::User=root download $wanted >&2)
}
if ! fetch; then
    # Old lists name what no server has any more; to make them new takes root.
    if [ "$(id -u)" -ne 0 ] || ! apt-get -qq update || ! fetch; then
        say "error: the package source does not offer the packages of:$missing"
        say "hint: update the lists of packages: sudo apt-get update"
        exit 1
    fi
fi
for package in "$work"/packages/*.deb; do dpkg-deb --extract "$package" "$work"; done
rm -rf "$work/packages"

# A program finds the libraries of its own packages first.
libraries=$(cd "$work" && find -- * -name '*.so*' -printf '%h\n' | sort -u \
    | sed "s|^|$folder/|" | paste -sd :)
while read -r package program _; do
    [ -n "$package" ] || continue
    name=${program##*/}
    [ -x "$work/$program" ] || { say "error: $package has no $program" && exit 1; }
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$folder/$program" \
        >"$work/programs/$name"
    chmod +x "$work/programs/$name"
done <<<"$servers"
rm -rf "$folder"
mv "$work" "$folder"
