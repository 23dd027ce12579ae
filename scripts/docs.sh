#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the pages of the library in .build/docs, by the DocC of the toolchain; a warning is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh --check build
for module in Utter Downloads; do swift build -c release --target "$module"; done
products=$(swift build -c release --show-bin-path)
bin=$(dirname "$(readlink -f "$(command -v swift)")")
graphs=.build/docs-graphs
rm -rf "$graphs" .build/docs
mkdir -p "$graphs"

# What a program sees that imports Utter alone.
exported=$(sed -n 's/^@_exported public import //p' Sources/Utter/API/Exports.swift | paste -sd,)
maps=()
while read -r map; do maps+=(-I "$(dirname "$map")"); done < <(find Sources/C -name module.modulemap)
for map in "$products"/C*.build/module.modulemap; do
    case $map in */CVoice.build/*) maps+=(-Xcc "-fmodule-map-file=$map") ;; esac
done
target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')
# extract MODULE REEXPORTED
extract() {
    "$bin/swift-symbolgraph-extract" -module-name "$1" -minimum-access-level public -target "$target" \
        -I "$products/Modules" "${maps[@]}" -output-dir "$graphs" \
        -skip-inherited-docs -skip-synthesized-members \
        -experimental-allowed-reexported-modules="$2"
}
extract Utter "$exported"
extract Downloads ""
"$bin/docc" convert Sources/Utter/Utter.docc --additional-symbol-graph-dir "$graphs" \
    --output-dir .build/docs --warnings-as-errors \
    --fallback-display-name Utter --fallback-bundle-identifier utter
echo "the pages are in .build/docs: docc preview, or any web server, shows them"
