# SPDX-License-Identifier: Apache-2.0
# Describes the voice detector to SwiftPM, for scripts that source this: describe_detector FOLDER [ARCHIVES]
# SwiftPM warns of each definition in a description, also in those of the libraries that it requires, and
# so on: on Debian 13 a megabyte of warnings. The manifest has the definitions, and the library itself says
# what it needs. From the folder ARCHIVES it is linked in.
# shellcheck shell=bash
describe_detector() {
    local name place
    mkdir -p "$1"
    for name in webrtc-audio-processing webrtc-audio-processing-1; do
        place=$(pkg-config --variable=pcfiledir "$name" 2>/dev/null) || continue
        sed "/^Requires/d; s/ -D[^ ]*//g; ${2:+s|^libdir=.*|libdir=$2|; s| -l\([^ ]*\)| -l:lib\1.a|}" \
            "$place/$name.pc" >"$1/$name.pc"
    done
}
