"""How soon a single reader sees the first words of a translation, against the time of all of it."""

from pathlib import Path

from harness import clients, opus
from harness.context import interleaved, median, spread
from harness.models import TRANSLATION, count_lines
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 3, "seconds": None}
FULL = {"repeats": 10, "seconds": None}
TEXTS = Path(__file__).resolve().parents[1] / "data/sentences-30-words.txt"
BERGAMOT = "Bergamot en-pt"
# Name: precision. Its weights are random, so that the length of a translation is forced.
OPUS = {f"the shape of OPUS-MT-base, {precision}": precision for precision in ("float32", "int8")}
OPUS_TOKENS = 40
GOAL = 0.3
ROUNDS = {BERGAMOT: 5}   # of all texts in a trial; else 1


def run(context):
    bergamot = start_millrace(context, "millrace-first-word")
    packages = opus.prepare(context).packages
    opus_of = {precision: start_millrace(context, f"millrace-first-word-{precision}", "--models", str(packages[precision]))
               for precision in OPUS.values()}
    texts = count_lines(TEXTS)
    lengths = context.out / "first-word.lengths"
    lengths.write_text(f"{OPUS_TOKENS}\n" * texts)

    def one_after_another(case, method):
        outputs = context.out / f"first-word-{method}.outputs"
        server, model, forced = (opus_of[OPUS[case]], opus.NAME, lengths) if case in OPUS else (bergamot, TRANSLATION, None)
        result = clients.require_all_ok(clients.loadgen(context, server, method, model, texts=TEXTS, target_tokens=forced, concurrency=1,
                                                        count=ROUNDS.get(case, 1) * texts, deadline_ms=60000, outputs=outputs))
        return result, clients.read_outputs(outputs)

    def trial(case):
        streamed, stream_texts = one_after_another(case, "stream-translate")
        whole, whole_texts = one_after_another(case, "translate")
        if stream_texts != whole_texts:
            raise clients.LoadFailed(f"{case}: StreamTranslate and Translate gave different texts")
        return {"first_ms": streamed["stream"]["first_text_ms"]["p50"], "end_ms": streamed["statuses"]["OK"]["latency_ms"]["p50"],
                "whole_ms": whole["statuses"]["OK"]["latency_ms"]["p50"]}

    cases = [BERGAMOT, *OPUS]
    for case in cases:
        trial(case)   # warm
    trials = interleaved(context, cases, trial)
    shares = {case: median(results, "first_ms") / median(results, "whole_ms") for case, results in trials.items()}
    return Result(
        title="Time to the first words of a translation",
        about=f"{texts} sentences of about 30 words, one call at a time on an idle server: StreamTranslate with `partial`, from sending the "
              "text to the first words and to the end, and Translate. Medians of all calls of a trial, by millrace_loadgen. The shape of "
              f"OPUS-MT-base is that of opus-peers, with random weights; its translations have {OPUS_TOKENS} tokens.",
        columns=["model", "first words ms", "lowest-highest", "end of the stream ms", "Translate ms", "first of Translate"],
        rows=[[case, f"{median(results, 'first_ms'):.2f}", spread(results, "first_ms"), f"{median(results, 'end_ms'):.2f}",
               f"{median(results, 'whole_ms'):.2f}", f"{shares[case]:.2f}"] for case, results in trials.items()],
        bars=[Bar(f"{case}: first words of a sentence of 30 words, of the time of the whole", f"{share:.2f}", f"<= {GOAL}", share <= GOAL)
              for case, share in shares.items()],
        notes=["The encoder has read the whole sentence before the first word comes. Bergamot's multiplies 6.3 million weights for each token, and "
               "its decoder 2.4 million."],
        plots=[],
        trials=trials)
