"""How soon a single reader sees the first words of a translation, against the time of all of it."""

import statistics
from pathlib import Path

from harness.context import interleaved, median, spread
from harness.models import TRANSLATION
from harness.processes import start_millrace
from harness.report import Bar, Result
from harness.translation_stream import first_words

SHORT = {"repeats": 3, "seconds": None}
FULL = {"repeats": 10, "seconds": None}
TEXTS = Path(__file__).resolve().parents[1] / "data/sentences-30-words.txt"
CASE = "Bergamot en-pt"


def run(context):
    server = start_millrace(context, "millrace-first-word")
    texts = TEXTS.read_text().splitlines()

    def trial(_):
        first, end, whole = (statistics.median(column) * 1e3 for column in zip(*first_words(server, TRANSLATION, texts, 60)))
        return {"first_ms": first, "end_ms": end, "whole_ms": whole}

    trial(CASE)   # warm
    trials = interleaved(context, [CASE], trial)
    results = trials[CASE]
    share = median(results, "first_ms") / median(results, "whole_ms")
    return Result(
        title="Time to the first words of a translation",
        about=f"{len(texts)} sentences of about 30 words, one call at a time on an idle server: StreamTranslate with `partial`, from sending the "
              "text to the first message and to the last, and Translate. Medians of the sentences in each trial, by a client in Python.",
        columns=["model", "first words ms", "lowest-highest", "end of the stream ms", "Translate ms", "first of Translate"],
        rows=[[CASE, f"{median(results, 'first_ms'):.2f}", spread(results, "first_ms"), f"{median(results, 'end_ms'):.2f}",
               f"{median(results, 'whole_ms'):.2f}", f"{share:.2f}"]],
        bars=[Bar("first words of a sentence of 30 words, of the time of the whole", f"{share:.2f}", "<= 0.3", share <= 0.3)],
        plots=[],
        trials=trials)
