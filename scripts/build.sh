#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds programs for release, all of them or those given: build.sh [PROGRAM…]
# The Swift runtime is linked in, so that they run on machines without the toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v swift >/dev/null || {
    echo "utter: error: there is no swift in PATH" >&2
    echo "utter: hint: install the Swift toolchain, 6.2 or later (swift.org/install)" >&2
    exit 1
}
scripts/install-packages.sh --check build

# Without a path to libraries beside the program: there are none. What nothing calls is left out,
# and relocations are packed: the loader has less to read. Installed programs are stripped: no debug
# information is made.
flags=(-c release -debug-info-format none --static-swift-stdlib --disable-local-rpath -Xswiftc -Osize
    -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker --gc-sections -Xlinker --icf=safe
    -Xlinker -z -Xlinker pack-relative-relocs)
# The voice detector of Debian 12 and the runtime of C++, in which it is written, are linked in, too:
# otherwise the loader looks up thousands of their names at each start. SwiftPM finds the archives by a
# copy of the library's description; that of Debian 13 has no archive, and stays outside.
static=$PWD/.build/static
rm -rf "$static"
mkdir -p "$static"
clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang
for library in libwebrtc_audio_processing.a libstdc++.a; do
    ln -sf "$("$clang" -print-file-name="$library")" "$static/$library"
done
# shellcheck source=scripts/detector.sh
source scripts/detector.sh
if [ -e "$static/libwebrtc_audio_processing.a" ]; then
    describe_detector "$static" "$static"
else
    describe_detector "$static"
fi
# More libraries, for a program that other systems run.
for name in ${UTTER_STATIC:-}; do
    ln -sf "$("$clang" -print-file-name="lib$name.a")" "$static/"
    flags+=(-Xlinker "-L$static")
done
flags+=(--pkg-config-path "$static")
# Which voice detector there is may have changed since the manifest was read.
flags+=(--manifest-cache none)
# The endpoint first: what it needs alone compiles beside the modules that all of them have.
[ $# -gt 0 ] || set -- utter-endpoint utter-ear utter utter-keys utter-work utter-manual
if [ ! -x "$(swift build -c release --show-bin-path)/utter" ]; then
    echo "utter: building; the first time takes some 10 minutes on two processors" >&2
fi
for product; do
    swift build "${flags[@]}" --product "$product"
done
