# SPDX-License-Identifier: Apache-2.0
"""What the tests of a fleet stand on: a store and a queue behind networks that fail when told, and a
service that keeps a ledger. Used by fleet-test.py and fleet-scale.py."""

import asyncio
import collections
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEASE = 5


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    return [one.getsockname()[1] for one in held]


def text_of(sound):
    """What the stand-in hears: it follows from the samples."""
    return "heard " + hashlib.sha256(sound).hexdigest()[:20]


async def read_message(reader):
    """Reads one HTTP message: the head's lines, and the body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    fields = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in head[1:]}
    body = b""
    if "chunked" in fields.get("transfer-encoding", ""):
        while count := int((await reader.readline()).split(b";")[0], 16):
            body += await reader.readexactly(count)
            await reader.readline()
        await reader.readline()
    elif count := int(fields.get("content-length", 0)):
        body = await reader.readexactly(count)
    return head, fields, body


def answer(status, body, fields=""):
    return (f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{fields}"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def reset(writer):
    """Ends a connection as a machine that is gone does."""
    number = writer.get_extra_info("socket")
    if number is not None:
        number.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Carrier:
    """Listens on a port of its own, in the loop of another thread."""

    loop = None

    def __init__(self):
        self.writers = set()
        self.port = asyncio.run_coroutine_threadsafe(self.listen(), Carrier.loop).result(10)

    async def listen(self):
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def accept(self, reader, writer):
        self.writers.add(writer)
        try:
            await self.carry(reader, writer)
        except (OSError, asyncio.IncompleteReadError, ValueError, IndexError):
            pass
        finally:
            self.writers.discard(writer)
            writer.transport.abort()

    def cut(self):
        def do():
            for writer in list(self.writers):
                reset(writer)
        Carrier.loop.call_soon_threadsafe(do)


class QueueLink(Carrier):
    """The network between workers and one node of the queue."""

    def __init__(self, target):
        self.target, self.is_cut = target, False
        super().__init__()

    async def carry(self, reader, writer):
        if self.is_cut:
            return reset(writer)
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        self.writers.add(back)

        async def pump(source, sink):
            while data := await source.read(65_536):
                sink.write(data)
                await sink.drain()
        try:
            tasks = [asyncio.ensure_future(pump(reader, back)),
                     asyncio.ensure_future(pump(there, writer))]
            done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in rest:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self.writers.discard(back)
            back.transport.abort()


class StoreLink(Carrier):
    """The network to the store, which is busy, slow or gone when told."""

    def __init__(self, target):
        self.target, self.mood, self.refused = target, None, 0
        self.random = random.Random(1)
        super().__init__()

    async def carry(self, reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            while True:
                head, fields, body = await read_message(reader)
                mood = self.mood if self.random.random() < 0.7 else None
                if mood in ("503", "409"):
                    self.refused += 1
                    code = "SlowDown" if mood == "503" else "ConditionalRequestConflict"
                    writer.write(answer(mood, f"<Error><Code>{code}</Code></Error>".encode()))
                    continue
                if mood == "slow":
                    await asyncio.sleep(self.random.uniform(0.2, 1.5))
                if mood == "broken":
                    self.refused += 1
                    return reset(writer)
                lines = [line for line in head if not line.lower().startswith(
                    ("transfer-encoding:", "expect:", "content-length:"))]
                lines.append(f"Content-Length: {len(body)}")
                back.write("\r\n".join(lines + ["", ""]).encode("latin-1") + body)
                answered = (await there.readuntil(b"\r\n\r\n"))
                text = answered.decode("latin-1")
                status = text.split(" ")[1]
                if mood == "lost":
                    # The store has done it, and nobody hears so.
                    self.refused += 1
                    return reset(writer)
                writer.write(answered)
                count = re.search(r"(?im)^content-length: *(\d+)", text)
                if head[0].startswith("HEAD") or status in ("204", "304"):
                    pass
                elif count:
                    writer.write(await there.readexactly(int(count[1])))
                elif "chunked" in text.lower():
                    while True:
                        line = await there.readline()
                        size = int(line.split(b";")[0], 16)
                        writer.write(line + await there.readexactly(size + 2))
                        if size == 0:
                            break
                await writer.drain()
        finally:
            back.transport.abort()


class Service(Carrier):
    """Recognises by arithmetic, and notes each call by its key."""

    def __init__(self, seed):
        self.calls = collections.defaultdict(list)
        self.poison, self.random, self.is_away, self.is_kind = {}, random.Random(seed), False, False
        super().__init__()

    async def carry(self, reader, writer):
        while True:
            _, fields, body = await read_message(reader)
            key = fields.get("idempotency-key", "").strip('"')
            text = text_of(body)
            call = {"began": time.monotonic(), "end": None, "text": text}
            self.calls[key].append(call)
            chance = 1 if self.is_kind else self.random.random()
            poison = self.poison.get(text)
            await asyncio.sleep(0.25 if self.is_kind else self.random.uniform(0.1, 0.5))
            call["done"] = time.monotonic()
            if poison == "400" or poison is None and (self.is_away or chance < 0.05):
                status = ("400" if poison else "503" if self.is_away
                          else "429" if chance < 0.01 else "500" if chance < 0.03 else "broken")
                call["end"] = status
                if status == "broken":
                    return reset(writer)
                wait = "Retry-After: 1\r\n" if status in ("429", "503") else ""
                writer.write(answer(status, b'{"error":"no"}', wait))
            elif poison == "broken":
                call["end"] = "broken"
                return reset(writer)
            else:
                call["end"] = "200"
                writer.write(answer("200", json.dumps({"text": text}).encode()))
            await writer.drain()


class Store:
    """Reads and writes the store past all faults."""

    bucket = "fleet"

    def __init__(self, port):
        self.port, self.own = port, threading.local()

    def ask(self, method, path, body=None):
        for _ in range(10):
            link = getattr(self.own, "link", None)
            if link is None:
                link = self.own.link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                link.request(method, path, body)
                found = link.getresponse()
                return found.status, found.read()
            except (OSError, http.client.HTTPException):
                self.own.link = None
                time.sleep(0.3)
        return 0, b""

    def put(self, key, body):
        status, words = self.ask("PUT", f"/{self.bucket}/chaos/{key}", body)
        assert status in (200, 201), (status, words)

    def get(self, key):
        status, body = self.ask("GET", f"/{self.bucket}/chaos/{key}")
        return body if status == 200 else None

    def json(self, key):
        body = self.get(key)
        try:
            return json.loads(body) if body is not None else None
        except ValueError:
            return None

    def names(self, beginning):
        last, found = "", []
        while True:
            query = urllib.parse.urlencode(
                {"list-type": 2, "prefix": "chaos/" + beginning, "start-after": last})
            status, body = self.ask("GET", f"/{self.bucket}?{query}")
            assert status == 200, (status, body)
            keys = re.findall(r"<Key>([^<]*)</Key>", body.decode())
            found += [key[len("chaos/"):] for key in keys]
            if "<IsTruncated>true" not in body.decode() or not keys:
                return found
            last = keys[-1]


class Fleet:
    def __init__(self, chosen):
        self.chosen, self.random = chosen, random.Random(chosen.seed)
        self.folder = tempfile.mkdtemp(prefix="fleet-test-")
        self.children, self.faults, self.kills = [], collections.Counter(), []
        self.workers, self.names, self.serial, self.stopped = {}, {}, 0, set()
        self.expected, self.poisoned, self.keys = {}, {}, {}

    def path(self, *parts):
        path = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def start(self, name, *words, env=None, output=None):
        with open(self.path("log", name), "ab") as log:
            child = subprocess.Popen(
                words, stdout=output or log, stderr=log, stdin=subprocess.DEVNULL,
                cwd=self.folder, env=env)
        self.children.append(child)
        return child

    def begin(self):
        loop = Carrier.loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        ports = free_ports(9)
        with open(self.path("keys.json"), "w") as file:
            every = ["Admin", "Read", "Write", "List"]
            json.dump({"identities": [
                {"name": "own", "actions": every,
                 "credentials": [{"accessKey": "own", "secretKey": "ownsecret"}]},
                {"name": "anonymous", "actions": every}]}, file)
        os.makedirs(self.path("store", "x"))
        flags = ["-s3.port", "-master.port", "-master.port.grpc", "-volume.port",
                 "-volume.port.grpc", "-filer.port", "-filer.port.grpc", "-s3.port.grpc"]
        self.start("weed", f"{ROOT}/.build/peers/bin/weed", "server", "-ip=127.0.0.1",
                   "-dir=" + self.path("store"), "-volume.max=30", "-filer", "-s3",
                   "-s3.config=" + self.path("keys.json"), "-s3.port.iceberg=0",
                   "-s3.port.lance=0", *[f"{flag}={port}" for flag, port in zip(flags, ports)])
        self.store = Store(ports[0])
        self.store_link, self.service = StoreLink(ports[0]), Service(self.chosen.seed)
        count = self.chosen.nodes
        self.node_ports, self.route_ports = free_ports(count), free_ports(count)
        self.nodes = [None] * count
        for number in range(count):
            self.start_node(number)
        self.links = [QueueLink(port) for port in self.node_ports]
        for _ in range(100):
            if self.store.ask("PUT", f"/{Store.bucket}")[0] in (200, 409):
                break
            time.sleep(0.3)
        else:
            raise SystemExit("the store does not start: see " + self.path("log", "weed"))
        with open(self.path("home/.config/utter/profiles/chaos.toml"), "w") as file:
            file.write('extends = "s3"\nurl = "http://127.0.0.1:%d/{bucket}/{key}"\n'
                       % self.store_link.port)
        os.makedirs(self.path("tmp", "x"))
        self.env = dict(
            PATH=os.environ["PATH"], HOME=self.path("home"), TMPDIR=self.path("tmp"),
            ALSA_CONFIG_PATH="/dev/null", AWS_ACCESS_KEY_ID="own",
            AWS_SECRET_ACCESS_KEY="ownsecret",
            UTTER_URL=f"http://127.0.0.1:{self.service.port}/recognize")
        self.at = ["--store", "s3://fleet/chaos", "--store-service", "chaos"]
        self.queue = ["--queue", ",".join(f"nats://127.0.0.1:{link.port}" for link in self.links),
                      "--lease", f"{LEASE}s", "--replicas", str(count)]

    def start_node(self, number, is_wiped=False):
        folder = self.path("queue", str(number), "data")
        if is_wiped:
            shutil.rmtree(folder, ignore_errors=True)
        routes = ", ".join(f"nats://127.0.0.1:{port}" for port in self.route_ports)
        cluster = (f'cluster {{ name: c, listen: "127.0.0.1:{self.route_ports[number]}", '
                   f"no_advertise: true, routes: [{routes}] }}\n" if self.chosen.nodes > 1 else "")
        with open(self.path("queue", str(number), "conf"), "w") as file:
            file.write(f'server_name: n{number}\nlisten: "127.0.0.1:{self.node_ports[number]}"\n'
                       f'jetstream {{ store_dir: "{folder}" }}\n{cluster}')
        self.nodes[number] = self.start(
            f"nats-{number}", "nats-server", "-c", self.path("queue", str(number), "conf"))

    def kill_node(self, number):
        self.nodes[number].kill()
        self.nodes[number].wait()

    def run(self, *words, limit=300, queue=True):
        at = self.at + (self.queue if queue else [])
        done = subprocess.run(
            [self.program, words[0], *at, *words[1:]], env=self.env, timeout=limit,
            stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder)
        if done.returncode:
            print("  utter-work", words[0], "ended with", done.returncode, done.stderr.decode()[-400:])
        return done

    @property
    def program(self):
        return os.path.join(self.chosen.programs, "utter-work")

    def start_worker(self, slot):
        self.serial += 1
        log = f"worker-{self.serial}"
        self.workers[slot] = self.start(
            log, self.program, *self.at, *self.queue, "--look", "2s", "--slots", "2", env=self.env)
        self.names[self.workers[slot].pid] = log

    def worker_name(self, log):
        with open(self.path("log", log)) as file:
            found = re.search(r"worker (\S+) is ready", file.read(), re.M)
        return found[1] if found else None

    def kill_worker(self, slot):
        child = self.workers[slot]
        self.kills.append((time.monotonic(), self.names[child.pid]))
        child.kill()
        child.wait()

    # What is submitted

    def sound(self, number):
        chance = random.Random(number * 7919 + self.chosen.seed)
        return chance.randbytes(2 * chance.randrange(4_800, 16_000))

    def make_files(self, numbers, age):
        paths = []
        for number in numbers:
            sound, path = self.sound(number), self.path("audio", f"{number}.wav")
            with open(path, "wb") as file:
                file.write(b"RIFF" + struct.pack("<I", 36 + len(sound)) + b"WAVEfmt " + struct.pack(
                    "<IHHIIHH", 16, 1, 1, 16_000, 32_000, 2, 16) + b"data"
                    + struct.pack("<I", len(sound)) + sound)
            os.utime(path, (time.time() - age + number % age,) * 2)
            with open(path, "rb") as file:
                self.expected[hashlib.sha256(file.read()).hexdigest()] = text_of(sound)
            paths.append(path)
        return paths

    def put_by_hand(self, number, **more):
        """A take as another program may store it."""
        name = time.strftime("%Y%m%d-%H%M%S", time.gmtime(time.time() - 60 - number))
        take = f"{name}-byhand{number:06d}"
        place = f"takes/{name[:4]}-{name[4:6]}-{name[6:8]}/{take}"
        body = open(self.path("audio", "0.wav"), "rb").read()
        self.store.put(place + ".wav", body)
        manifest = {"id": take, "format": "wav", "byteCount": len(body),
                    "sha256": hashlib.sha256(body).hexdigest(), **more}
        self.store.put(place + ".json", json.dumps(manifest).encode())
        self.poisoned[take] = json.dumps(more)[:40]

    def submit(self, paths, queue=True):
        for start in range(0, len(paths), 400):
            # The same command goes on where it was: a queue that is away refuses it at once.
            for _ in range(60):
                if not self.run("submit", *paths[start:start + 400], queue=queue).returncode:
                    break
                time.sleep(1)

    def ask_queue(self, subject, body=b"", waits=True):
        """A client of the queue that is none of ours: 20 lines of its protocol."""
        try:
            with socket.create_connection(("127.0.0.1", self.node_ports[0]), 3) as link:
                link.settimeout(3)
                link.recv(4_096)
                reply = b" inbox.of.the.test" if waits else b""
                link.sendall(b'CONNECT {"verbose":false}\r\nSUB inbox.of.the.test 1\r\nPUB '
                             + subject.encode() + reply + f" {len(body)}\r\n".encode() + body
                             + b"\r\nPING\r\n")
                found = b""
                while waits and b"MSG " not in found or not found.endswith(b"\r\n"):
                    more = link.recv(65_536)
                    if not more:
                        break
                    found += more
                return found
        except OSError:
            return b""

    def queue_state(self):
        """What the queue says of itself: messages of the stream, and what its consumer makes of them."""
        def of(subject, words):
            text = self.ask_queue("$JS.API." + subject).decode("latin-1")
            return {word: int(found[1]) if (found := re.search(f'"{word}":(\\d+)', text)) else None
                    for word in words}
        return (of("STREAM.INFO.UTTER", ["messages", "first_seq", "last_seq"]),
                of("CONSUMER.INFO.UTTER.takes", ["num_pending", "num_ack_pending", "num_waiting"]))

    def manifests(self):
        return [key for key in self.store.names("takes/") if key.endswith(".json")]

    def marks(self):
        return {key[8:-5] for key in self.store.names("results/") if key.endswith(".json")}

    def end(self):
        for child in self.children:
            try:
                child.send_signal(signal.SIGCONT)
                child.kill()
            except OSError:
                pass
        for child in self.children:
            child.wait()
        if not self.chosen.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print("kept:", self.folder)
