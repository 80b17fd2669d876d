"""How soon a single reader sees the first words of a translation, against the time of all of it."""

import statistics
from pathlib import Path

from harness import opus
from harness.context import interleaved, median, spread
from harness.models import TRANSLATION
from harness.processes import start_millrace
from harness.report import Bar, Result
from harness.translation_stream import first_words

SHORT = {"repeats": 3, "seconds": None}
FULL = {"repeats": 10, "seconds": None}
TEXTS = Path(__file__).resolve().parents[1] / "data/sentences-30-words.txt"
BERGAMOT = "Bergamot en-pt"
# Name: precision. Its weights are random, so that the length of a translation is forced.
OPUS = {f"the shape of OPUS-MT-base, {precision}": precision for precision in ("float32", "int8")}
OPUS_TOKENS = 40
GOAL = 0.3


def run(context):
    bergamot = start_millrace(context, "millrace-first-word")
    packages = opus.prepare(context).packages
    opus_of = {precision: start_millrace(context, f"millrace-first-word-{precision}", "--models", str(packages[precision]))
               for precision in OPUS.values()}
    texts = TEXTS.read_text().splitlines()

    def trial(case):
        times = first_words(opus_of[OPUS[case]], opus.NAME, texts, 60, OPUS_TOKENS) if case in OPUS else first_words(bergamot, TRANSLATION, texts, 60)
        first, end, whole = (statistics.median(column) * 1e3 for column in zip(*times))
        return {"first_ms": first, "end_ms": end, "whole_ms": whole}

    cases = [BERGAMOT, *OPUS]
    for case in cases:
        trial(case)   # warm
    trials = interleaved(context, cases, trial)
    shares = {case: median(results, "first_ms") / median(results, "whole_ms") for case, results in trials.items()}
    return Result(
        title="Time to the first words of a translation",
        about=f"{len(texts)} sentences of about 30 words, one call at a time on an idle server: StreamTranslate with `partial`, from sending the "
              "text to the first message and to the last, and Translate. Medians of the sentences in each trial, by a client in Python. The shape of "
              f"OPUS-MT-base is that of opus-peers, with random weights; its translations have {OPUS_TOKENS} tokens.",
        columns=["model", "first words ms", "lowest-highest", "end of the stream ms", "Translate ms", "first of Translate"],
        rows=[[case, f"{median(results, 'first_ms'):.2f}", spread(results, "first_ms"), f"{median(results, 'end_ms'):.2f}",
               f"{median(results, 'whole_ms'):.2f}", f"{shares[case]:.2f}"] for case, results in trials.items()],
        bars=[Bar(f"{case}: first words of a sentence of 30 words, of the time of the whole", f"{share:.2f}", f"<= {GOAL}", share <= GOAL)
              for case, share in shares.items()],
        plots=[],
        trials=trials)
