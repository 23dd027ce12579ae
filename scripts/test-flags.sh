# SPDX-License-Identifier: Apache-2.0
# How tests are built, for scripts that source this: as a release, but the large modules and the tests
# are not optimised, so that a change of them is compiled in a third of the time (Package.swift).
# The configuration is not 'debug': in that ArgumentParser checks all options anew at each start of a
# program, which takes 0.1 to 0.3 s of processor time, and the tests start some thousand programs.
# A module is written by the compiler that also compiles it: another would check all of its files
# again, which is a quarter of the time of a test module.
# Lines for a debugger are a sixth of that time and half of the size; builds with a sanitizer have them,
# for its reports.
# shellcheck shell=bash disable=SC2034
export UTTER_QUICK_BUILD=1
# The manifest is read anew: which voice detector there is may have changed.
test_flags=(-c release -Xswiftc -enable-testing
    -Xswiftc -no-emit-module-separately-wmo -Xswiftc -gnone --manifest-cache none
    --pkg-config-path "$PWD/.build/detector")
# shellcheck source=scripts/detector.sh
source scripts/detector.sh
describe_detector .build/detector
