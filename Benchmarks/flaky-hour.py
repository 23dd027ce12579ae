#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An hour of speech over a link that is cut every five minutes: resumed, and replayed beside it.

flaky-hour.py PROGRAMS [MINUTES [silent]]

PROGRAMS is the folder of `utter` and `utter-endpoint`. Each take has a link of its own of 1 Mbit/s,
which is reset every five minutes and refuses for two seconds. A silent link loses all packets for
twelve seconds instead, in a network namespace of its own, which takes root. Printed are the bytes
that each link has carried to the endpoint, as a multiple of the recording, the longest time after a
cut until as much had been carried since it as was recorded, and how long after the last sample the
text was there; a take that has not ended after twice the time is ended.
"""

import array
import asyncio
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time
import wave

RATE, EVERY, AWAY = 125_000, 300, 2
IS_SILENT = sys.argv[3:] == ["silent"]
if IS_SILENT:
    AWAY = 12
# The ends of the link of a namespace, and the address of this one.
SPACE, NEAR, FAR, ADDRESS = "utter-far", "utter-near", "utter-far", "10.213.7.1"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Link:
    """Carries connections to a port, no faster than RATE, and resets them all now and then."""

    def __init__(self, target):
        self.target, self.sent, self.cuts = target, 0, 0
        self.writers, self.closed_until = set(), 0.0
        self.recorded, self.slowest = 0, 0.0
        self.budget, self.last = 0.0, time.monotonic()

    async def start(self):
        self.server = await asyncio.start_server(self.carry, "0.0.0.0", 0, limit=16_384)
        asyncio.ensure_future(self.cut())
        return self.server.sockets[0].getsockname()[1]

    @staticmethod
    def reset(writer):
        number = writer.get_extra_info("socket")
        if number is not None:
            number.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def cut(self):
        await asyncio.sleep(EVERY / 2)
        while True:
            before, self.closed_until = self.sent - self.recorded, time.monotonic() + AWAY
            self.cuts += 1
            if IS_SILENT:
                ip("link set " + NEAR + " down")
            for writer in [] if IS_SILENT else list(self.writers):
                self.reset(writer)
            await asyncio.sleep(AWAY)
            if IS_SILENT:
                ip("link set " + NEAR + " up")
            # A quarter of a second of sound is under way at any time.
            while self.sent - self.recorded < before - 8_000 and time.monotonic() < self.closed_until + 60:
                await asyncio.sleep(0.02)
            self.slowest = max(self.slowest, time.monotonic() - self.closed_until)
            await asyncio.sleep(self.closed_until - AWAY + EVERY - time.monotonic())

    async def carry(self, reader, writer):
        if time.monotonic() < self.closed_until and not IS_SILENT:
            return self.reset(writer)
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        self.writers |= {writer, back}
        await asyncio.gather(
            self.pump(reader, back, True), self.pump(there, writer, False), return_exceptions=True)
        self.writers -= {writer, back}
        writer.close()
        back.close()

    async def pump(self, reader, writer, counts):
        while bytes_ := await reader.read(4_096):
            if counts:
                await self.take(len(bytes_))
                self.sent += len(bytes_)
            writer.write(bytes_)
            await writer.drain()
        writer.write_eof()

    async def take(self, count):
        while True:
            now = time.monotonic()
            self.budget = min(RATE / 20, self.budget + (now - self.last) * RATE)
            self.last = now
            if self.budget > 0:
                self.budget -= count
                return
            await asyncio.sleep(0.005)


def ip(words):
    subprocess.run(["ip", *words.split()], check=True)


def minute():
    """A sentence, and quiet noise behind it; other noise each time."""
    with wave.open(ROOT + "/samples/go-forward.wav") as file:
        samples = array.array("h", file.readframes(file.getnframes()))
    samples.extend(random.randint(-3, 3) for _ in range(16_000 * 60 - len(samples)))
    return samples.tobytes()


async def take(name, programs, words, minutes, port):
    link = Link(port)
    url = f"http://{ADDRESS if IS_SILENT else '127.0.0.1'}:{await link.start()}/recognize"
    environment = dict(os.environ, XDG_STATE_HOME=tempfile.mkdtemp())
    run = await asyncio.create_subprocess_exec(
        *(["ip", "netns", "exec", SPACE] if IS_SILENT else []), programs + "/utter", "send", "-q", "--format", "pcm", "--to", url, *words, "-",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    start, count = time.monotonic(), 0
    for _ in range(minutes):
        sound = minute()
        for place in range(0, len(sound), 3_200):
            run.stdin.write(sound[place:place + 3_200])
            await run.stdin.drain()
            count += 3_200
            link.recorded = count
            await asyncio.sleep(max(0, start + count / 32_000 - time.monotonic()))
    run.stdin.close()
    end = time.monotonic()
    try:
        text = (await asyncio.wait_for(run.stdout.read(), minutes * 60)).decode()
        state = f"the text {time.monotonic() - end:.1f} s after the last sample"
        state += f", {text.count('go forward ten meters')} of {minutes} sentences"
    except asyncio.TimeoutError:
        run.kill()
        state = "no text in twice the time"
    print(f"{name}: {link.sent} bytes, {link.sent / count:.3f} of the recording, "
          f"{link.cuts} cuts, caught up in {link.slowest:.1f} s; {state}", flush=True)


async def main():
    programs, minutes = os.path.abspath(sys.argv[1]), int((sys.argv[2:] or ["60"])[0])
    if IS_SILENT:
        ip("netns add " + SPACE)
        ip(f"link add {NEAR} type veth peer name {FAR} netns {SPACE}")
        ip(f"address add {ADDRESS}/24 dev {NEAR}")
        ip(f"-n {SPACE} address add 10.213.7.2/24 dev {FAR}")
        ip(f"link set {NEAR} up")
        ip(f"-n {SPACE} link set {FAR} up")
    endpoint = await asyncio.create_subprocess_exec(
        programs + "/utter-endpoint", "serve", "--port", "0", "--max-body", "2000000000",
        "--grammar", ROOT + "/samples/grammar/demo.gram", stderr=subprocess.PIPE,
        env=dict(os.environ, XDG_STATE_HOME=tempfile.mkdtemp()))
    line = (await endpoint.stderr.readline()).decode()
    port = int(line.rsplit(":", 1)[1].split("/")[0])
    try:
        takes = [take("resumed", programs, ["--service", "resumable"], minutes, port)]
        # A silent link is one for both.
        if not IS_SILENT:
            takes.append(take("replayed", programs, [], minutes, port))
        await asyncio.gather(*takes)
    finally:
        endpoint.terminate()
        if IS_SILENT:
            ip("netns delete " + SPACE)


asyncio.run(main())
