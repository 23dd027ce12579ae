#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds both programs for release. The Swift runtime is linked in: the programs then start in half
# the time and run on machines without the toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v swift >/dev/null || {
    echo "utter: error: there is no swift in PATH" >&2
    echo "utter: hint: install the Swift toolchain, 6.2 or later (swift.org/install)" >&2
    exit 1
}
scripts/install-packages.sh build

# The C++ runtime too, below Swift's: as a shared library it costs every start 0.7 ms. A folder
# with nothing but the archive makes the linker take that one.
flags=()
archive=$("$(dirname "$(realpath "$(command -v swift)")")/clang" -print-file-name=libstdc++.a || true)
if [ -f "$archive" ]; then
    mkdir -p .build/archives
    ln -sf "$archive" .build/archives/
    flags=(-Xlinker "-L$PWD/.build/archives")
fi
# LLVM's linker packs the 40,000 places where the program is adjusted to its address, which makes
# loading it 0.2 ms shorter (glibc 2.36 or later reads that). Nobody looks for symbols in a program,
# nor for libraries beside it.
if [ -x "$(dirname "$(realpath "$(command -v swift)")")/ld.lld" ]; then
    flags+=(-Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs)
fi
flags+=(-Xlinker --no-export-dynamic --disable-local-rpath)
for product in utter utter-endpoint; do
    swift build -c release --static-swift-stdlib "${flags[@]}" --product "$product"
done
# Where the program finds them here as after its installation: in ../lib/utter.
scripts/placeholders.sh "$(dirname "$(swift build -c release --show-bin-path)")/lib/utter"
