#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whisper, by whisper.cpp's server: the one that this starts, or one that runs already.

    utter serve --recogniser 'python3 samples/recognisers/whisper_cpp_ear.py whisper-server MODEL'
    utter serve --recogniser 'python3 samples/recognisers/whisper_cpp_ear.py http://127.0.0.1:8080'

It needs Python alone. MODEL is a file such as ggml-base.en.bin of
https://huggingface.co/ggerganov/whisper.cpp. The sound is read at pauses, so that a long recording
costs no more a second than a short one; the text of each piece is final at once.
"""

import array
import io
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
import wave

import ear

RATE = 16_000
FRAME = 320
# A piece that is read by itself: at a pause of half a second, or at the end of its longest.
SHORTEST, LONGEST, PAUSE = 5 * RATE, 25 * RATE, 25


def start(program, model):
    """Starts a server on a free port, which ends with this program's group."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "-m", model, "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    for _ in range(3_000):
        if server.poll() is not None:
            ear.unable(f"{program} ended with status {server.returncode}", "try it by itself")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return f"http://127.0.0.1:{port}"
        time.sleep(0.1)
    ear.unable(f"{program} does not listen", "try it by itself")


if len(sys.argv) < 2 or (not sys.argv[1].startswith("http") and len(sys.argv) < 3):
    ear.unable("no server is named", "name whisper-server and a model, or the URL of a server")
URL = sys.argv[1] if sys.argv[1].startswith("http") else start(sys.argv[1], sys.argv[2])


def form(fields, sound):
    """A form with these fields and the sound as a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(sound)
    mark = uuid.uuid4().hex
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()]
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n'
    parts += [head.encode(), b"Content-Type: audio/wav\r\n\r\n", file.getvalue()]
    return mark, b"".join(parts) + f"\r\n--{mark}--\r\n".encode()


def read(sound, fields):
    """What the server hears in the sound."""
    mark, body = form({"response_format": "json", "temperature": "0.0", **fields}, sound)
    request = urllib.request.Request(
        URL + "/inference", body, {"Content-Type": f"multipart/form-data; boundary={mark}"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return " ".join(json.load(answer)["text"].split())


class Ear:
    def __init__(self, request):
        hints = [request.get("prompt") or "", ", ".join(request.get("words") or [])]
        self.prompt = " ".join(h for h in hints if h)
        self.language = request.get("language") or "auto"
        self.sound = bytearray()
        self.said = ""
        self.looked = self.quiet = self.loudest = 0

    def hear(self, pcm):
        self.sound += pcm

    def place(self):
        """Where the sound can be cut, in bytes: in a pause, or where it is longest."""
        while len(self.sound) - self.looked >= 2 * FRAME:
            frame = array.array("h", bytes(self.sound[self.looked : self.looked + 2 * FRAME]))
            loudness = (sum(s * s for s in frame) / FRAME) ** 0.5
            self.loudest = max(self.loudest * 0.9995, loudness)
            self.looked += 2 * FRAME
            self.quiet = self.quiet + 1 if loudness < max(60, 0.06 * self.loudest) else 0
            if self.quiet >= PAUSE and self.looked > 2 * SHORTEST or self.looked > 2 * LONGEST:
                return self.looked - (self.quiet // 2) * 2 * FRAME
        return None

    def settle(self, count, end=False):
        fields = {"language": self.language}
        if self.prompt or self.said:
            fields["prompt"] = (self.prompt + " " + self.said[-200:]).strip()
        text = read(bytes(self.sound[:count]), fields) if self.loudest > 60 and count else ""
        self.said = (self.said + " " + text).strip()
        if text or end:
            ear.final(text, end=end)
        del self.sound[:count]
        self.looked = self.quiet = 0

    def think(self, late):
        while (count := self.place()) is not None:
            self.settle(count)

    def finish(self):
        self.think(late=True)
        self.settle(len(self.sound), end=True)


try:
    urllib.request.urlopen(URL, timeout=10)
except urllib.error.HTTPError:
    pass  # It answers, whatever it thinks of the path.
except OSError as error:
    ear.unable(f"the server does not answer: {error}", "start it, or correct its URL")
ear.run("whisper.cpp", None, Ear)
