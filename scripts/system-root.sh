# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced in the folder of the project: roots of other systems, below .build/systems.
# A system is a release of Debian, or of Ubuntu with MIRROR=URL and KEYRING=FILE, which has the keys of its
# signatures.

toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")
[ "$(id -u)" -eq 0 ] || {
    echo "utter: error: making a root takes root" >&2
    echo "utter: hint: sudo make $(basename "$0" .sh)" >&2
    exit 1
}

# Makes a root with nothing but the system's own packages: bare_root FOLDER SYSTEM
bare_root() {
    local mirror pristine=.build/systems/$2.tar
    [ ! -e "$1/etc/apt/sources.list" ] || return 0
    mkdir -p "$1"
    if [ -e "$pristine" ]; then
        tar -C "$1" -xf "$pristine"
        return
    fi
    # The package source of this machine has the other releases, too.
    mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
    # All releases of Ubuntu are made like this old one; a newer name may be unknown here.
    debootstrap --variant=minbase --components=main,universe ${KEYRING:+"--keyring=$KEYRING"} \
        "$2" "$1" "$mirror" ${MIRROR:+gutsy}
    tar --one-file-system -C "$1" -cf "$pristine.part" .
    mv "$pristine.part" "$pristine"
}

# Puts the project's files, and the sources of its Swift packages, into /utter of a root.
copy_sources() {
    local scratch
    swift package --scratch-path .build/systems/packages resolve
    mkdir -p "$1/utter/.build" "$1/utter/.build-test"
    # What has gone since the last time would be built, too.
    find "$1/utter" -mindepth 1 -maxdepth 1 ! -name '.build*' -exec rm -rf {} +
    git ls-files -z --cached --others --exclude-standard |
        xargs -0 cp --parents --preserve=timestamps -t "$1/utter"
    cp Package.resolved "$1/utter/"
    for scratch in .build .build-test; do
        cp -a .build/systems/packages/. "$1/utter/$scratch/"
    done
}

# Runs a command in a root, with this machine's toolchain: inside ROOT COMMAND [NAME=VALUE…]
# What is mounted goes with the last process inside.
inside() {
    local root=$1 command=$2
    shift 2
    mkdir -p "$root$toolchain"
    # shellcheck disable=SC2016 # The shell inside expands them.
    unshare --mount --propagation private bash -c '
        mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" \
            && mount --bind "$1" "$0$1" && shift && exec chroot "$0" "$@"' \
        "$root" "$toolchain" /usr/bin/env -i HOME=/root LANG=C.UTF-8 YES=1 "$@" \
        DEBIAN_FRONTEND=noninteractive PATH="$toolchain/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        bash -euo pipefail -c "$command"
}

# Installs the libraries and tools that the toolchain calls, which was built for another release.
install_toolchain() {
    inside "$1" 'apt-get -qq update; apt-get -qq install --yes --no-install-recommends make git g++ \
        binutils libcurl4 libedit2 libncurses6 libsqlite3-0 libxml2 tzdata >/dev/null'
}
