#!/usr/bin/env python3
"""CPU time that two builds of the daemon take for the same texts in each precision of a voice, in turns, and whether their sounds differ.

usage: compare_speech.py BASE/millrace NEW/millrace [--voice kokoro-82m] [--cpu-isa avx2] [--precision float32] [--repeats 5] [--texts 8]
"""

import argparse
import array
import json
import statistics
import sys
import tempfile
import urllib.request
from pathlib import Path

from harness import instruction_sets
from harness.models import FLOAT32, INT8, KOKORO, SPEECH, SPEECH_TEXTS, link_voice
from harness.two_builds import cpu_in_turns, start_both

ROOT = Path(__file__).resolve().parents[2]
RATES = {KOKORO: 24000, SPEECH: 22050}


def speak(server, model, text):
    """The samples of a text, 16 bits each."""
    body = json.dumps({"model": model, "input": text, "response_format": "pcm"}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{server.ports['http']}/v1/audio/speech", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return array.array("h", response.read())


def greatest_difference(sounds):
    """The greatest difference of two builds' samples; infinite where lengths differ."""
    if [len(sound) for sound in sounds[0]] != [len(sound) for sound in sounds[1]]:
        return float("inf")
    return max(abs(a - b) for one, other in zip(*sounds, strict=True) for a, b in zip(one, other, strict=True))


def compare(servers, model, rate, texts, repeats):
    sounds = [[speak(server, model, text) for text in texts] for server in servers]
    taken = cpu_in_turns(servers, lambda server: [speak(server, model, text) for text in texts], repeats)
    seconds = sum(map(len, sounds[0])) / rate
    base, new = (f"{statistics.median(one) / seconds:.4f}" for one in taken)
    ratios = sorted(after / before for before, after in zip(*taken, strict=True))
    print(f"{model}: {seconds:.0f} s of audio, {base} and {new} s of CPU for one; ratio {statistics.median(ratios):.3f} ({ratios[0]:.3f}-{ratios[-1]:.3f}); "
          f"samples differ by at most {greatest_difference(sounds)} of 32768", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", nargs=2, type=Path)
    parser.add_argument("--voice", choices=RATES, action="append")
    parser.add_argument("--precision", choices=(FLOAT32, INT8), action="append")
    parser.add_argument("--cpu-isa", choices=instruction_sets.VARIABLES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--texts", type=int, default=8, help=f"how many of {SPEECH_TEXTS.name}, evenly taken")
    parser.add_argument("--models", type=Path, default=ROOT / "var/models")
    arguments = parser.parse_args()
    voices, precisions = arguments.voice or list(RATES), arguments.precision or [FLOAT32, INT8]
    texts = [line for line in SPEECH_TEXTS.read_text().splitlines() if line]
    texts = texts[::max(len(texts) // arguments.texts, 1)][:arguments.texts]
    # Beside the models, whose files are linked.
    with tempfile.TemporaryDirectory(prefix="compare-", dir=ROOT / "var") as models:
        for voice in voices:
            for precision in precisions:
                link_voice(arguments.models / voice, precision, Path(models))
        flags = ["--models", models, "--workers", "1", "--intra-op-threads", "1", "--keep-packed-weights", "false"]
        if arguments.cpu_isa:
            flags += ["--cpu-isa", arguments.cpu_isa]
        with start_both(arguments.binaries, flags) as servers:
            for voice in voices:
                for precision in precisions:
                    compare(servers, f"{voice}-{precision}", RATES[voice], texts, arguments.repeats)


if __name__ == "__main__":
    sys.exit(main())
