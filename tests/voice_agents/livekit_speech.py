"""Lets LiveKit's plug-ins speak. Runs in LiveKit's environment (.tools/livekit-venv), not in that of the tests.

usage: livekit_speech.py GRPC_ADDRESS HTTP_ADDRESS     prints JSON: seconds of audio and errors by plug-in and manner"""

import asyncio
import json
import sys

import aiohttp
from livekit.plugins import elevenlabs, nvidia, openai

WORDS = "This turn comes word by word. It has two sentences.".split()


async def seconds(stream):
    total = 0.0
    async with stream:
        async for event in stream:
            total += event.frame.samples_per_channel / event.frame.sample_rate
    return total


def turn(tts):
    stream = tts.stream()
    for word in WORDS:
        stream.push_text(word + " ")
    stream.end_input()
    return stream


async def main(grpc, http):
    async with aiohttp.ClientSession() as session:
        base = f"http://{http}/v1"
        voices = {
            "openai, its default model": openai.TTS(base_url=base, api_key="unused"),
            "openai, tts-1": openai.TTS(model="tts-1", voice="alloy", base_url=base, api_key="unused"),
            "nvidia": nvidia.TTS(server=grpc, use_ssl=False),
            "elevenlabs": elevenlabs.TTS(api_key="unused", base_url=base, voice_id="joe", model="piper-en-us-joe", http_session=session),
        }
        spoken = {}
        for name, tts in voices.items():
            spoken[f"{name}, text"] = {"seconds": await seconds(tts.synthesize("Good morning. The train is late today.")), "errors": []}
            if tts.capabilities.streaming:
                spoken[f"{name}, turn"] = {"seconds": await seconds(turn(tts)), "errors": []}
        print(json.dumps(spoken))


asyncio.run(main(*sys.argv[1:]))
