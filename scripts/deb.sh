#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Debian package of the release build, in .build/deb: deb.sh
# UTTER_BUILD names the folder of another build.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

version=$(sed -n 's/.*text = "\(.*\)"/\1/p' Sources/Utter/API/UtterVersion.swift)
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-$(git config user.name)} <${DEBEMAIL:-$(git config user.email)}>"
# The last commit's, so that the same sources make the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
out=.build/deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/debian/utter

umask 022
mkdir -p "$root"
scripts/install.sh install "$root" /usr >/dev/null
# What only an installation by make needs: dpkg has lists of its own.
rm "$root/usr/share/utter/files" "$root/usr/share/utter/folders" "$root/usr/share/doc/utter/LICENSE"
mkdir -p "$root/usr/lib/systemd"
mv "$root/usr/share/systemd/user" "$root/usr/lib/systemd/user"
rmdir "$root/usr/share/systemd"
# Where zsh looks for those of packages.
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
# Debian wants no section that nothing reads.
strip --remove-section=.comment --remove-section=.note \
    "$root/usr/bin/utter" "$root/usr/libexec/utter/utter-endpoint" "$root/usr/libexec/utter/utter-keys"

documents=$root/usr/share/doc/utter
install -m 644 packaging/copyright "$documents/copyright"
gzip -9n <CHANGELOG.md >"$documents/CHANGELOG.md.gz"
gzip -9n >"$documents/changelog.gz" <<END
utter ($version) unstable; urgency=medium

  * What has changed is in CHANGELOG.md.gz.

 -- $maintainer  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END
# It is read by a shell, not run.
sed -i '1{/^#!/d}' "$root/usr/share/bash-completion/completions/utter"
find "$root/usr/share/man" -type f -exec gzip -9n {} +

# The libraries by their symbols, and what no program is linked to by name.
printf 'Source: utter\n\nPackage: utter\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O \
    -e debian/utter/usr/bin/utter -e debian/utter/usr/libexec/utter/utter-endpoint \
    -e debian/utter/usr/libexec/utter/utter-keys | sed -n 's/^shlibs:Depends=//p')

mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: utter
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)
Depends: $depends, pocketsphinx-en-us
Recommends: ca-certificates
Suggests: ffmpeg, pipewire-bin | pulseaudio-utils | alsa-utils, wl-clipboard | xclip | xsel, wtype | xdotool | ydotool
Section: sound
Priority: optional
Description: speak, and read the text
 Streams a voice to a speech-recognition service while it is still speaking,
 keeps every word on the disk until an answer has come back, and prints the
 transcript, copies it or types it.
 .
 Many services are known by name, and others are described by a file of a
 dozen lines. A recognition endpoint of its own is there for trying.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 \
    | xargs -0r touch --no-dereference --date="@$SOURCE_DATE_EPOCH"

mkdir -p "$out"
package=$out/utter_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
if command -v lintian >/dev/null; then lintian --fail-on error "$package"; fi
echo "made $package; install it with: sudo apt install ./$package"
