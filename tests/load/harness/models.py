"""The demo models and the texts they are given."""

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]

SPEECH = "piper-en-us-joe"
KOKORO = "kokoro-82m"
FLOAT32, INT8 = "float32", "int8"   # the precisions of voices
SPEECH_TEXTS = _ROOT / "tests/load/data/speech-en.txt"
TRANSLATION = "bergamot-en-pt"
TRANSLATION_BACK = "bergamot-pt-en"
TRANSLATION_TEXTS = _ROOT / "tests/data/translation/en.txt"
TRANSLATION_BACK_TEXTS = _ROOT / "tests/data/translation/pt.txt"


def count_lines(path):
    return sum(1 for line in path.read_text().splitlines() if line)


def link_voice(model, precision, folder):
    """Adds a voice's package in a precision of its own, whose other files are those of the original, to a repository."""
    # The converters need numpy, which whoever only lists the scenarios may lack.
    sys.path.insert(0, str(_ROOT))
    from models.convert.voice_precision import with_fields

    made = folder / f"{model.name}-{precision}" / "1"
    made.mkdir(parents=True)
    for file in (model / "1").iterdir():
        if file.name == "model.pbtxt":
            (made / file.name).write_text(with_fields(file.read_text(), f"  precision: PRECISION_{precision.upper()}\n"))
        elif not file.name.startswith("packed-"):
            os.link(file, made / file.name)


def write_distinct_sentences(path, count):
    """English sentences, none twice: those of TRANSLATION_TEXTS, then the same behind one opening after another."""
    openings = ["", "Yesterday we heard this: ", "In the end she said: ", "As the paper wrote, ", "On the other hand, ", "They told us that "]
    lines = list(dict.fromkeys(line for line in TRANSLATION_TEXTS.read_text().splitlines() if line))
    sentences = [opening + line for opening in openings for line in lines]
    if len(sentences) < count:
        raise ValueError(f"{count} sentences asked for, {len(sentences)} are there")
    path.write_text("\n".join(sentences[:count]) + "\n")


def write_paragraphs(path, sentences):
    """The sentences of TRANSLATION_TEXTS, so many on each line."""
    lines = [line for line in TRANSLATION_TEXTS.read_text().splitlines() if line]
    path.write_text("".join(" ".join(lines[i:i + sentences]) + "\n" for i in range(0, len(lines) - sentences + 1, sentences)))
