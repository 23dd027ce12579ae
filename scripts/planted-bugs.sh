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

tests_of() { sed -n '1s/^Tests: //p' "$1"; }
patch_copy() { (cd "$copy" && git apply --whitespace=nowarn "$@") >"$copy/apply.log" 2>&1; }
build() { (cd "$copy" && swift build --build-tests) >"$copy/build.log" 2>&1; }
run_tests() {
    (cd "$copy" && swift test --skip-build --disable-xctest \
        --experimental-maximum-parallelization-width 4 --filter "${1// /|}") >"$copy/test.log" 2>&1
}

# What the tests say to a bug: which have caught it, or in capitals why none has.
verdict() {
    if ! patch_copy "$root/$1"; then
        echo "NOT PLANTED, the sources have changed: $(head -n 1 "$copy/apply.log")"
        return
    fi
    if ! build; then
        echo "NOT BUILT: $(grep -m 1 'error:' "$copy/build.log")"
    elif run_tests "$(tests_of "$1")"; then
        echo MISSED
    else
        found=$(sed -nE 's/.* Test ([A-Za-z]+)\(.* recorded an issue.*/\1/p' "$copy/test.log" | sort -u)
        echo "${found:-NOT RUN: $(tail -n 1 "$copy/test.log")}" | xargs -d '\n'
    fi
    patch_copy -R "$root/$1"
}

mapfile -t bugs < <(for name in "${@:-}"; do ls Tests/PlantedBugs/"$name"*.patch; done)
[ ${#bugs[@]} -gt 0 ] || fail "no bug has a name that begins with $*"
for bug in "${bugs[@]}"; do
    [ -n "$(tests_of "$bug")" ] || fail "$bug does not begin with 'Tests: '"
done
copy_sources
missed=0
for target in $(for bug in "${bugs[@]}"; do tests_of "$bug"; done | cut -d . -f 1 | sort -u); do
    mapfile -t own < <(grep -l "^Tests: $target\." "${bugs[@]}")
    # The manifest with one target of tests, and what that needs.
    sed "s/TARGET/$target/" Package.swift Tests/PlantedBugs/manifest.swift >"$copy/Package.swift"
    build || fail "without a bug: $(grep -m 1 'error:' "$copy/build.log")"
    named=$(for bug in "${own[@]}"; do tests_of "$bug"; done | tr ' ' '\n' | sort -u | xargs)
    run_tests "$named" || fail "without a bug: $(grep -m 1 ' failed after ' "$copy/test.log")"
    for name in $named; do
        grep -qE " (Test|Suite) ${name##*[./]}.* passed after " "$copy/test.log" ||
            fail "$name is not run here"
    done
    for bug in "${own[@]}"; do
        found=$(verdict "$bug")
        [[ $found =~ ^[A-Z] ]] && missed=$((missed + 1))
        printf '%-30s %s\n' "$(basename "$bug" .patch)" "$found"
    done
done
echo "$((${#bugs[@]} - missed)) caught, $missed not"
[ "$missed" = 0 ]
