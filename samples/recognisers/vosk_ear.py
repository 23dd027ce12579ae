#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Vosk: truly streaming, a partial text 0.2 s behind the voice, on a small processor.

    python3 -m venv ~/ear && ~/ear/bin/pip install vosk==0.3.45
    utter serve --recogniser '~/ear/bin/python samples/recognisers/vosk_ear.py FOLDER'

FOLDER has a model, such as vosk-model-small-en-us-0.15 (40 MB) of
https://alphacephei.com/vosk/models. Its language is the model's; prompt and words do not reach it.
"""

import json
import os
import sys

import ear
import vosk

vosk.SetLogLevel(-1)
if len(sys.argv) < 2:
    ear.unable("no model is named", "name the folder of a model of Vosk behind vosk_ear.py")
if not os.path.isdir(sys.argv[1]):
    ear.unable(f"there is no folder {sys.argv[1]}", "fetch a model and unpack it there")
MODEL = vosk.Model(sys.argv[1])
RATE = 16_000
# The sound between two looks at the partial text: 0.1 s.
STEP = RATE // 5


class Ear:
    def __init__(self, request):
        self.recogniser = vosk.KaldiRecognizer(MODEL, RATE)
        self.recogniser.SetWords(True)
        self.count = 0
        self.last = ""

    def hear(self, pcm):
        for start in range(0, len(pcm), STEP):
            piece = pcm[start : start + STEP]
            self.count += len(piece)
            if self.recogniser.AcceptWaveform(piece):
                self.settle(self.recogniser.Result())

    def think(self, late):
        text = json.loads(self.recogniser.PartialResult())["partial"]
        if text and text != self.last:
            self.last = text
            ear.partial(text, self.count / 2 / RATE)

    def settle(self, result, end=False):
        result = json.loads(result)
        words = [(w["word"], w["start"], w["end"]) for w in result.get("result", [])]
        if words or end:
            ear.final(result["text"], words, end)
        self.last = ""

    def finish(self):
        self.settle(self.recogniser.FinalResult(), end=True)


ear.run("Vosk " + os.path.basename(sys.argv[1].rstrip("/")), None, Ear)
