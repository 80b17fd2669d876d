"""Speaks a text while it is still being written, as from a language model, over ElevenLabs' WebSocket. Needs websockets.

Usage: websocket_speech.py [ws://HOST:PORT]
"""

import asyncio
import base64
import json
import sys
import wave

from websockets.asyncio.client import connect

WORDS = "This text comes word by word. What is complete is spoken at once, and the rest when it ends.".split()


async def write_text(socket):
    await socket.send(json.dumps({"text": " "}))
    for word in WORDS:
        await socket.send(json.dumps({"text": f"{word} "}))
        await asyncio.sleep(0.05)
    await socket.send(json.dumps({"text": ""}))


async def main(server):
    audio = bytearray()
    async with connect(f"{server}/v1/text-to-speech/joe/stream-input?output_format=pcm_22050") as socket:
        writing = asyncio.create_task(write_text(socket))
        async for message in socket:
            reply = json.loads(message)
            if "error" in reply:
                sys.exit(f"{reply['error']}: {reply.get('message', '')}")
            if reply.get("audio"):
                audio += base64.b64decode(reply["audio"])
                print(f"{len(audio) / 2 / 22050:.2f} s of audio, text {'written' if writing.done() else 'still being written'}")
            if reply.get("isFinal"):
                break
    with wave.open("written.wav", "wb") as out:
        out.setparams((1, 2, 22050, 0, "NONE", ""))
        out.writeframes(bytes(audio))
    print("written.wav is written")


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "ws://localhost:8000"))
