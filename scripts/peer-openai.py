# SPDX-License-Identifier: Apache-2.0
"""OpenAI's own Python client against a realtime endpoint, for tests.

peer-openai.py BASE-URL FILE.wav TIMES prints a line of JSON for each utterance: its text, the text of the
deltas, and the seconds from the commit to the text. The file is of 16-bit samples in one channel; "silence"
is two seconds of it at 24 kHz.
"""

import asyncio
import base64
import json
import sys
import time
import wave

from openai import AsyncOpenAI


async def main(url, path, times):
    rate, audio = 24000, bytes(96000)
    if path != "silence":
        with wave.open(path) as file:
            rate, audio = file.getframerate(), file.readframes(file.getnframes())
    client = AsyncOpenAI(base_url=url, api_key="none")
    async with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        await connection.session.update(
            session={
                "type": "transcription",
                "audio": {
                    "input": {
                        "format": {"type": "audio/pcm", "rate": rate},
                        "transcription": {"model": "gpt-4o-transcribe", "language": "en"},
                        "turn_detection": None,
                    }
                },
            })
        for _ in range(times):
            for start in range(0, len(audio), 4096):
                piece = base64.b64encode(audio[start : start + 4096]).decode()
                await connection.input_audio_buffer.append(audio=piece)
            await connection.input_audio_buffer.commit()
            committed, deltas = time.monotonic(), ""
            async for event in connection:
                if event.type == "error":
                    raise SystemExit(event.error.message)
                if event.type == "conversation.item.input_audio_transcription.delta":
                    deltas += event.delta
                if event.type == "conversation.item.input_audio_transcription.completed":
                    break
            seconds = time.monotonic() - committed
            print(json.dumps({"text": event.transcript, "deltas": deltas, "seconds": seconds}), flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
