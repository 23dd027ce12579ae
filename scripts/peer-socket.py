#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Realtime speech services, as their documentation describes the messages, for tests.

peer-socket.py [unix:PATH | CERTIFICATE KEY] prints its port, then a line of JSON for each connection that has ended.
The path names the dialect and, behind it, the fault: /deepgram?drop=20000 closes the first connection
without a word once it has as many bytes of audio. A run of one value is a word: 0.1 s of the sample 100
is "w1". Messages without audio are repeated on standard error.
"""

import asyncio
import base64
import http
import json
import logging
import ssl
import struct
import sys
from urllib.parse import parse_qs, urlsplit

import websockets

logging.getLogger("websockets").setLevel(logging.CRITICAL)
seen = {}


class Ear:
    """Hears words in samples; a word is final once silence follows it."""

    def __init__(self, rate):
        self.rate, self.rest, self.count = rate, b"", 0
        self.runs = []  # value, first sample, number of samples

    def hear(self, audio):
        self.rest += audio
        whole = len(self.rest) // 2 * 2
        for (value,) in struct.iter_unpack("<h", self.rest[:whole]):
            value = round(value / 100)
            if not self.runs or self.runs[-1][0] != value:
                self.runs.append([value, self.count, 0])
            self.runs[-1][2] += 1
            self.count += 1
        self.rest = self.rest[whole:]

    def words(self):
        return [run for run in self.runs if run[0] > 0 and run[2] >= self.rate // 50]

    def finals(self, is_last):
        return [run for run in self.words() if is_last or run is not self.runs[-1] or run[0] == 0]


def word(run, rate):
    return {"word": f"w{run[0]}", "start": run[1] / rate, "end": (run[1] + run[2]) / rate}


class Deepgram:
    rate = 16000
    # Sends what is new alone, and the whole text at the end.
    appends = False
    # Waits for the settings of the session.
    is_set_up = False
    # Says by a message that the session is over, or by closing it.
    closes = True

    def greet(self):
        return []

    def take(self, message):
        if isinstance(message, bytes):
            return message, False
        return b"", json.loads(message)["type"] == "CloseStream"

    def result(self, runs, is_final):
        words = [word(run, self.rate) for run in runs]
        text = " ".join(one["word"] for one in words)
        return {
            "type": "Results", "is_final": is_final, "speech_final": is_final,
            "channel": {"alternatives": [{"transcript": text, "confidence": 0.9, "words": words}]},
        }

    def error(self):
        return {"type": "Error", "variant": "NET-0001", "description": "no more"}

    def end(self):
        return [{"type": "Metadata", "duration": 1.0, "channels": 1}]


class AssemblyAI(Deepgram):
    def greet(self):
        return [{"type": "Begin", "id": "s", "expires_at": 0}]

    def take(self, message):
        if isinstance(message, bytes):
            return message, False
        return b"", json.loads(message)["type"] == "Terminate"

    def result(self, runs, is_final):
        words = [
            {
                "text": f"w{run[0]}", "start": run[1] * 1000 // self.rate,
                "end": (run[1] + run[2]) * 1000 // self.rate, "word_is_final": is_final,
            }
            for run in runs
        ]
        text = " ".join(one["text"] for one in words)
        return {
            "type": "Turn", "turn_order": 0, "end_of_turn": is_final, "turn_is_formatted": is_final,
            "transcript": text, "words": words,
        }

    def end(self):
        return [{"type": "Termination", "audio_duration_seconds": 1}]


class OpenAI(Deepgram):
    rate = 24000
    appends = is_set_up = True
    closes = False

    def greet(self):
        return [{"type": "session.created", "session": {}}]

    def error(self):
        return {"type": "error", "error": {"type": "server_error", "message": "no more"}}

    def take(self, message):
        value = json.loads(message)
        if value["type"] == "session.update":
            rate = value["session"]["audio"]["input"]["format"]["rate"]
            assert rate == self.rate, rate
            return b"", False
        if value["type"] == "input_audio_buffer.append":
            return base64.b64decode(value["audio"]), False
        assert value["type"] == "input_audio_buffer.commit", value
        return b"", True

    def result(self, runs, is_final):
        text = " ".join(f"w{run[0]}" for run in runs)
        kind = "conversation.item.input_audio_transcription."
        if is_final:
            return None
        return {"type": kind + "delta", "item_id": "i", "delta": text + " "} if text else None

    def whole(self, runs):
        text = " ".join(f"w{run[0]}" for run in runs)
        kind = "conversation.item.input_audio_transcription."
        return {"type": kind + "completed", "item_id": "i", "content_index": 0, "transcript": text}

    def end(self):
        return []


class Desktop(OpenAI):
    """The recognisers of a desktop (IE115): what is sent before they are ready they drop."""

    rate = 16000
    appends = False

    def greet(self):
        return [{"type": "session.created", "session": {}, "protocol_version": 1}]

    def take(self, message):
        return (message, False) if isinstance(message, bytes) else super().take(message)

    def result(self, runs, is_final):
        text = " ".join(f"w{run[0]}" for run in runs)
        if not is_final:
            return {"type": "STATUS", "state": "transcribing", "snippet": text}
        return {
            "type": "conversation.item.input_audio_transcription.delta", "item_id": "i", "delta": text + " ",
            "disposition": "committed",
        }


class VLLM(OpenAI):
    rate = 16000
    is_set_up = False

    def take(self, message):
        value = json.loads(message)
        if value["type"] == "input_audio_buffer.append":
            return base64.b64decode(value["audio"]), False
        assert value["type"] != "session.update" or value["model"], value
        return b"", value.get("final", False)

    def result(self, runs, is_final):
        text = " ".join(f"w{run[0]}" for run in runs)
        return {"type": "transcription.delta", "delta": text + " "}

    def whole(self, runs):
        return {"type": "transcription.done", "text": " ".join(f"w{run[0]}" for run in runs), "usage": {}}


class Vosk(Deepgram):
    def take(self, message):
        if isinstance(message, bytes):
            return message, False
        value = json.loads(message)
        assert value.get("eof") or value["config"]["sample_rate"] == self.rate, value
        return b"", bool(value.get("eof"))

    def result(self, runs, is_final):
        words = [word(run, self.rate) | {"conf": 0.9} for run in runs]
        text = " ".join(one["word"] for one in words)
        return {"result": words, "text": text} if is_final else {"partial": text}

    def end(self):
        return [{"text": ""}]


class Flux(Deepgram):
    """Ends no turn when the stream is closed: the last update is the text."""

    def greet(self):
        return [{"type": "Connected", "request_id": "r", "sequence_id": 0}]

    def take(self, message):
        if isinstance(message, bytes):
            return message, False
        return b"", json.loads(message)["type"] == "CloseStream"

    def result(self, runs, is_final):
        words = [word(run, self.rate) | {"confidence": 0.9} for run in runs]
        return {
            "type": "TurnInfo", "event": "EndOfTurn" if is_final else "Update", "turn_index": 0,
            "transcript": " ".join(one["word"] for one in words), "words": words,
        }

    def end(self):
        return []


class Echo(Deepgram):
    """Says at once how many bytes it has heard, for measurements."""

    count = 0

    def take(self, message):
        self.count += len(message) if isinstance(message, bytes) else 0
        return message if isinstance(message, bytes) else b"", not isinstance(message, bytes)

    def result(self, runs, is_final):
        return {"is_final": is_final, "channel": {"alternatives": [{"transcript": f"bytes:{self.count}"}]}}


class Soniox(Deepgram):
    def take(self, message):
        if isinstance(message, bytes):
            return message, not message
        if json.loads(message).get("type") == "keepalive":
            return b"", False
        config = json.loads(message)
        assert (config["audio_format"], config["sample_rate"]) == ("pcm_s16le", self.rate), config
        assert config["model"] and "api_key" not in config, config
        return b"", False

    def result(self, runs, is_final):
        # A word is two pieces, and says by a space that it begins.
        tokens = []
        for run in runs:
            start, end = run[1] * 1000 // self.rate, (run[1] + run[2]) * 1000 // self.rate
            for text, first, last in [(" w", start, start + 50), (f"{run[0]}", start + 50, end)]:
                tokens.append({
                    "text": text, "start_ms": first, "end_ms": last, "confidence": 0.9, "is_final": is_final,
                })
        return {"tokens": tokens, "final_audio_proc_ms": 0, "total_audio_proc_ms": 0}

    def error(self):
        return {"tokens": [], "error_code": 503, "error_message": "no more: please restart the request"}

    def end(self):
        return [{"tokens": [], "final_audio_proc_ms": 0, "total_audio_proc_ms": 0, "finished": True}]


DIALECTS = {"deepgram": Deepgram, "assemblyai": AssemblyAI, "openai": OpenAI, "desktop": Desktop, "vllm": VLLM, "vosk": Vosk, "flux": Flux, "soniox": Soniox, "echo": Echo}


async def refuse(path, headers):
    asked = {key: values[0] for key, values in parse_qs(urlsplit(path).query).items()}
    if "redirect" in asked:
        return http.HTTPStatus.TEMPORARY_REDIRECT, [("Location", asked["redirect"])], b""
    if "status" in asked:
        body = json.dumps({"err_msg": "no such key", "message": "no such key"}).encode()
        fields = [("Content-Type", "application/json")]
        if "retry-after" in asked:
            fields.append(("Retry-After", asked["retry-after"]))
        return http.HTTPStatus(int(asked["status"])), fields, body
    if asked.get("token") and headers.get("Authorization") != asked["token"]:
        return http.HTTPStatus.UNAUTHORIZED, [], b"who are you?"


async def serve(socket, path):
    parts = urlsplit(path)
    asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
    name = parts.path.strip("/").split("/")[0]
    service = DIALECTS[name]()
    number = seen[path] = seen.get(path, 0) + 1
    ear, told, texts, audio_count, piece_count = Ear(service.rate), 0, [], 0, 0
    is_first = number == 1 or "always" in asked
    dropped = []

    async def say(value):
        if value is not None:
            padding = " " * int(asked.get("padding", 0))
            await socket.send(json.dumps(value) + padding)

    async def news(is_last):
        nonlocal told
        finals = ear.finals(is_last)
        if service.appends:
            fresh = finals[told:]
            if fresh:
                await say(service.result(fresh, False))
        elif name == "soniox":
            value = service.result(finals[told:], True)
            value["tokens"] += service.result(ear.words()[len(finals):], False)["tokens"]
            await say(value)
        elif name == "echo":
            await say(service.result([], is_last))
        else:
            for run in finals[told:]:
                await say(service.result([run], True))
            pending = ear.words()[len(finals):]
            if pending:
                await say(service.result(pending, False))
        told = len(finals)

    try:
        if "ungreeted" not in asked:
            for value in service.greet():
                await say(value)
        if service.is_set_up:
            first = await socket.recv()
            service.take(first)
            texts.append(first)
            if "ungreeted" not in asked:
                await say({"type": "session.updated", "session": {}})
        if name == "desktop":
            await say({"type": "STATUS", "state": "loading"})
            try:
                dropped.append(await asyncio.wait_for(socket.recv(), 0.2))
            except asyncio.TimeoutError:
                pass
            await say({"type": "STATUS", "state": "ready"})
        async for message in socket:
            audio, is_end = service.take(message)
            if isinstance(message, str) and not audio:
                texts.append(message)
                print(message, file=sys.stderr, flush=True)
            audio_count += len(audio)
            piece_count += bool(audio)
            if name != "echo":
                ear.hear(audio)
            if is_first and audio_count >= int(asked.get("drop", 1 << 60)):
                # The client has read what was heard until then, whatever the size of its messages.
                await news(False)
                await asyncio.wait_for(await socket.ping(), 30)
                socket.transport.abort()
                return
            if is_first and audio_count >= int(asked.get("close-after", 1 << 60)):
                await socket.close(int(asked["code"]), "as asked")
                return
            if is_first and audio_count >= int(asked.get("error-after", 1 << 60)):
                await say(service.error())
                return
            if not is_end:
                if not isinstance(message, str) or audio:
                    await news(False)
                continue
            if name == "flux":
                await say(service.result(ear.words()[told:], False))
                # A close frame without a code.
                socket.transport.write(b"\x88\x00")
                return
            await news(True)
            if not service.closes:
                await say(service.whole(ear.words()))
            for value in service.end():
                await say(value)
            if "leave-open" not in asked and service.closes:
                await socket.close(1000)
                return
    except websockets.ConnectionClosed:
        pass
    finally:
        print(
            json.dumps({
                "path": path, "number": number, "audio": audio_count, "audioMessages": piece_count,
                "texts": texts, "dropped": len(dropped), "host": socket.request_headers.get("Host"),
                "closed": socket.close_code, "authorization":
                socket.request_headers.get("Authorization"),
                "words": [f"w{run[0]}" for run in ear.words()],
            }), flush=True)


async def main():
    context = None
    options = {"process_request": refuse, "ping_interval": 0.5, "max_size": 1 << 20}
    if sys.argv[1:] and sys.argv[1].startswith("unix:"):
        async with websockets.unix_serve(serve, sys.argv[1][5:], **options):
            print(0, flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        return
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
    async with websockets.serve(
        serve, "127.0.0.1", 0, ssl=context, **options
    ) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        # Until nobody reads what is printed.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
