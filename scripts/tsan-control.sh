#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Proves that the orderings of the ring are right, and that the thread sanitizer would see it
# if they were not: builds two copies of the ring and runs its test with two threads on each.
# Of the true one nothing may be reported; of the one whose release store is weakened, a race.
#
# Copies, because both move their bytes one by one: the sanitizer of Swift 6.3 does not see
# what memmove writes, so that the ring itself passes with any ordering. Release builds,
# because in debug builds the accesses run in the standard library, which it does not see.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ring=Sources/AudioCore/Ring/ByteRing.swift

fail() {
    echo "tsan-control: $1" >&2
    exit 1
}

# The number of races that the sanitizer reports of the ring in $work.
races() {
    flags="--package-path $work -c release -Xswiftc -enable-testing --sanitize=thread"
    # shellcheck disable=SC2086
    swift build $flags --build-tests >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        fail "the copy of the ring cannot be built"
    }
    # Fails when a race is found.
    # shellcheck disable=SC2086
    swift test $flags --skip-build --filter everyByteArrives >"$work/log" 2>&1 || true
    grep -q 'Test run with 1 test' "$work/log" || {
        cat "$work/log" >&2
        fail "the test of the ring did not run"
    }
    grep -c 'WARNING: ThreadSanitizer: data race' "$work/log" || true
}

# Changes the copy of the ring, which must still be what this script knows.
change() {
    sed "$1" "$work/$ring" >"$work/changed"
    if cmp -s "$work/$ring" "$work/changed"; then fail "not found in $ring: $1"; fi
    cp "$work/changed" "$work/$ring"
}

mkdir -p "$work/Sources/AudioCore" "$work/Tests/AudioCoreTests"
cp "$root/Tests/AudioCoreTests/ByteRingTests.swift" "$work/Tests/AudioCoreTests/"
cp "$root/$ring" "$work/$ring"
cat >"$work/Package.swift" <<'PACKAGE'
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "control",
    targets: [
        .target(name: "AudioCore"),
        .testTarget(name: "AudioCoreTests", dependencies: ["AudioCore"]),
    ])
PACKAGE

change 's/unsafe (ring.storage + position).update(from: base, count: first)/for place in 0..<first { ring.storage[position + place] = base[place] }/'
change 's/unsafe ring.storage.update(from: base + first, count: source.count - first)/for place in first..<source.count { ring.storage[place - first] = base[place] }/'
count=$(races)
[ "$count" = 0 ] || {
    cat "$work/log" >&2
    fail "a race in the ring"
}

# Producer.write publishes the bytes with this store.
change 's/\(ring.written.value.store(start + bytes.count, ordering: \).releasing/\1.relaxed/'
count=$(races)
[ "$count" != 0 ] || fail "the weakened ring was not reported: the sanitizer is blind"
echo "tsan-control: nothing reported of the ring, and the weakened one is ($count reports)"
