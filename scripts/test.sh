#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs all tests: test.sh [build|core|address|thread] [options of swift test]
# 'core' leaves out the modules that start programs all the time. The last line is the runner's closing
# line; no test run at all is a failure, and so is a file that a test has left in the temporary folder.
# UTTER_STRICT=1 makes warnings and undeclared imports errors.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh --check test
scripts/servers.sh --check
export PATH="$PWD/.build/servers/programs:$PATH"

# A crash must end a test, not leave the backtrace program holding our pipes.
export SWIFT_BACKTRACE=enable=no

# Many tests wait in real time, so a few run side by side; all at once would starve each other.
options=(--disable-xctest --experimental-maximum-parallelization-width 6)
# shellcheck source=scripts/test-flags.sh
source scripts/test-flags.sh
flags=("${test_flags[@]}" --scratch-path .build-test)
log=.build-test/test.log

# They take most of the time, and so do a few tests of others: of every order, field, part or piece.
slow_modules='CommandTests|RecordingCommandTests|FaultTests|FleetTests|RecognitionEndpointTests'
slow_tests='everyOrderIsHandled|eachFieldOfAProfileIsRemembered|theStoreHasTheRecordingInTheEnd'
slow_tests+='|eachMemberThatAProgramSetsIsRemembered|noWordIsLostOrDoubled'
slow_tests+='|manyPiecesTakeTimeThatGrowsWithTheirNumber|aTakeThatWasCutIsSentOnceMoreByteForByte'
slow_tests+='|aFileAndAPipeHaveTheFramesThatTheProgramReads'

# With a sanitizer a program takes long to start: of faults that are alike, one has to do, and all
# waits are longer.
case "${1:-}" in address | thread) export UTTER_FEW_FAULTS=1 UTTER_PATIENCE=4 ;; esac

left_out=("tests that take minutes: make soak")
[ -z "${UTTER_FEW_FAULTS:-}" ] || left_out+=("faults that are like others: without UTTER_FEW_FAULTS")
[ -n "${UTTER_PEERS:-}" ] || left_out+=("tests with servers of other hands: make test-peers")
case "${1:-}" in
    core)
        shift
        left_out=("modules that start programs: make test SUITE='^($slow_modules)'"
            "tests that take long: make test SUITE='$slow_tests'")
        options+=(--skip "^($slow_modules)\\.|$slow_tests")
        ;;
    --filter) left_out+=("tests whose names have no '$2': make test") ;;
    address)
        shift
        LSAN_OPTIONS="suppressions=$PWD/scripts/lsan-suppressions print_suppressions=0"
        export LSAN_OPTIONS
        flags=("${test_flags[@]}" -Xswiftc -g --sanitize=address --scratch-path .build-asan)
        log=.build-asan/test.log
        ;;
    thread)
        shift
        mkdir -p .build-tsan
        # The sanitizer does not see the slow path of Synchronization.Mutex without this.
        "$(dirname "$(readlink -f "$(command -v swift)")")/clang" -O2 \
            -c scripts/tsan-mutex.c -o .build-tsan/tsan-mutex.o
        export TSAN_OPTIONS="halt_on_error=0:exitcode=66 ${TSAN_OPTIONS:-}"
        TSAN_OPTIONS+=" suppressions=$PWD/scripts/tsan-suppressions print_suppressions=0"
        # Races in debug builds hide in the standard library, which is not instrumented.
        unset UTTER_QUICK_BUILD
        flags=(-c release -Xswiftc -enable-testing --sanitize=thread --scratch-path .build-tsan
            -Xlinker "$PWD/.build-tsan/tsan-mutex.o")
        log=.build-tsan/test.log
        ;;
esac
if [ "${UTTER_STRICT:-}" = 1 ]; then
    flags+=(-Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error)
fi

swift build --build-tests "${flags[@]}"
[ "${1:-}" != build ] || exit 0

# What tests leave behind is seen here, and removed. Its path is short: sockets lie below it.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/utter.XXXXXX")
# Some tests are another user for a while.
chmod 755 "$TMPDIR"
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

status=0
swift test --skip-build "${flags[@]}" "${options[@]}" "$@" 2>&1 | tee "$log" || status=$?
# The package manager has its own files there.
leavings=$(find "$TMPDIR" -mindepth 1 -maxdepth 1 ! -name 'TemporaryDirectory.*' \
    ! -name '*.lock' ! -name 'swift-generated-sources' -printf '%f\n' | sort)
closing=$(grep -E 'Test run with [0-9]+ tests?' "$log" | tail -n 1 || true)
if [ "$status" -ne 0 ]; then
    # The end of the output shows what has failed, and why.
    echo "utter: what has failed:" >&2
    grep -E 'recorded an issue|Fatal error|unexpected signal' "$log" |
        tail -n 40 | cut -c 1-400 >&2 || true
    echo "utter: to repeat one alone:" >&2
    # Each section of Tests/Words can be repeated by itself.
    sed -nE 's/.*✘ Test theWordsAreThese\(.* script → (.*) at [A-Za-z]+\.swift:.*/    UTTER_WORDS="\1" make test SUITE=WordsTests/p
        t
        s/.*✘ Test "?([A-Za-z_0-9]+)\(.*recorded an issue.*/    make test SUITE=\1/p' "$log" |
        sort -u >&2
    echo "utter: error: swift test ended with status $status" >&2
elif ! grep -qE 'Test run with [1-9][0-9]* tests? .*passed' <<<"$closing"; then
    echo "utter: error: no test has run" >&2
    status=1
elif grep -q 'WARNING: ThreadSanitizer' "$log"; then
    echo "utter: error: the thread sanitizer has found something" >&2
    status=1
fi
if [ -n "$leavings" ]; then
    echo "utter: error: tests have left in the temporary folder:" >&2
    head -n 20 <<<"$leavings" >&2
    # The files in it tell which test it was.
    while read -r name; do find "$TMPDIR/$name" -mindepth 1; done <<<"$leavings" |
        head -n 40 >&2 || true
    status=1
fi
printf 'utter: left out: %s\n' "${left_out[@]}" >&2
[ -z "$closing" ] || printf '%s\n' "$closing"
exit "$status"
