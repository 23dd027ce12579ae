#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the formatting, the layers and the scripts, and says all it has found.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
swift format lint --strict --parallel -r Sources Tests Package.swift || status=1
scripts/check-layers.sh || status=1
for script in scripts/*.sh scripts/git-hooks/* .ci/run; do
    bash -n "$script" || status=1
done
# The linter for scripts is a convenience of the machines that have it.
if command -v shellcheck >/dev/null; then
    shellcheck scripts/*.sh scripts/git-hooks/* .ci/run || status=1
fi
[ "$status" -eq 0 ] && echo "lint: clean"
exit "$status"
