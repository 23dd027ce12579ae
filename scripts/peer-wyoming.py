# SPDX-License-Identifier: Apache-2.0
"""A recogniser behind the server of the package wyoming, for tests: peer-wyoming.py EAR... prints its port.

EAR is a program that hears as docs/recogniser.md says, such as utter-ear. With the name of a model that
begins with "streaming" the text comes in pieces before it is whole; another name is an error.
"""

import asyncio
import json
import sys

from wyoming.asr import Transcribe, Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioChunkConverter, AudioStop
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import AsrModel, AsrProgram, Attribution, Describe, Info
from wyoming.server import AsyncEventHandler

MAKER = Attribution(name="tests", url="http://localhost")
INFO = Info(
    asr=[
        AsrProgram(
            name="ear", attribution=MAKER, installed=True, description=None, version="1",
            supports_transcript_streaming=True,
            models=[
                AsrModel(
                    name="ear", attribution=MAKER, installed=True, description=None, version="1", languages=["en"])
            ])
    ])


async def recognise(audio):
    ear = await asyncio.create_subprocess_exec(
        *sys.argv[1:], stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    lines = [b'{"begin":{"rate":16000}}\n', json.dumps({"audio": len(audio)}).encode() + b"\n", audio]
    output, _ = await ear.communicate(b"".join(lines) + b'{"end":true}\n')
    finals = [json.loads(line).get("final") for line in output.splitlines()]
    return " ".join(text for text in finals if text)


class Handler(AsyncEventHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.audio, self.name = b"", None
        self.converter = AudioChunkConverter(rate=16000, width=2, channels=1)

    async def handle_event(self, event: Event) -> bool:
        if Describe.is_type(event.type):
            # With a payload, which no client of ours needs.
            answer = INFO.event()
            answer.payload = b"\n{}" * 40000
            await self.write_event(answer)
        elif Transcribe.is_type(event.type):
            self.name = Transcribe.from_event(event).name
        elif AudioChunk.is_type(event.type):
            self.audio += self.converter.convert(AudioChunk.from_event(event)).audio
        elif AudioStop.is_type(event.type):
            await self.answer()
        return True

    async def answer(self):
        if self.name and not self.name.startswith("streaming"):
            await self.write_event(Error(text="there is no such model", code="unknown-model").event())
            return
        text = await recognise(self.audio)
        if self.name:
            await self.write_event(TranscriptStart().event())
            for word in text.split():
                await self.write_event(TranscriptChunk(text=word + " ").event())
        if self.name != "streaming-alone":
            await self.write_event(Transcript(text=text, language="en").event())
        if self.name:
            await self.write_event(TranscriptStop().event())


async def main():
    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    # Until nobody reads what is printed.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def connect(reader, writer):
    await Handler(reader, writer).run()


asyncio.run(main())
