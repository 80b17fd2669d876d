"""The demo models and the texts they are given."""

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]

SPEECH = "piper-en-us-joe"
KOKORO = "kokoro-82m"
SPEECH_TEXTS = _ROOT / "tests/load/data/speech-en.txt"
TRANSLATION = "bergamot-en-pt"
TRANSLATION_BACK = "bergamot-pt-en"
TRANSLATION_TEXTS = _ROOT / "tests/data/translation/en.txt"


def count_lines(path):
    return sum(1 for line in path.read_text().splitlines() if line)
