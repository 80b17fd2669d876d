"""How soon a single reader sees the first words of a translation, against the time of all of it."""

from pathlib import Path

from harness import clients
from harness.context import interleaved, median, spread
from harness.models import TRANSLATION, count_lines
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 3, "seconds": None}
FULL = {"repeats": 10, "seconds": None}
TEXTS = Path(__file__).resolve().parents[1] / "data/sentences-30-words.txt"
CASE = "Bergamot en-pt"
ROUNDS = 5


def run(context):
    server = start_millrace(context, "millrace-first-word")
    texts = count_lines(TEXTS)

    def one_after_another(method):
        outputs = context.out / f"first-word-{method}.outputs"
        result = clients.require_all_ok(clients.loadgen(context, server, method, TRANSLATION, texts=TEXTS, concurrency=1,
                                                        count=ROUNDS * texts, outputs=outputs))
        return result, clients.read_outputs(outputs)

    def trial(_):
        streamed, stream_texts = one_after_another("stream-translate")
        whole, whole_texts = one_after_another("translate")
        if stream_texts != whole_texts:
            raise clients.LoadFailed("StreamTranslate and Translate gave different texts")
        return {"first_ms": streamed["stream"]["first_text_ms"]["p50"], "end_ms": streamed["statuses"]["OK"]["latency_ms"]["p50"],
                "whole_ms": whole["statuses"]["OK"]["latency_ms"]["p50"]}

    trial(CASE)   # warm
    trials = interleaved(context, [CASE], trial)
    results = trials[CASE]
    share = median(results, "first_ms") / median(results, "whole_ms")
    return Result(
        title="Time to the first words of a translation",
        about=f"{texts} sentences of about 30 words, one call at a time on an idle server: StreamTranslate with `partial`, from sending the "
              "text to the first words and to the end, and Translate. Medians of all calls of a trial, by millrace_loadgen.",
        columns=["model", "first words ms", "lowest-highest", "end of the stream ms", "Translate ms", "first of Translate"],
        rows=[[CASE, f"{median(results, 'first_ms'):.2f}", spread(results, "first_ms"), f"{median(results, 'end_ms'):.2f}",
               f"{median(results, 'whole_ms'):.2f}", f"{share:.2f}"]],
        bars=[Bar("first words of a sentence of 30 words, of the time of the whole", f"{share:.2f}", "<= 0.3", share <= 0.3)],
        plots=[],
        trials=trials)
