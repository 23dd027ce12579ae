#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds utter in a root of another system, runs the demo there, and the tests that need no more than
# libraries: system-check.sh [SYSTEM]
# This takes root, and some 30 minutes; the root is .build/systems/SYSTEM, and stays for the next time.
# The Swift toolchain and the sources of Swift packages are those of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/system-root.sh
. scripts/system-root.sh

system=${1:-trixie}
root=$PWD/.build/systems/$system
tests='^(AudioCoreTests|AudioCodecsTests|CaptureTests|SettingsTests|SpeechServiceTests|UploadTests)'
scripts/install-packages.sh system
bare_root "$root" "$system"
copy_sources "$root"
install_toolchain "$root"
inside "$root" 'cd /utter; make demo'
inside "$root" "cd /utter; make setup && scripts/test.sh --filter '$tests'"
