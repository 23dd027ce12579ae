# SPDX-License-Identifier: Apache-2.0
"""What the recognisers of this folder have in common: the protocol of docs/recogniser.md.

A recogniser calls run() with a function that is given what the client says of a recording, and
makes an object with three methods: hear(pcm) takes sound in (16 kHz, 16 bits, mono), think(late) is
called when all sound that has come was taken in, or so much that it is late and more waits, and
finish() says the last final text. partial() and final() say what was heard.
"""

import json
import os
import select
import sys

# What a library prints must not get among the lines.
_lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
_unread = bytearray()
# In bytes: so much sound is taken in at once.
_MUCH = 20 * 32_000


def _say(**line):
    _lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    _lines.flush()


def partial(text, time):
    """Says what is heard behind the final texts so far; it may change."""
    _say(partial=text, time=round(time, 2))


def final(text, words=(), end=False):
    """Says what will not change any more; words are (word, start, end), in seconds."""
    words = [{"word": w, "start": round(s, 2), "end": round(e, 2)} for w, s, e in words]
    _say(final=text, words=words, **({"end": True} if end else {}))


def unable(reason, hint=None):
    """Says why nothing can be recognised, and ends."""
    _say(error=reason, **({"hint": hint} if hint else {}))
    sys.exit(1)


def _read_more():
    piece = os.read(0, 1 << 16)
    _unread.extend(piece)
    return bool(piece)


def _line():
    while b"\n" not in _unread:
        if not _read_more():
            sys.exit(0)
    line, _, rest = bytes(_unread).partition(b"\n")
    _unread[:] = rest
    return json.loads(line)


def _sound(count):
    while len(_unread) < count:
        if not _read_more():
            sys.exit(0)
    sound = bytes(_unread[:count])
    del _unread[:count]
    return sound


def _is_caught_up():
    return not _unread and not select.select([0], [], [], 0)[0]


def _recording(make, request):
    """Takes one recording in; after an error the rest of it is passed over."""
    ear, failure, fresh = None, None, 0
    while True:
        command = _line()
        sound = _sound(command["audio"]) if "audio" in command else b""
        if command.get("cancel"):
            return
        try:
            if failure is None:
                ear = ear or make(request)
                if command.get("end"):
                    ear.finish()
                else:
                    ear.hear(sound)
                    fresh += len(sound)
                    late = not _is_caught_up()
                    if not late or fresh >= _MUCH:
                        ear.think(late)
                        fresh = 0
        except Exception as error:  # Whatever it is, the next recording may do better.
            failure = error
            _say(error=f"{type(error).__name__}: {error}")
        if command.get("end"):
            return


def run(name, languages, make):
    """Serves one recording after another, until the end of the input."""
    while True:
        _say(ready={"name": name, **({"languages": languages} if languages else {})})
        request = _line()["begin"]
        _recording(make, request)
