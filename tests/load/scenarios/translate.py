"""Translation: what batching makes of concurrent sentences."""

from harness import clients, plots
from harness.context import interleaved, median, spread
from harness.models import TRANSLATION, TRANSLATION_TEXTS, count_lines
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
CONCURRENCY = (1, 2, 4, 8, 16, 32)
PASSES = 2  # over the sentences; at 32 concurrent one pass would be mostly its own beginning and end


def run(context):
    server = start_millrace(context, "millrace-translate")
    count = count_lines(TRANSLATION_TEXTS)

    def trial(case):
        outputs = context.out / "translate.outputs"
        result = clients.require_all_ok(clients.loadgen(
            context, server, "translate", TRANSLATION, texts=TRANSLATION_TEXTS, concurrency=int(case.removeprefix("c=")),
            count=PASSES * count, deadline_ms=60000, outputs=outputs))
        latency = result["statuses"]["OK"]["latency_ms"]
        return {"rate": result["ok"] / result["wall_seconds"], "p50_ms": latency["p50"], "p99_ms": latency["p99"],
                "cpu_ms": result["server_cpu_seconds"] / result["ok"] * 1e3,
                "outputs": {str(i): text for i, (_, text) in clients.read_outputs(outputs).items()}}

    trial("c=32")  # warm
    trials = interleaved(context, [f"c={c}" for c in CONCURRENCY], trial)
    reference = trials["c=1"][0]["outputs"]
    differ = {case: max(sum(r["outputs"].get(i) != text for i, text in reference.items()) for r in results)
              for case, results in trials.items()}
    base = median(trials["c=1"], "rate")
    gain = median(trials["c=32"], "rate") / base
    plot = context.plot("translate.png")
    plots.lines(plot, "Bergamot en-pt, one sentence per call", "concurrent calls", "sentences/s",
                {"": [(c, median(trials[f"c={c}"], "rate")) for c in CONCURRENCY]}, x_ticks=CONCURRENCY)
    return Result(
        title="Translation: what batching gives",
        about=f"{count} distinct English texts, one per Translate call, {PASSES} passes in each trial, closed loop by "
              "millrace_loadgen; the daemon with its defaults.",
        columns=["concurrent", "sentences/s", "lowest-highest", "of c=1", "p50 ms", "p99 ms", "server CPU ms/sentence", "texts that differ from c=1"],
        rows=[[c, f"{median(trials[f'c={c}'], 'rate'):.1f}", spread(trials[f"c={c}"], "rate"),
               f"{median(trials[f'c={c}'], 'rate') / base:.2f}", f"{median(trials[f'c={c}'], 'p50_ms'):.1f}",
               f"{median(trials[f'c={c}'], 'p99_ms'):.1f}", f"{median(trials[f'c={c}'], 'cpu_ms'):.2f}", differ[f"c={c}"]]
              for c in CONCURRENCY],
        bars=[Bar("sentences/s at 32 concurrent, of 1 concurrent", f"{gain:.2f}x", ">= 3x", gain >= 3),
              Bar("texts whose translation differs from one-by-one, any concurrency", str(max(differ.values())), "0",
                  not any(differ.values()))],
        plots=[(plot.name, "Sentences per second over concurrent calls")],
        trials={case: [{k: v for k, v in r.items() if k != "outputs"} for r in rs] for case, rs in trials.items()})
