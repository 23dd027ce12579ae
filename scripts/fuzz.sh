#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the readers of answers, playlists, audio files, frames and events with libFuzzer, which
# comes with the Swift toolchain. fuzz.sh [SECONDS]: a minute for each unless told otherwise. What it
# finds to be new is kept in .build-fuzz; an input that breaks a reader is named at the end, and belongs
# into the folder of its kind in Tests/Fuzz with the repair.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
build=.build-fuzz
flags=(-c release --scratch-path "$build" -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing)

scripts/install-packages.sh --check build
for module in SpeechService Downloads Upload; do swift build "${flags[@]}" --target "$module"; done
products=$(swift build "${flags[@]}" --show-bin-path)

# SwiftPM gives every program a main of its own, and so does libFuzzer: the last step is by hand.
mapfile -t objects < <(find "$products" -path '*.build/*' -name '*.o' ! -path '*-tool.build/*')
modules=(-I "$products/Modules")
for folder in Sources/C/*/; do modules+=(-I "$folder" -I "$folder/include"); done
export SWIFT_BACKTRACE=enable=no

# fuzz NAME: the target Tests/Fuzz/NAMEFuzz.swift, from the inputs in Tests/Fuzz/NAMEs or Tests/Fuzz/NAME
fuzz() {
    local inputs=Tests/Fuzz/$1 corpus=$build/corpus/$1
    swiftc -O -swift-version 6 -parse-as-library -sanitize=fuzzer -module-name "$1Fuzz" \
        "${modules[@]}" "Tests/Fuzz/$1Fuzz.swift" "${objects[@]}" \
        -lcurl -lz -lopus -logg -lFLAC -lsamplerate -lwebrtc_audio_processing -lcrypto -lstdc++ -o "$build/$1"
    [[ -d ${inputs}s ]] && inputs=${inputs}s
    mkdir -p "$corpus" "$build/found"
    if "$build/$1" -max_total_time="$seconds" -max_len="$2" -timeout=10 -rss_limit_mb=1024 \
        -artifact_prefix="$build/found/" -print_final_stats=1 "$corpus" "$inputs" >"$build/log" 2>&1
    then
        grep -E '^stat::(number|peak)' "$build/log"
        echo "utter: fuzzed $1 for $seconds s, and found nothing; new inputs are in $corpus"
    else
        grep -vE '^(#[0-9]|INFO|    #)' "$build/log" | cut -c1-400
        echo "utter: an input breaks a reader; repair it, and keep the input in $inputs" >&2
        exit 1
    fi
}

fuzz Answer 4096
fuzz Playlist 4096
fuzz Audio 16384
fuzz Socket 4096
