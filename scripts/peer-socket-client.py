#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A client of a WebSocket, for tests: does what the lines of standard input say, and prints what comes.

peer-socket-client.py URL [FIELD...]; unix:PATH is a Unix socket. A line is JSON: {"text": …} is sent as it
is, {"audio": FILE, "piece": BYTES} in binary messages, {"base64": FILE, "piece": BYTES} within the messages of
OpenAI, {"fragments": […]} as one text in frames, {"raw": HEX} as bytes behind the frames. The end of the input
closes the session. Messages are printed as they come, a line for each; the last line is
{"closed": CODE, "reason": …}, or {"refused": STATUS} without a session.
"""

import asyncio
import base64
import json
import sys
import threading

import websockets


def pieces(order, name):
    with open(order[name], "rb") as file:
        # Without the header of a WAV file.
        audio = file.read()[44:]
    size = order.get("piece", 3200)
    return [audio[start : start + size] for start in range(0, len(audio), size)]


async def obey(socket, order):
    if "text" in order:
        await socket.send(order["text"])
    elif "audio" in order:
        for piece in pieces(order, "audio"):
            await socket.send(piece)
    elif "base64" in order:
        for piece in pieces(order, "base64"):
            audio = base64.b64encode(piece).decode()
            await socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": audio}))
    elif "fragments" in order:
        await socket.send(order["fragments"])
    elif "raw" in order:
        socket.transport.write(bytes.fromhex(order["raw"]))


def read(loop, lines):
    while True:
        line = sys.stdin.readline()
        loop.call_soon_threadsafe(lines.put_nowait, line)
        if not line:
            return


async def send(socket):
    loop = asyncio.get_running_loop()
    # A thread that reads ends with the program.
    lines = asyncio.Queue()
    threading.Thread(target=read, args=(loop, lines), daemon=True).start()
    while line := await lines.get():
        try:
            await obey(socket, json.loads(line))
        except websockets.ConnectionClosed:
            return
    await socket.close()


async def converse(url, fields):
    fields = dict(field.split(": ", 1) for field in fields)
    offered = fields.pop("Sec-WebSocket-Protocol", None)
    options = {"max_size": None, "extra_headers": fields, "subprotocols": offered and offered.split(", ")}
    if url.startswith("unix:"):
        session = websockets.unix_connect(url[5:], uri="ws://localhost/v1/realtime", **options)
    else:
        session = websockets.connect(url, **options)
    async with session as socket:
        asyncio.create_task(send(socket))
        try:
            async for message in socket:
                print(message, flush=True)
        except websockets.ConnectionClosed:
            pass
        print(json.dumps({"closed": socket.close_code, "reason": socket.close_reason}), flush=True)


try:
    asyncio.run(converse(sys.argv[1], sys.argv[2:]))
except websockets.InvalidStatusCode as error:
    print(json.dumps({"refused": error.status_code}), flush=True)
