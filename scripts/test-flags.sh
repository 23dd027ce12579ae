# SPDX-License-Identifier: Apache-2.0
# How tests are built, for scripts that source this: nothing is optimised, and asserts hold, but the
# configuration is not 'debug'. In that ArgumentParser checks all options anew at each start of a
# program, which takes 0.1 to 0.3 s of processor time, and the tests start some thousand programs.
# A module is written by the compiler that also compiles it: another would check all of its files
# again, which is a quarter of the time of a test module.
# Lines for a debugger are a sixth of that time and half of the size; builds with a sanitizer have them,
# for its reports.
# shellcheck shell=bash disable=SC2034
# The manifest is read anew: which voice detector there is may have changed.
test_flags=(-c release -Xswiftc -Onone -Xswiftc -enable-testing
    -Xswiftc -no-emit-module-separately-wmo -Xswiftc -gnone --manifest-cache none
    --pkg-config-path "$PWD/.build/detector")
# shellcheck source=scripts/detector.sh
source scripts/detector.sh
describe_detector .build/detector
