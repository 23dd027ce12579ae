#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files of a release in .build/release: release.sh [SYSTEM…]
#     SYSTEM/              Debian packages, built in a root of that system, in a folder for apt
#     utter-VERSION.tar.gz the program alone, built in the first system and run in all of them
#     SHA256SUMS, NOTES.md
# Each package is installed by apt in a bare root, where its demo runs. The systems are bookworm and
# trixie unless said. This takes root, and some ten minutes for each system. The commit has the tag of its
# version; DRAFT=1 makes the files without one. KEY=ID signs the folders with a key of gpg.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
# shellcheck source=scripts/system-root.sh
. scripts/system-root.sh

cannot() {
    printf 'utter: error: %s\nutter: hint: %s\n' "$1" "$2" >&2
    exit 1
}

[ $# -gt 0 ] || set -- bookworm trixie
version=$(sed -n 's/.*text = "\(.*\)"/\1/p' Sources/Upload/UtterVersion.swift)
notes=$(awk -v head="## [$version]" 'index($0, "## [") == 1 { on = index($0, head) == 1; next } on' CHANGELOG.md)
[ -n "$notes" ] || cannot "CHANGELOG.md says nothing of $version" "add '## [$version] - DATE' and what has changed"
if [ -z "${DRAFT:-}" ]; then
    git tag --points-at HEAD | grep -Fx "v$version" >/dev/null ||
        cannot "this commit has no tag v$version" "git tag v$version, or DRAFT=1 make release"
    [ -z "$(git status --porcelain)" ] || cannot "there are changes that no commit has" "commit them"
fi
scripts/install-packages.sh release

out=.build/release
rm -rf "$out"
mkdir -p "$out"
epoch=$(git log -1 --format=%ct)
identity=("DEBFULLNAME=${DEBFULLNAME:-$(git config user.name)}"
    "DEBEMAIL=${DEBEMAIL:-$(git config user.email)}" "SOURCE_DATE_EPOCH=$epoch")

# Makes the folder that apt reads: of packages of one system, signed if there is a key.
index() {
    (
        cd "$1"
        apt-ftparchive packages . >Packages
        gzip -9nk Packages
        apt-ftparchive -o APT::FTPArchive::Release::Origin=utter \
            -o APT::FTPArchive::Release::Suite="${1##*/}" release . >../Release.part
        mv ../Release.part Release
        [ -z "${KEY:-}" ] || gpg --batch --yes --local-user "$KEY" --clearsign --output InRelease Release
    )
}

alone=utter-$version-linux-$(dpkg --print-architecture)
for system; do
    root=$PWD/.build/systems/$system
    bare_root "$root" "$system"
    copy_sources "$root"
    install_toolchain "$root"
    inside "$root" 'cd /utter; scripts/install-packages.sh deb; make deb' \
        "${identity[@]}" "UTTER_DEB_REVISION=~$system"
    mkdir "$out/$system"
    cp "$root"/utter/.build/deb/*.deb "$out/$system"
    index "$out/$system"
    if [ "$system" = "$1" ]; then
        # libFLAC is the one library whose name differs from system to system.
        inside "$root" "cd /utter; UTTER_STATIC=FLAC scripts/build.sh utter; rm -rf .build/alone
            dpkg-deb -x .build/deb/utter_*.deb .build/alone; mv .build/alone/usr .build/alone/$alone
            install .build/$(uname -m)-unknown-linux-gnu/release/utter .build/alone/$alone/bin/utter
            strip .build/alone/$alone/bin/utter; cp LICENSE .build/alone/$alone
            tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$epoch -C .build/alone \\
                -cf - $alone | gzip -9n >.build/$alone.tar.gz"
        cp "$root/utter/.build/$alone.tar.gz" "$out"
    fi

    # A machine that has neither toolchain nor headers.
    bare=$PWD/.build/systems/bare-$system
    rm -rf "$bare"
    bare_root "$bare" "$system"
    cp -r "$out/$system" "$bare/release"
    cp "$out/$alone.tar.gz" "$bare"
    echo 'deb [trusted=yes] file:/release ./' >"$bare/etc/apt/sources.list.d/utter.list"
    inside "$bare" "apt-get -qq update; apt-get -qq install --yes --no-install-recommends utter >/dev/null
        tar -xf /$alone.tar.gz
        test \"\$(utter --version)\" = \"\$(/$alone/bin/utter --version)\"
        apt-get -qq install --yes --no-install-recommends utter-endpoint utter-ear utter-keys utter-work >/dev/null
        utter demo; utter-work --version
        utter serve --port 8765 2>/serve.log & trap 'kill \$!' EXIT
        for _ in \$(seq 300); do if grep 8765 /serve.log; then break; fi; sleep 0.1; done
        /$alone/bin/utter send --to http://127.0.0.1:8765/recognize /usr/share/utter/go-forward.wav"
    rm -rf "$bare"
done
printf '%s\n' "$notes" >"$out/NOTES.md"
(cd "$out" && find . -name '*.deb' -o -name '*.tar.gz' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
echo "made $out"
