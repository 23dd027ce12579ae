#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes five Debian packages of the release build, in .build/deb: utter records and sends,
# utter-endpoint has a recogniser of this machine work for it, such as utter-ear, utter-keys watches
# keys outside of a terminal, and utter-work works on a store together with others.
# UTTER_BUILD names the folder of another build; UTTER_DEB_REVISION follows the version.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

version=$(sed -n 's/.*text = "\(.*\)"/\1/p' Sources/Upload/UtterVersion.swift)${UTTER_DEB_REVISION:-}
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-$(git config user.name)} <${DEBEMAIL:-$(git config user.email)}>"
# The last commit's, so that the same sources make the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
out=.build/deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

# Moves files of the package utter into another package: move PACKAGE PATH…
move() {
    local package=$1 path
    shift
    for path in "$@"; do
        mkdir -p "$work/debian/$package/$(dirname "$path")"
        mv "$work/debian/utter/$path" "$work/debian/$package/$path"
    done
}

# Makes the package of a folder: pack NAME PROGRAM, with more fields of its control file and its
# description on standard input. A line "Depends:" gets the libraries that the program needs.
pack() {
    local name=$1 root=$work/debian/$1 program=$2 documents package
    documents=$root/usr/share/doc/$name
    # Debian wants no section that nothing reads.
    strip --remove-section=.comment --remove-section=.note "$root/$program"
    install -D -m 644 packaging/copyright "$documents/copyright"
    gzip -9n >"$documents/changelog.gz" <<END
utter ($version) unstable; urgency=medium

  * What has changed is in CHANGELOG.md.gz of the package utter.

 -- $maintainer  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END
    find "$root/usr/share" -path '*/man/*' -type f -exec gzip -9n {} +

    # The libraries by their symbols, and the rest by what is said here.
    printf 'Source: utter\n\nPackage: %s\nArchitecture: any\n' "$name" >"$work/debian/control"
    depends=$(cd "$work" && dpkg-shlibdeps -O -e "debian/$name/$program" |
        sed -n 's/^shlibs:Depends=//p')
    mkdir -p "$root/DEBIAN"
    {
        printf '%s\n' "Package: $name" "Version: $version" "Architecture: $architecture" \
            "Maintainer: $maintainer" \
            "Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)" \
            "Section: sound" "Priority: optional"
        sed "/^Depends:/{s/^Depends: */&$depends, /; s/: */: /; s/, *$//}"
    } >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 |
        xargs -0r touch --no-dereference --date="@$SOURCE_DATE_EPOCH"
    package=$out/${name}_${version}_$architecture.deb
    dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
    if command -v lintian >/dev/null; then lintian --fail-on error "$package"; fi
    echo "made $package"
}

root=$work/debian/utter
mkdir -p "$root"
scripts/install.sh install "$root" /usr >/dev/null
# What only an installation by make needs: dpkg has lists of its own.
rm "$root/usr/share/utter/files" "$root/usr/share/utter/folders" "$root/usr/share/doc/utter/LICENSE"
mkdir -p "$root/usr/lib/systemd"
mv "$root/usr/share/systemd/user" "$root/usr/lib/systemd/user"
rmdir "$root/usr/share/systemd"
# Where zsh looks for those of packages.
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
# It is read by a shell, not run.
sed -i '1{/^#!/d}' "$root/usr/share/bash-completion/completions/utter"
gzip -9n <CHANGELOG.md >"$root/usr/share/doc/utter/CHANGELOG.md.gz"

move utter-endpoint usr/libexec/utter/utter-endpoint usr/share/man/man1/utter-{serve,demo}.1
move utter-ear usr/libexec/utter/utter-ear
move utter-keys usr/libexec/utter/utter-keys usr/share/man/man1/utter-keys.1 \
    usr/share/applications/org.utter.Utter.desktop
move utter-work usr/bin/utter-work usr/share/man/man1/utter-{work,fleet}.1
# The package utter has the command, and this one depends on it.
mkdir -p "$work/debian/utter-keys/usr/share/lintian/overrides"
echo "utter-keys: desktop-command-not-in-package *" >"$work/debian/utter-keys/usr/share/lintian/overrides/utter-keys"
rmdir "$root/usr/share/applications" "$root/usr/libexec/utter" "$root/usr/libexec"

rm -rf "$out"
mkdir -p "$out"
pack utter usr/bin/utter <<END
Depends:
Recommends: ca-certificates
Suggests: utter-endpoint (= $version), utter-keys (= $version), utter-work (= $version), ffmpeg, pipewire-bin | pulseaudio-utils | alsa-utils, wl-clipboard | xclip | xsel, wtype | xdotool | ydotool
Description: speak, and read the text
 Streams a voice to a speech-recognition service while it is still speaking,
 keeps every word on the disk until an answer has come back, and prints the
 transcript, copies it or types it.
 .
 Many services are known by name, and others are described by a file of a
 dozen lines.
END
pack utter-endpoint usr/libexec/utter/utter-endpoint <<END
Depends: utter (= $version)
Recommends: utter-ear (= $version)
Description: speech-recognition endpoint on this machine, for utter
 'utter serve' takes recordings over HTTP while they are spoken and has a
 program recognise them without a network, answers from recorded exchanges, or
 misbehaves as it is told to. 'utter demo' shows utter at work with it.
END
pack utter-ear usr/libexec/utter/utter-ear <<END
Depends: pocketsphinx-en-us
Enhances: utter-endpoint
Description: recogniser of US English for trials, for utter
 'utter demo' and 'utter serve' recognise with it where no other recogniser is
 installed or named: exactly with a grammar, and with many mistakes without.
END
pack utter-keys usr/libexec/utter/utter-keys <<END
Depends: utter (= $version)
Description: keys outside of a terminal, for utter
 'utter keys' begins and ends recordings by a key of the keyboard, whichever
 window has the focus: by a desktop's portal for shortcuts, or by the devices.
END
pack utter-work usr/bin/utter-work <<END
Depends: utter (= $version)
Recommends: ffmpeg
Suggests: nats-server
Description: worker of a fleet, for utter
 'utter fleet' transcribes what lies in an object store, on as many machines as
 there are: each recording gets one result, whichever machine dies meanwhile.
END
echo "install what you need with: sudo apt install ./$out/utter_*.deb"
