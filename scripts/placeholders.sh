#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes placeholders for the libraries of the system's libcurl that utter has no use for:
# placeholders.sh FOLDER
#
# libcurl brings forty libraries along, for RTMP, SCP, LDAP, Kerberos, HTTP/2, compressed answers,
# cookies and hosts that are not ASCII. utter asks for none of that, and tells libcurl so where it
# would have to. A library that is loaded already is not looked for again, so that utter first loads
# one that has all their names: it has the functions that libcurl asks for, and all they do is fail.
# Loading libcurl then takes half as long. Without the placeholders, or with a libcurl that asks for
# more than they have, everything is loaded as usual: deleting them is the way out.
#
# A placeholder stands for its library in the whole process. What plug-ins for sound or host names
# are known to need is therefore not in the list, such as libzstd.
set -euo pipefail
export LC_ALL=C

folder=$1
unneeded='^lib(rtmp|ssh2|gssapi_krb5|ldap|lber|nghttp2|psl|idn2|brotlidec)[-.]'

tools=$(dirname "$(realpath "$(command -v swift)")")
linker=
if [ -x "$tools/ld.lld" ]; then linker=-fuse-ld=lld; fi
libcurl=$("$tools/clang" -print-file-name=libcurl.so)
mkdir -p "$folder"
rm -f "$folder"/lib*

# The names that libcurl asks for, as name@VERSION where it wants a version.
asked=$("$tools/llvm-nm" -D --undefined-only --format=just-symbols "$libcurl" | sort -u)

# Those of them that the library in the file $1 has: its functions, and variables, which are as good.
names_in() {
    grep -xE "($("$tools/llvm-nm" -D --defined-only --format=just-symbols "$1" \
        | sed 's/@.*//' | sort -u | paste -sd '|'))(@.*)?" <<<"$asked"
}


# Makes the library $1 of the options and files that follow.
link() {
    "$tools/clang" -shared -nostdlib -fPIC -O1 ${linker:+"$linker"} -Wl,-s \
        -Wl,-soname,"$(basename "$1")" -o "$@"
}

needed=()
names=
while read -r soname _ file _; do
    [[ $soname =~ $unneeded ]] || continue
    # Nothing is asked for of what only another library brings along.
    found=$(names_in "$file" || true)
    [ -n "$found" ] || continue
    names+=$found$'\n'
    needed+=("$soname")
done < <(ldd "$libcurl")
[ ${#needed[@]} -gt 0 ] || exit 0

# One library stands for all: it asks for itself under each of their names, and the loader, which
# knows a file again, gives it all of them. Each function has a version, even if libcurl wants none:
# the loader ends a program that misses one where there are none at all. libssh2_init is called
# when libcurl is made ready, and has to succeed.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -F @ -v code="$work/code.c" -v versions="$work/versions" '
    { print "int " $1 "(void) { return " ($1 == "libssh2_init" ? 0 : -1) "; }" >code
      version = $2 ? $2 : "PLACEHOLDER"; names[version] = names[version] " " $1 ";" }
    END { for (v in names) print v " {" names[v] " };" >versions }' <<<"${names%?}"
for soname in "${needed[@]}"; do
    link "$work/$soname" -x c /dev/null
    ln -s libutter-placeholders.so "$folder/$soname"
done
# shellcheck disable=SC2016 # The loader replaces it.
link "$folder/libutter-placeholders.so" -Wl,--version-script="$work/versions" \
    -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' "$work/code.c" "${needed[@]/#/$work/}"
