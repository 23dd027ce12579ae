#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds utter in a root of another release, runs the demo there, and the tests that need no more than
# libraries: system-check.sh [SYSTEM]
# SYSTEM is a release of Debian, or of Ubuntu with MIRROR=URL and KEYRING=FILE, which has the keys of its
# signatures. This takes root, and some 30 minutes; the root is .build/systems/SYSTEM, and stays for the
# next time. The Swift toolchain and the sources of Swift packages are those of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

system=${1:-trixie}
root=$PWD/.build/systems/$system
tests='^(AudioCoreTests|AudioCodecsTests|CaptureTests|SettingsTests|SpeechServiceTests|UploadTests)'
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
[ "$(id -u)" -eq 0 ] || {
    echo "utter: error: making a root takes root" >&2
    echo "utter: hint: sudo make system-check SYSTEM=$system" >&2
    exit 1
}
scripts/install-packages.sh system

if [ ! -e "$root/etc/apt/sources.list" ]; then
    # The package source of this machine has the other releases, too.
    mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
    mkdir -p "$root"
    # All releases of Ubuntu are made like this old one; a newer name may be unknown here.
    debootstrap --variant=minbase --components=main,universe ${KEYRING:+"--keyring=$KEYRING"} \
        "$system" "$root" "$mirror" ${MIRROR:+gutsy}
fi
swift package --scratch-path .build/systems/packages resolve
mkdir -p "$root/utter/.build" "$root/utter/.build-test" "$root$toolchain"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --preserve=timestamps -t "$root/utter"
cp Package.resolved "$root/utter/"
for scratch in .build .build-test; do
    cp -a .build/systems/packages/. "$root/utter/$scratch/"
done

# What is mounted goes with the last process inside.
inside() {
    # shellcheck disable=SC2016 # The shell inside expands them.
    unshare --mount --propagation private bash -c '
        mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" \
            && mount --bind "$1" "$0$1" && shift && exec chroot "$0" "$@"' \
        "$root" "$toolchain" /usr/bin/env -i HOME=/root LANG=C.UTF-8 YES=1 \
        PATH="$toolchain/bin:/usr/sbin:/usr/bin:/sbin:/bin" bash -euo pipefail -c "cd /utter; $1"
}
# The toolchain was built for another release: these are the libraries and tools that it calls.
inside 'export DEBIAN_FRONTEND=noninteractive; apt-get -qq update; apt-get -qq install --yes \
    --no-install-recommends make git g++ binutils libcurl4 libedit2 libncurses6 libsqlite3-0 libxml2 tzdata >/dev/null'
inside 'make demo'
inside "make setup && scripts/test.sh --filter '$tests'"
