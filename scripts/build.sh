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

# What lies below Swift's runtime too: as shared libraries, that of C++ costs every start 0.7 ms,
# and gcc's 0.1. A folder with nothing but archives makes the linker take those.
flags=(-Xlinker "-L$PWD/.build/archives")
mkdir -p .build/archives
for archive in libstdc++.a libgcc_eh.a; do
    file=$("$(dirname "$(realpath "$(command -v swift)")")/clang" -print-file-name="$archive")
    # The linker knows the last of them by the name of the shared library.
    if [ -f "$file" ]; then ln -sf "$file" ".build/archives/${archive/gcc_eh/gcc_s}"; fi
done
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
