#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants bugs in a copy of the sources, one at a time, and demands that the tests notice each.
# planted-bugs.sh [NAME…]: all bugs, or those whose names begin like this.
# shellcheck disable=SC2016 # What looks like a variable of the shell is one of perl or Swift.
# The copy is .build-planted; only what the tests named below need is built there.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
copy=$root/.build-planted
export SWIFT_BACKTRACE=enable=no

mkdir -p "$copy"
cd "$copy" || exit 1

# The manifest without the endpoint, which takes minutes to build, and without the other tests;
# parts of both that stand alone are added.
awk '
    /^        \.(target|testTarget|executableTarget)\($/ { block = $0 "\n"; inside = 1; next }
    inside {
        block = block $0 "\n"
        if (name == "" && $0 ~ /^            name: "/) { split($0, parts, "\""); name = parts[2] }
        if ($0 ~ /swiftSettings: [a-z]+\),$/) {
            unwanted = name ~ /^(RecognitionEndpoint|UtterEndpointCLI|transcribe)$/
            if (name ~ /Tests$/ && name !~ /^(Fault|SpeechService)Tests$/) unwanted = 1
            if (!unwanted) printf "%s", block
            inside = 0
            name = ""
        }
        next
    }
    /utter-endpoint/ { next }
    { print }
    END {
        print "package.targets += ["
        print ".target(name: \"RecognitionEndpoint\", dependencies: [\"TakeStore\"],"
        print "    sources: [\"AnswerLedger.swift\", \"BodyIdentity.swift\", \"Recognition.swift\","
        print "        \"RecognisedWord.swift\"], swiftSettings: shipped),"
        print ".testTarget(name: \"LedgerTests\", dependencies: [\"RecognitionEndpoint\"],"
        print "    path: \"Tests/RecognitionEndpointTests\","
        print "    sources: [\"AnswerLedgerTests.swift\"], swiftSettings: settings),"
        print ".testTarget(name: \"CommandTests\", dependencies: [\"UtterCLI\","
        print "    \"UtterTerminal\", \"Utter\", \"TestSupport\"],"
        print "    sources: [\"Bench.swift\", \"BenchRun.swift\", \"FlushTests.swift\","
        print "        \"JSONText.swift\"], swiftSettings: settings),"
        print "]"
    }
' "$root/Package.swift" > Package.swift

restore() {
    # What has not changed keeps its time, so that it is not built again.
    for folder in Sources Tests samples; do
        mkdir -p "$folder"
        (cd "$root/$folder" && find . -type f -print0) | while IFS= read -r -d '' file; do
            cmp -s "$root/$folder/$file" "$folder/$file" && continue
            mkdir -p "$folder/$(dirname "$file")"
            cp "$root/$folder/$file" "$folder/$file"
        done
    done
}

# plant NAME TESTS FILE EXPRESSION: what perl does to the file, and the tests that must fail then.
caught=0
missed=0
plant() {
    local name=$1 tests=$2 file=$3 expression=$4 verdict
    if [ ${#wanted[@]} -gt 0 ]; then
        local chosen=0
        for want in "${wanted[@]}"; do [[ $name == "$want"* ]] && chosen=1; done
        [ $chosen = 1 ] || return 0
    fi
    restore
    perl -0pi -e "$expression" "Sources/$file"
    if cmp -s "$root/Sources/$file" "Sources/$file"; then
        verdict="NOT PLANTED: $file has changed"
    elif ! swift build --build-tests > build.log 2>&1; then
        verdict="NOT BUILT: $(grep -m 1 'error:' build.log)"
    elif swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width 4 \
        --filter "$tests" > test.log 2>&1; then
        verdict=MISSED
    elif grep -q 'recorded an issue' test.log; then
        verdict=caught
    else
        verdict="NOT RUN: $(tail -n 1 test.log)"
    fi
    if [ "$verdict" = caught ]; then caught=$((caught + 1)); else missed=$((missed + 1)); fi
    printf '%-34s %-40s %s\n' "$name" "$tests" "$verdict"
}

wanted=("$@")
restore
if ! swift build --build-tests > build.log 2>&1; then
    echo "utter: error: the sources do not build without a bug: $(grep -m 1 'error:' build.log)" >&2
    exit 1
fi
power=PowerCutTests
recovery=aKillAtEveryFileOperationOfARecovery
send=aKillAtEveryFileOperationOfASend
retry=aKillAtEveryFileOperationOfARetry

plant folder-not-synced "$power" LinuxPlatform/Folder.swift \
    's/(func sync\(\) throws\(SystemError\) \{\n).*?\n(    \})/$1$2/s'
plant new-folders-not-synced "$power" TakeStore/TakeStore.swift \
    's/try takes\.ancestors\(\)/[]/'
plant manifest-not-synced "$power" LinuxPlatform/Folder.swift \
    's/try retryingInterrupts\("fdatasync \\\(path\)\/\\\(temporary\)"\) \{ fdatasync\(file\.number\) \}//'
plant renamed-before-synced "$power" LinuxPlatform/Folder.swift \
    's/(            if isDurable \{\n[^\n]*fdatasync[^\n]*\n            \}\n)(            try giveName[^\n]*\n)/$2$1/'
plant journal-not-synced "$power" TakeStore/PlainFile.swift \
    's/try retryingInterrupts\("fdatasync"\) \{ fdatasync\(file\.number\) \}//'
plant sealed-before-durable "$power" Utter/TakeRecord.swift \
    's/if !journal\.isSettled \{ manifest\.forgetSeal\(\) \}//;
        s/sync\.perform \{ \[journal\] in journal\.finish\(\) \}//; s/var \(manifest, version\)/let (manifest, version)/'
plant failed-sync-trusted aFileWhoseSyncHasFailedIsNotAskedAgain Utter/TakeRecord.swift \
    's/\[journal\] in journal\.finish\(\)/[self] in try? folder.syncAudio(fileName: present.withLock { \$0.manifest.audio })/'
plant attempt-not-noted anAttemptBehindASlowDiskKeepsItsNumber Utter/TakeRecord.swift \
    's/try\? folder\.noteTransfers\(of: begun\)//'
plant short-write-swallowed FileErrorTests LinuxPlatform/Folder.swift \
    's/written \+= count\n/written = bytes.count + 0 * count\n/'
plant interrupt-not-retried aFailingFileOperationCostsNoSample LinuxPlatform/SystemError.swift \
    's/guard code == EINTR else/guard code == EINTR, false else/'
plant write-error-swallowed aFullDiskCostsNoSample TakeStore/PlainFile.swift \
    's/try (writeAll\(bytes, to: file\.number, at: offset\))/try? $1/'
plant recovery-cuts-too-much "$recovery" Utter/Recovery.swift \
    's/return \(intact\.byteCount, intact\.frames\)/return (max(0, intact.byteCount - 2), intact.frames)/'
plant recovery-keeps-half-frames "$recovery" AudioEncoding/IntactAudio.swift \
    's/\(seen - header\) \/ 2 \* 2/(seen - header)/'
plant recovery-does-not-cut "$recovery" Utter/Recovery.swift \
    's/try take\.cutAudio\(fileName: manifest\.audio, to: byteCount\)//'
plant recovery-deletes "$recovery" Utter/Recovery.swift \
    's/if frames == 0 && size \+ audio\.tornByteCount < headerLimit/if frames < 1 << 20/'
plant recovery-not-done "$send" Utter/Recovery.swift \
    's/guard try take\.lock\(\), store\.holds\(take\) else/guard try take.lock(), store.holds(take), false else/'
plant deleted-before-answered "$send|$retry" Utter/TakeRecord.swift \
    's/(func settle\([^\n]*\n)/$1        sync.perform { [self] in try? folder.removeAudio(fileName: present.withLock { \$0.manifest.audio }) }\n/'
plant transcript-not-kept "$send|$retry" Utter/TakeRecord.swift \
    's/manifest\.transcript = transcript\.text//'
plant resend-not-marked "$send" Utter/Pipeline.swift \
    's/attemptsBefore: manifest\.attempts/attemptsBefore: 0 * manifest.attempts/'
plant end-not-written-not-said aFailingFileOperationCostsNoSample Utter/UnwrittenTakes.swift \
    's/reasons\.withLock \{ \$0\[id\] = error\?\.description \}//'
plant memory-is-a-file aFileSizeLimitCostsNoSample TakeStore/Journal.swift \
    's/let memory = MemoryFile\(\)/let memory = PlainFile(OwnedDescriptor(taking: fileno(tmpfile())))/;
        s/internal import Synchronization/internal import Glibc\n$&/'
plant journal-not-synced-really RealPowerCutTests TakeStore/PlainFile.swift \
    's/try retryingInterrupts\("fdatasync"\) \{ fdatasync\(file\.number\) \}//'
plant folder-not-synced-really RealPowerCutTests LinuxPlatform/Folder.swift \
    's/(func sync\(\) throws\(SystemError\) \{\n).*?\n(    \})/$1$2/s'
plant lock-not-taken ofTwoThatSendATakeOneIsRefused LinuxPlatform/Folder.swift \
    's/guard flock\(descriptor\.number, LOCK_EX \| LOCK_NB\) != 0 else/guard false else/'
plant told-apart-by-id-alone AnswerLedgerTests RecognitionEndpoint/AnswerLedger.swift \
    's/case \.answered\(body, let recognition\)\?/case .answered(_, let recognition)?/'
plant refusals-sent-again StatusVerdictTests SpeechService/StatusVerdict.swift \
    's/case 408, 425, 429: \.retryable/case 408, 409, 422, 425, 429: .retryable/'
restore

echo "$caught caught, $missed not"
[ "$missed" = 0 ]
