"""Speaks a text with OpenAI's client and writes it while it is made. Needs openai.

Usage: openai_speech.py [URL of the server] [KEY]
"""

import sys

from openai import OpenAI

server = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000"
client = OpenAI(base_url=f"{server}/v1", api_key=sys.argv[2] if len(sys.argv) > 2 else "unused")
with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input="The first words are heard before the last are made.", response_format="wav") as speech:
    speech.stream_to_file("speech.wav")
print("speech.wav is written")
