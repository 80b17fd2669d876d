"""Lets Pipecat's services speak. Runs in Pipecat's environment (.tools/pipecat-venv), not in that of the tests.

usage: pipecat_speech.py GRPC_ADDRESS HTTP_ADDRESS     prints JSON: seconds of audio and errors by service and manner"""

import asyncio
import json
import sys

from loguru import logger
from pipecat.frames.frames import (ErrorFrame, LLMFullResponseEndFrame, LLMFullResponseStartFrame, LLMTextFrame, TTSAudioRawFrame,
                                   TTSSpeakFrame)
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.services.nvidia.tts import NvidiaTTSService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.tests.utils import run_test

WORDS = "This turn comes word by word. It has two sentences.".split()
MANNERS = {"text": [TTSSpeakFrame("Good morning. The train is late today.")],
           "turn": [LLMFullResponseStartFrame(), *(LLMTextFrame(word + " ") for word in WORDS), LLMFullResponseEndFrame()]}


def services(grpc, http):
    return {
        "nvidia": lambda: NvidiaTTSService(server=grpc, use_ssl=False),
        "openai": lambda: OpenAITTSService(api_key="unused", base_url=f"http://{http}/v1",
                                           settings=OpenAITTSService.Settings(voice="alloy", model="tts-1")),
        "elevenlabs": lambda: ElevenLabsTTSService(api_key="unused", url=f"ws://{http}",
                                                   settings=ElevenLabsTTSService.Settings(voice="joe", model="piper-en-us-joe")),
    }


async def speak(service, frames):
    down, up = await run_test(service, frames_to_send=frames)
    audio = [frame for frame in down if isinstance(frame, TTSAudioRawFrame)]
    return {"seconds": sum(len(frame.audio) / 2 / frame.sample_rate for frame in audio),
            "errors": [frame.error for frame in (*down, *up) if isinstance(frame, ErrorFrame)]}


async def main(grpc, http):
    print(json.dumps({f"{name}, {manner}": await speak(make(), frames)
                      for name, make in services(grpc, http).items() for manner, frames in MANNERS.items()}))


logger.remove()
asyncio.run(main(*sys.argv[1:]))
