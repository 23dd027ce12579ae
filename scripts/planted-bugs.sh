#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants each bug of Tests/PlantedBugs in a copy of the sources, one at a time, and demands that the
# tests notice: planted-bugs.sh [NAME…] takes all bugs, or those whose names begin like this.
# A bug is a patch. Its first line names the tests that must fail, as 'swift test --filter' knows
# them: "Tests: TARGET.SUITE/TEST …". Without the bug they must run, and pass.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
copy=$root/.build-planted
# The copy lies in the repository, and 'git apply' must not know.
export GIT_CEILING_DIRECTORIES=$root SWIFT_BACKTRACE=enable=no LC_ALL=C.UTF-8

fail() {
    echo "utter: error: $1" >&2
    exit 1
}

# What has not changed keeps its time, so that it is not built again.
copy_sources() {
    mkdir -p "$copy"/{Sources,Tests,samples}
    (cd "$copy" && find Sources Tests samples -type f) | while IFS= read -r file; do
        [ -e "$root/$file" ] || rm "$copy/$file"
    done
    find Sources Tests samples -type f | while IFS= read -r file; do
        cmp -s "$file" "$copy/$file" || install -D -m 644 "$file" "$copy/$file"
    done
}

# The manifest with one target of tests, and what that needs.
manifest_for() { sed "s/TARGET/$1/" Package.swift Tests/PlantedBugs/manifest.swift; }

filter_of() { sed -n '1s/^Tests: //p' "$1"; }
build() { (cd "$copy" && swift build --build-tests) >"$copy/build.log" 2>&1; }
run_tests() {
    (cd "$copy" && swift test --skip-build --disable-xctest \
        --experimental-maximum-parallelization-width 4 --filter "${1// /|}") >"$copy/test.log" 2>&1
}

# What the tests say to a bug: which have caught it, or in capitals why none has.
verdict() {
    if ! (cd "$copy" && git apply --whitespace=nowarn "$root/$1" 2>apply.log); then
        echo "NOT PLANTED: the patch does not apply: $(head -n 1 "$copy/apply.log")"
        return
    fi
    if ! build; then
        echo "NOT BUILT: $(grep -m 1 'error:' "$copy/build.log")"
    elif run_tests "$(filter_of "$1")"; then
        echo MISSED
    elif ! grep -q 'recorded an issue' "$copy/test.log"; then
        echo "NOT RUN: $(tail -n 1 "$copy/test.log")"
    else
        sed -nE 's/.* Test ([A-Za-z]+)\(.* failed after .*/\1/p' "$copy/test.log" | sort -u | xargs
    fi
    (cd "$copy" && git apply --whitespace=nowarn -R "$root/$1")
}

bugs=()
for patch in Tests/PlantedBugs/*.patch; do
    [ $# -eq 0 ] && bugs+=("$patch")
    for want in "$@"; do [[ $(basename "$patch") == "$want"* ]] && bugs+=("$patch"); done
    [ -n "$(filter_of "$patch")" ] || fail "$patch does not begin with 'Tests: '"
done
[ ${#bugs[@]} -gt 0 ] || fail "no bug has a name that begins with $*"

copy_sources
missed=0
mapfile -t targets < <(for bug in "${bugs[@]}"; do filter_of "$bug"; done | cut -d . -f 1 | sort -u)
for target in "${targets[@]}"; do
    mapfile -t own < <(for bug in "${bugs[@]}"; do grep -l "^Tests: $target\." "$bug"; done)
    manifest_for "$target" >"$copy/Package.swift"
    build || fail "without a bug: $(grep -m 1 'error:' "$copy/build.log")"
    for bug in "${own[@]}"; do filter_of "$bug"; done | tr ' ' '\n' | sort -u >"$copy/named"
    run_tests "$(xargs <"$copy/named")" || fail "without a bug: $(grep -m 1 ' failed after ' "$copy/test.log")"
    for name in $(sed 's/.*[./]//' "$copy/named"); do
        grep -qE " (Test|Suite) $name.* passed after " "$copy/test.log" || fail "$name is not run here"
    done
    for bug in "${own[@]}"; do
        found=$(verdict "$bug")
        [[ $found =~ ^[A-Z] ]] && missed=$((missed + 1))
        printf '%-34s %s\n' "$(basename "$bug" .patch)" "$found"
    done
done
echo "$((${#bugs[@]} - missed)) caught, $missed not"
[ "$missed" = 0 ]
