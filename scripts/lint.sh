#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the formatting, the layers, the bars, the scripts, the index of decisions and the page of
# bounds, and says all it has found.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
swift format lint --strict --parallel -r Sources Tests Package.swift || status=1
scripts/check-layers.sh || status=1
scripts/bars.py || status=1
for script in scripts/*.sh scripts/git-hooks/* .ci/run; do
    bash -n "$script" || status=1
done
for file in docs/decisions/*.md; do
    name=${file##*/}
    [ "$name" = README.md ] && continue
    grep -qF "($name)" docs/decisions/README.md && continue
    echo "docs/decisions/README.md: does not list $name"
    status=1
done
# A page of bounds is as true as the constants that it names.
for bound in $(grep -oE '`[A-Z][A-Za-z]+\.[a-z][A-Za-z]+`' docs/bounds.md | tr -d '`' | sort -u); do
    found=$(grep -rlE "(struct|class|enum|actor|extension) ${bound%.*}\b" --include='*.swift' Sources |
        xargs -r grep -lE "\b(let|var) ${bound#*.}\b" || true)
    [ -n "$found" ] && continue
    echo "docs/bounds.md: names '$bound', which is not in Sources: name the constant that holds it"
    status=1
done
# The linter for scripts is a convenience of the machines that have it.
if command -v shellcheck >/dev/null; then
    shellcheck scripts/*.sh scripts/git-hooks/* .ci/run || status=1
fi
# So is the one for units; it wants to see the program that they name.
if command -v systemd-analyze >/dev/null; then
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    install -D /bin/true "$place/bin/utter"
    for unit in systemd/*; do sed "s|@PREFIX@|$place|" "$unit" >"$place/${unit##*/}"; done
    # It only warns, with success.
    findings=$(XDG_RUNTIME_DIR=$place systemd-analyze --user --man=no verify \
        "$place"/utter-flush.* "$place"/utter.s* "$place"/utter-recogniser.s* 2>&1) || status=1
    if [ -n "$findings" ]; then
        printf '%s\n' "$findings"
        status=1
    fi
fi
[ "$status" -eq 0 ] && echo "lint: clean"
exit "$status"
