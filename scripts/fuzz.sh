#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the decoders of answers with libFuzzer, which comes with the Swift toolchain.
# fuzz.sh [SECONDS]: for a minute unless told otherwise. What it finds to be new is kept in
# .build-fuzz/corpus; an input that breaks a decoder is named at the end, and belongs into
# Tests/Fuzz/Answers with the repair.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
build=.build-fuzz
flags=(-c release --scratch-path "$build" -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing)

scripts/install-packages.sh --check build
swift build "${flags[@]}" --target SpeechService
products=$(swift build "${flags[@]}" --show-bin-path)

# SwiftPM gives every program a main of its own, and so does libFuzzer: the last step is by hand.
mapfile -t objects < <(find "$products" -path '*.build/*' -name '*.o' ! -path '*-tool.build/*')
modules=(-I "$products/Modules")
for folder in Sources/C/*/; do modules+=(-I "$folder" -I "$folder/include"); done
swiftc -O -swift-version 6 -parse-as-library -sanitize=fuzzer -module-name AnswerFuzz \
    "${modules[@]}" Tests/Fuzz/AnswerFuzz.swift "${objects[@]}" \
    -lcurl -lz -lopus -logg -lFLAC -lsamplerate -lwebrtc_audio_processing -lcrypto -lstdc++ -o "$build/answer-fuzz"

mkdir -p "$build/corpus" "$build/found"
export SWIFT_BACKTRACE=enable=no
if "$build/answer-fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix="$build/found/" -print_final_stats=1 "$build/corpus" Tests/Fuzz/Answers \
    >"$build/log" 2>&1
then
    grep -E '^stat::(number|peak)' "$build/log"
    echo "utter: fuzzed the answers for $seconds s, and found nothing; new inputs are in $build/corpus"
else
    grep -vE '^(#[0-9]|INFO|    #)' "$build/log" | cut -c1-400
    echo "utter: an input breaks a decoder; repair it, and keep the input in Tests/Fuzz/Answers" >&2
    exit 1
fi
