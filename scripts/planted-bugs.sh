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
export SWIFT_BACKTRACE=enable=no LC_ALL=C.UTF-8

mkdir -p "$copy"
cd "$copy" || exit 1

# The manifest without the endpoint, which takes minutes to build, and without the other tests;
# parts of both that stand alone are added.
manifest() {
    awk '
        /^        \.(target|testTarget|executableTarget)\($/ { block = $0 "\n"; inside = 1; next }
        inside {
            block = block $0 "\n"
            if (name == "" && $0 ~ /^            name: "/) { split($0, parts, "\""); name = parts[2] }
            if ($0 ~ /(swift|linker)Settings: .*\),$/) {
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
    ' "$root/Package.swift"
    cat << 'END'
package.targets += [
    .target(
        name: "RecognitionEndpoint", dependencies: ["TakeStore"],
        sources: [
            "AnswerLedger.swift", "BodyIdentity.swift", "Recognition.swift", "RecognisedWord.swift",
        ], swiftSettings: shipped),
    .testTarget(
        name: "LedgerTests", dependencies: ["RecognitionEndpoint"],
        path: "Tests/RecognitionEndpointTests", sources: ["AnswerLedgerTests.swift"],
        swiftSettings: settings),
    .testTarget(
        name: "CommandTests", dependencies: ["UtterCLI", "UtterTerminal", "Utter", "TestSupport"],
        sources: ["Bench.swift", "BenchRun.swift", "FlushTests.swift", "JSONText.swift"],
        swiftSettings: settings),
]
END
}

# What has not changed keeps its time, so that it is not built again.
copy_sources() {
    manifest > Package.swift
    mkdir -p Sources Tests samples
    find Sources Tests samples -type f | while IFS= read -r file; do
        [ -e "$root/$file" ] || rm "$file"
    done
    (cd "$root" && find Sources Tests samples -type f) | while IFS= read -r file; do
        cmp -s "$root/$file" "$file" || install -D -m 644 "$root/$file" "$file"
    done
}

build() { swift build --build-tests > build.log 2>&1; }

# run_tests FILTER
run_tests() {
    swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width 4 \
        --filter "$1" > test.log 2>&1
}

fail() {
    echo "utter: error: $1" >&2
    exit 1
}

# plant NAME TESTS FILE EXPRESSION: what perl does to the file, and the tests that must fail then.
wanted=("$@")
names=()
declare -A tests files expressions
plant() {
    local want chosen=$((${#wanted[@]} == 0))
    for want in "${wanted[@]}"; do [[ $1 == "$want"* ]] && chosen=1; done
    [ $chosen = 1 ] || return 0
    names+=("$1")
    tests[$1]=$2
    files[$1]=Sources/$3
    expressions[$1]=$4
}

# What the tests say to a bug: which has caught it, or in capitals why none has.
verdict() {
    local file=${files[$1]}
    perl -0pi -e "${expressions[$1]}" "$file"
    if cmp -s "$root/$file" "$file"; then
        echo "NOT PLANTED: $file has changed"
    elif ! build; then
        echo "NOT BUILT: $(grep -m 1 'error:' build.log)"
    elif run_tests "${tests[$1]}"; then
        echo MISSED
    elif ! grep -q 'recorded an issue' test.log; then
        echo "NOT RUN: $(tail -n 1 test.log)"
    else
        sed -nE 's/.* Test ([A-Za-z]+)\(.* failed after .*/\1/p' test.log | sort -u | paste -sd ' '
    fi
}

power=whatWasDurableIsThereWheneverThePowerFails
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
    's/( +if isDurable \{\n[^\n]*fdatasync[^\n]*\n +\}\n)([^\n]*giveName[^\n]*\n)/$2$1/'
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
    's/guard code == EINTR, /guard code == EINTR, false, /'
plant interrupt-retried-for-ever aCallThatIsInterruptedForEverFailsAsAnyOther \
    LinuxPlatform/SystemError.swift 's/interruptLimit = 100/interruptLimit = 20_000/'
plant write-error-swallowed aFullDiskCostsNoSample TakeStore/PlainFile.swift \
    's/try (writeAll\(bytes, to: file\.number, at: offset\))/try? $1/'
plant recovery-cuts-too-much "$recovery" Utter/Recovery.swift \
    's/return \(intact\.byteCount, intact/return (max(0, intact.byteCount - 2), intact/'
plant recovery-keeps-half-frames "$recovery" AudioEncoding/IntactAudio.swift \
    's/\(seen - header\) \/ 2 \* 2/(seen - header)/'
plant recovery-does-not-cut "$recovery" Utter/Recovery.swift \
    's/try take\.cutAudio\(fileName: manifest\.audio, to: whole\.byteCount\)//'
plant recovery-deletes "$recovery" Utter/Recovery.swift \
    's/(guard try complete\([^\n]*\)) else/$1, manifest.frames ?? 0 >= 1 << 20 else/;
        s/guard size < headerLimit else/guard size >= 0 else/'
plant header-not-built-anew "$power" Utter/Recovery.swift \
    's/if let beginning = whole\.beginning/if false, $&/; s/false, if let/false, let/'
plant zeros-believed RealPowerCutTests Utter/Recovery.swift \
    's/let dropsEmptyTail = [^\n]*/let dropsEmptyTail = false/'
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
plant pipe-read-ahead ofAPipeAKillCostsThePeriodInHand AudioCapture/CaptureStage.swift \
    's/guard source.isStored else \{ return output.awaitDrain\(\) \}//'
plant lock-not-taken ofTwoThatSendATakeOneIsRefused LinuxPlatform/Folder+Lock.swift \
    's/guard flock\(descriptor\.number, LOCK_EX \| LOCK_NB\) != 0 else/guard false else/'
plant told-apart-by-id-alone AnswerLedgerTests RecognitionEndpoint/AnswerLedger.swift \
    's/case \.answered\(body, let recognition\)\?/case .answered(_, let recognition)?/'
plant refusals-sent-again everyStatusHasItsVerdict SpeechService/StatusVerdict.swift \
    's/case 408, 425, 429: \.retryable/case 408, 409, 422, 425, 429: .retryable/'

[ ${#names[@]} -gt 0 ] || fail "no bug has a name that begins with ${wanted[*]}"
copy_sources
build || fail "the sources do not build without a bug: $(grep -m 1 'error:' build.log)"

# A test that fails anyway, or is skipped here, would prove nothing.
mapfile -t named < <(printf '%s\n' "${tests[@]}" | tr '|' '\n' | sort -u)
run_tests "$(IFS='|'; echo "${named[*]}")" ||
    fail "without a bug: $(grep -E ' Test .* failed after ' test.log | head -n 3)"
for name in "${named[@]}"; do
    grep -qE " (Test|Suite) $name.* passed after " test.log || fail "$name is not run here"
done
echo "without a bug: $(tail -n 1 test.log)"

table=$(printf '%-30s %s' bug 'caught by')
missed=0
for name in "${names[@]}"; do
    verdict=$(verdict "$name")
    cp "$root/${files[$name]}" "${files[$name]}"
    [[ $verdict =~ ^[A-Z] ]] && missed=$((missed + 1))
    table+=$(printf '\n%-30s %s' "$name" "$verdict")
    echo "$name: $verdict"
done

printf '\n%s\n\n%s caught, %s not\n' "$table" $((${#names[@]} - missed)) "$missed"
[ "$missed" = 0 ]
