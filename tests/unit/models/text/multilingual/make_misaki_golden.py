#!/usr/bin/env python3
"""What misaki makes of the sentences in tests/data/text/multilingual.txt, for multilingual_golden_test.cc.

Each of their lines is a language, a tab and a sentence; with a third column, that is what misaki is asked in place of the sentence, where
it would cut a time or an abbreviation in two or leave out a stop. Needs the packages misaki and phonemizer and the library of espeak-ng,
whose version is the first line of what it writes.

Usage: make_misaki_golden.py OUTPUT"""

import ctypes.util
import re
import subprocess
import sys
import types
from pathlib import Path

SENTENCES = Path(__file__).resolve().parents[4] / "data/text/multilingual.txt"
LANGUAGES = {"es": "es", "fr-FR": "fr-fr", "hi": "hi", "it": "it", "pt-BR": "pt-br"}

about = subprocess.run(["espeak-ng", "--version"], check=True, capture_output=True, text=True).stdout
version, data = re.search(r"text-to-speech: (\S+).*Data at: (.*)", about).groups()
# misaki would take a copy of espeak-ng from this package; the installed one is what the daemon runs.
installed = types.ModuleType("espeakng_loader")
installed.get_library_path = lambda: ctypes.util.find_library("espeak-ng")
installed.get_data_path = lambda: data.strip()
sys.modules["espeakng_loader"] = installed

from misaki.espeak import EspeakG2P  # noqa: E402


def main(output):
    readers = {tag: EspeakG2P(voice) for tag, voice in LANGUAGES.items()}
    with open(output, "w") as file:
        file.write(f"espeak-ng {version}\n")
        for line in SENTENCES.read_text().splitlines():
            tag, sentence, *asked = line.split("\t")
            phonemes, _ = readers[tag](asked[0] if asked else sentence)
            # espeak-ng 1.51 has no IPA for the flap of Hindi and gives its own name of it, whose dot would be a pause.
            phonemes = re.sub(r"r\.(?=\S)", "ɽ", phonemes)
            file.write(f"{tag}\t{sentence}\t{phonemes}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
