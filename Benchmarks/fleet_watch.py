# SPDX-License-Identifier: Apache-2.0
"""What fleet-scale.py measures with: proxies that note when a request of the store and a message of
the queue passes, a service that sleeps, and a small client of the queue."""

import asyncio
import collections
import hashlib
import json
import os
import random
import re
import struct
import time

from fleet_rig import Carrier, Fleet, Service, answer, read_message, text_of

TAKE = re.compile(r"\d{8}-\d{6}-[0-9a-z]{12}")
BYTES_PER_SECOND = 32_000


class StoreWatch(Carrier):
    """Notes each request of the store: when it was whole, and when its answer was."""

    def __init__(self, target):
        self.target, self.notes = target, []
        super().__init__()

    @staticmethod
    def kind(method, path):
        """What a request is for, in the words of docs/fleet.md."""
        if "list-type" in path:
            return f"{method} list {path.split('prefix=')[-1].split('%2F')[1]}"
        parts = path.split("?")[0].split("/")[3:]
        if parts[0] == "results":
            return f"{method} {'mark' if path.endswith('.json') else 'text'}"
        if parts[0] == "attempts":
            return f"{method} note"
        return f"{method} {'manifest' if path.endswith('.json') else 'audio'}"

    async def carry(self, reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", self.target, limit=1 << 20)
        self.writers.add(back)
        try:
            while True:
                head, _, body = await read_message(reader)
                began = time.monotonic()
                method, path = head[0].split(" ")[:2]
                lines = [line for line in head if not line.lower().startswith(
                    ("transfer-encoding:", "expect:", "content-length:"))]
                lines.append(f"Content-Length: {len(body)}")
                back.write("\r\n".join(lines + ["", ""]).encode("latin-1") + body)
                answered = await there.readuntil(b"\r\n\r\n")
                writer.write(answered)
                count = await self.body(there, writer, method, answered.decode("latin-1"))
                await writer.drain()
                take = TAKE.search(path)
                self.notes.append((began, time.monotonic(), self.kind(method, path),
                                   take[0] if take else None, len(body), count))
        finally:
            self.writers.discard(back)
            back.transport.abort()

    @staticmethod
    async def body(there, writer, method, head):
        """Carries the body of an answer, and says how long it was."""
        if method == "HEAD" or head.split(" ")[1] in ("204", "304"):
            return 0
        total = 0
        if found := re.search(r"(?im)^content-length: *(\d+)", head):
            while total < int(found[1]):
                data = await there.read(min(1 << 18, int(found[1]) - total))
                if not data:
                    raise asyncio.IncompleteReadError(b"", None)
                writer.write(data)
                total += len(data)
        elif "chunked" in head.lower():
            size = -1
            while size != 0:
                line = await there.readline()
                size = int(line.split(b";")[0], 16)
                writer.write(line + await there.readexactly(size + 2))
                total += size
        return total


async def frames(reader):
    """The frames of the queue's protocol, from either side: words, payload, and all bytes."""
    while line := await reader.readline():
        words = line.decode("latin-1").split()
        name = words[0].upper() if words else ""
        payload = b""
        if name in ("MSG", "HMSG", "PUB", "HPUB"):
            payload = await reader.readexactly(int(words[-1]) + 2)
        yield name, words, payload[:-2], line + payload


class QueueWatch(Carrier):
    """Notes when takes are delivered, and when they are acknowledged."""

    def __init__(self, target):
        self.target, self.counts = target, collections.Counter()
        self.delivered, self.acks, self.replies, self.inboxes = {}, {}, {}, {}
        super().__init__()

    async def carry(self, reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", self.target, limit=1 << 20)
        self.writers.add(back)
        tasks = [asyncio.ensure_future(self.pump(reader, back, self.to_server)),
                 asyncio.ensure_future(self.pump(there, writer, self.to_worker))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.writers.discard(back)
            back.transport.abort()

    @staticmethod
    async def pump(source, sink, note):
        async for name, words, payload, whole in frames(source):
            note(name, words, payload)
            sink.write(whole)
            await sink.drain()

    def to_worker(self, name, words, payload):
        now = time.monotonic()
        if name in ("MSG", "HMSG"):
            found = TAKE.search(words[1])
            if found and words[3].startswith("$JS.ACK"):
                self.counts["delivery"] += 1
                self.delivered.setdefault(found[0], now)
                self.replies[words[3]] = found[0]
            elif words[1] in self.inboxes:
                self.counts["answer to an acknowledgement"] += 1
                take, began = self.inboxes.pop(words[1])
                self.acks[take] = (began, now)

    def to_server(self, name, words, payload):
        if name not in ("PUB", "HPUB"):
            return
        if ".MSG.NEXT." in words[1]:
            self.counts["pull"] += 1
        elif words[1] in self.replies:
            if payload in (b"", b"+ACK") and len(words) > 3:
                self.counts["acknowledgement"] += 1
                self.inboxes[words[2]] = (self.replies[words[1]], time.monotonic())
            else:
                self.counts[payload.split(b" ")[0].decode()] += 1
        elif TAKE.search(words[1]):
            self.counts["publish"] += 1


class Sleeper(Service):
    """Needs a share of the length of what it is sent, and says the usual text."""

    def __init__(self, factor):
        self.factor = factor
        super().__init__(1)

    async def carry(self, reader, writer):
        while True:
            _, fields, body = await read_message(reader)
            whole = time.monotonic()
            text = text_of(body)
            await asyncio.sleep(self.factor * len(body) / BYTES_PER_SECOND)
            writer.write(answer("200", json.dumps({"text": text}).encode()))
            await writer.drain()
            key = fields.get("idempotency-key", "").strip('"')
            self.calls[key].append((whole, time.monotonic(), len(body) / BYTES_PER_SECOND))


class QueueClient:
    """One connection to the queue; each loop has a line for pulls and one for answers."""

    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        await self.reader.readline()
        self.name, self.waits, self.count = f"_INBOX.s{random.getrandbits(48):x}", {}, 0
        self.writer.write(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n')
        self.task = asyncio.ensure_future(self.listen())
        return self

    async def listen(self):
        async for name, words, payload, _ in frames(self.reader):
            if name == "PING":
                self.writer.write(b"PONG\r\n")
            elif name in ("MSG", "HMSG"):
                has_reply = len(words) == (5 if name == "MSG" else 6)
                wait = self.waits.get(words[2])
                if wait and not wait.done():
                    wait.set_result((words[3] if has_reply else "", payload))

    def line(self):
        """A place where answers come."""
        self.count += 1
        self.writer.write(f"SUB {self.name}.{self.count} {self.count}\r\n".encode())
        return str(self.count)

    async def ask(self, line, subject, body=b"", limit=30):
        """Sends a message, and waits for the answer; one at a time on a line."""
        wait = self.waits[line] = asyncio.get_running_loop().create_future()
        self.writer.write(f"PUB {subject} {self.name}.{line} {len(body)}\r\n".encode()
                          + body + b"\r\n")
        return await asyncio.wait_for(wait, limit)

    async def pull(self, line, seconds=5):
        """One message of the takes, as (reply, body); the reply is empty when none came."""
        return await self.ask(line, "$JS.API.CONSUMER.MSG.NEXT.UTTER.takes", json.dumps(
            {"batch": 1, "expires": int(seconds * 1e9)}).encode())

    async def publish(self, line, take, body):
        """Puts a take in; returns the seconds until the queue had it."""
        began = time.monotonic()
        _, said = await self.ask(line, f"utter.takes.{take}", body)
        if b'"seq"' not in said:
            raise RuntimeError(f"the queue took no message: {said!r}")
        return time.monotonic() - began


class Rig(Fleet):
    """The rig of fleet-test.py without faults, with a lease of a minute, and watched."""

    def __init__(self, chosen, factor):
        super().__init__(chosen)
        self.factor = factor

    def begin(self):
        super().begin()
        self.service = Sleeper(self.factor)
        self.watch, self.queue_watch = StoreWatch(self.store.port), QueueWatch(self.node_ports[0])
        self.env["UTTER_URL"] = f"http://127.0.0.1:{self.service.port}/recognize"
        self.look_at(self.watch.port, self.queue_watch.port)

    def look_at(self, store_port, queue_port):
        """Where workers find store and queue from now on."""
        with open(self.path("home/.config/utter/profiles/chaos.toml"), "w") as file:
            file.write('extends = "s3"\nurl = "http://127.0.0.1:%d/{bucket}/{key}"\n' % store_port)
        self.queue = ["--queue", f"nats://127.0.0.1:{queue_port}", "--lease", "60s"]

    def worker(self, slots=1, *more):
        self.serial += 1
        name = f"worker-{self.serial}"
        child = self.start(name, self.program, *self.at, *self.queue, "--slots", str(slots), *more,
                           env=self.env)
        until(lambda: self.worker_name(name), 30)
        return child

    def put_audio(self, number, seconds):
        """Stores a recording, and returns its manifest."""
        sound = random.Random(number).randbytes(int(seconds * 16_000) * 2)
        body = (b"RIFF" + struct.pack("<I", 36 + len(sound)) + b"WAVEfmt " + struct.pack(
            "<IHHIIHH", 16, 1, 1, 16_000, 32_000, 2, 16) + b"data"
            + struct.pack("<I", len(sound)) + sound)
        self.store.put(f"calls/{number}.wav", body)
        return {"format": "wav", "byteCount": len(body), "seconds": seconds,
                "sha256": hashlib.sha256(body).hexdigest(), "audio": f"calls/{number}.wav"}

    def put_manifest(self, number, manifest):
        """Lets a take exist; returns its name and the message of the queue."""
        take, key, body = name_take(number)
        self.store.put(key, json.dumps({"id": take, **manifest}).encode())
        return take, body


def name_take(number):
    """A take of now: its name, its manifest's key and its message."""
    take = time.strftime("%Y%m%d-%H%M%S", time.gmtime()) + f"-s{number:011d}"
    key = f"takes/{take[:4]}-{take[4:6]}-{take[6:8]}/{take}.json"
    return take, key, json.dumps({"id": take, "key": key}, separators=(",", ":")).encode()


def until(done, limit, each=0.2):
    """Waits until something is so; says what it was, and fails after a time."""
    began = time.monotonic()
    while not (found := done()):
        if time.monotonic() - began > limit:
            raise RuntimeError(f"it was not so within {limit} s")
        time.sleep(each)
    return found


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024
