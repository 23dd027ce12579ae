#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Counts what Sources and Tests may have at most, and compares the counts with scripts/bars.txt.
# bars.py [--print]: prints all counts instead. check-layers.sh has the limits of a file and a folder.
import pathlib
import re
import sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The modules and programs beside the core; all below a folder of the first name belong to them.
COMPANIONS = {"Companions", "Fleet", "RecognitionEndpoint", "KeyboardDevices", "ShortcutPortal",
              "utter-ear", "utter-endpoint", "utter-keys", "utter-work"}
ADVICE = {
    "core-lines": "remove lines, or say in the commit which issue raises the bar",
    "companion-lines": "remove lines, or say in the commit which issue raises the bar",
    "test-lines": "leave a rule to the test of the layer that has it, or give a table a row",
    "words-lines": "replace an example by one that shows more",
    "unchecked-sendable": "hand the value over with 'sending', or guard it with a Mutex",
    "take-store-members": "put it behind one of the four doors that ARCHITECTURE.md names",
    "package-vars": "make it a let, give it package private(set), or hide it behind a method",
    "bare-comments": "give the comment a subject and a verb, or a bare noun",
    "shared-type-names": "give the type a name that says whose it is",
}
COMMENT = re.compile(r'^(?:[^"/]|"(?:[^"\\]|\\.)*"|/(?!/))*///? ?(.*)')
BARE = re.compile(r"(?:What|Of|One|Those|Nil|As above)\b")
UNCHECKED = re.compile(r"^[^/]*@unchecked Sendable")
# A setter of its own (private(set)) is no door for others; a brace before "=" begins a computed one.
PACKAGE_VAR = re.compile(r"^ *package (?:static |weak |nonisolated )*var [^={]*(?:=|$|\{ *(?:did|will)Set)")
MEMBER = re.compile(r"^[^/]*\b(?:package|public) (?:static |final |mutating |(?:private|internal)\(set\) |convenience )*"
                    r"(?:func|var|let|init|struct|class|enum)\b")
TYPE = re.compile(r"^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|internal|final|indirect|open) )*"
                  r"(?:struct|class|enum|actor|protocol) (\w+)")


def counts():
    count = Counter(dict.fromkeys(ADVICE, 0))
    places = {"bare-comments": [], "unchecked-sendable": []}
    types = {}
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        name = path.relative_to(ROOT)
        lines = path.read_text().splitlines()
        count["companion-lines" if COMPANIONS & set(name.parts) else "core-lines"] += len(lines)
        goes_on = False
        for number, line in enumerate(lines, 1):
            comment = COMMENT.match(line)
            if comment and not goes_on and BARE.match(comment[1]):
                places["bare-comments"].append(f"{name}:{number}: {comment[1]}")
            goes_on = line.lstrip().startswith("//")
            if UNCHECKED.match(line):
                places["unchecked-sendable"].append(f"{name}:{number}")
            count["take-store-members"] += "TakeStore" in name.parts and bool(MEMBER.match(line))
            count["package-vars"] += bool(PACKAGE_VAR.match(line))
            if found := TYPE.match(line):
                types.setdefault(found[1], []).append(f"{name}:{number}: {found[1]}")
    places["shared-type-names"] = [at for same in types.values() if same[1:] for at in same]
    for what, found in places.items():
        count[what] = len(found)
    for what, pattern in [("test-lines", "*.swift"), ("words-lines", "Words/*.txt")]:
        count[what] = sum(len(path.read_text().splitlines()) for path in (ROOT / "Tests").rglob(pattern))
    return count, places


def main():
    count, places = counts()
    if "--print" in sys.argv:
        print("\n".join(f"{what} {number}" for what, number in count.items()))
        return 0
    bars = dict(line.split() for line in (ROOT / "scripts/bars.txt").read_text().splitlines()
                if line and not line.startswith("#"))
    over = [what for what in ADVICE if count[what] > int(bars.get(what, 0))]
    for what in over:
        print("\n".join(places.get(what, [])[-20:]), file=sys.stderr)
        print(f"{what}: {count[what]}, and scripts/bars.txt allows {bars.get(what, 0)}: {ADVICE[what]}",
              file=sys.stderr)
    return 1 if over else 0


sys.exit(main())
