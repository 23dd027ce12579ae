#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests on a busy machine, again and again: busy-tests.sh [RUNS] [arguments of test.sh]
# Eight loops that do nothing compete for the processors. Says which tests failed, and how often.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

runs=${1:-10}
shift || true
mkdir -p .build-test
logs=$(mktemp -d .build-test/busy.XXXXXX)

# What has to be built is built in peace.
scripts/test.sh build >"$logs/build.log" 2>&1 || {
    grep -m 1 'error:' "$logs/build.log" >&2
    exit 1
}
loops=()
trap '[ ${#loops[@]} -eq 0 ] || kill "${loops[@]}"' EXIT
for _ in 1 2 3 4 5 6 7 8; do
    sh -c 'while :; do :; done' &
    loops+=($!)
done

failed=0
for run in $(seq "$runs"); do
    scripts/test.sh "$@" >"$logs/$run.log" 2>&1 || failed=$((failed + 1))
    echo "run $run: $(tail -n 1 "$logs/$run.log")"
done
grep -hoE 'Test [A-Za-z0-9]+\(.* recorded an issue.*' "$logs"/*.log |
    sed -E 's/^Test ([A-Za-z0-9]+).*/\1/' | sort | uniq -c | sort -rn
echo "$((runs - failed)) of $runs runs passed; the logs are in $logs"
[ "$failed" -eq 0 ]
