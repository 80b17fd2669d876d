"""The demo models and the texts they are given."""

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]

SPEECH = "piper-en-us-joe"
KOKORO = "kokoro-82m"
SPEECH_TEXTS = _ROOT / "tests/load/data/speech-en.txt"
TRANSLATION = "bergamot-en-pt"
TRANSLATION_BACK = "bergamot-pt-en"
TRANSLATION_TEXTS = _ROOT / "tests/data/translation/en.txt"
TRANSLATION_BACK_TEXTS = _ROOT / "tests/data/translation/pt.txt"


def count_lines(path):
    return sum(1 for line in path.read_text().splitlines() if line)


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
