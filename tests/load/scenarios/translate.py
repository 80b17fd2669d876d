"""Translation: what batching makes of concurrent sentences, and what waiting ones cost."""

from harness import clients, machine, plots
from harness.context import interleaved, median, spread
from harness.models import TRANSLATION, write_distinct_sentences
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
CONCURRENCY = (1, 2, 4, 8, 16, 32, 64, 128)
SENTENCES = 1000
HALF_LOAD_S = 8
# Calls in flight whose memory is compared: more than are translated at once, so that the difference waits.
FEW, MANY = 100, 300
SAMPLE_S = 0.02


def run(context):
    server = start_millrace(context, "millrace-translate", "--queue-size", str(2 * MANY))
    texts = context.out / "sentences.txt"
    write_distinct_sentences(texts, SENTENCES)

    def load(**how):
        return clients.require_all_ok(clients.loadgen(context, server, "translate", TRANSLATION, texts=texts, deadline_ms=60000, **how))

    def trial(case):
        outputs = context.out / "translate.outputs"
        result = load(concurrency=int(case.removeprefix("c=")), count=SENTENCES, outputs=outputs)
        latency = result["statuses"]["OK"]["latency_ms"]
        return {"rate": result["ok"] / result["wall_seconds"], "p50_ms": latency["p50"], "p99_ms": latency["p99"],
                "cpu_ms": result["server_cpu_seconds"] / result["ok"] * 1e3,
                "outputs": {str(i): text for i, (_, text) in clients.read_outputs(outputs).items()}}

    def half_load(rate):
        result = load(rate=rate, seconds=HALF_LOAD_S)
        latency = result["statuses"]["OK"]["latency_ms"]
        return {"p50_ms": latency["p50"], "p99_ms": latency["p99"], "rate": rate}

    def peak_mib(concurrency):
        with machine.ResidentSampler(server.pid, SAMPLE_S) as sampler:
            load(concurrency=concurrency, count=2 * SENTENCES)
        return max(mib for _, mib in sampler.samples)

    trial("c=32")  # warm
    trials = interleaved(context, [f"c={c}" for c in CONCURRENCY], trial)
    rates = {c: median(trials[f"c={c}"], "rate") for c in CONCURRENCY}
    half = interleaved(context, ["half load"], lambda _: half_load(max(rates.values()) / 2))["half load"]
    few = peak_mib(FEW)
    waiting_mib = (peak_mib(MANY) - few) / (MANY - FEW) * 100

    reference = trials["c=1"][0]["outputs"]
    differ = {case: max(sum(r["outputs"].get(i) != text for i, text in reference.items()) for r in results)
              for case, results in trials.items()}
    gain = rates[32] / rates[1]
    best, dip = 0, 0
    for rate in rates.values():
        best = max(best, rate)
        dip = max(dip, 1 - rate / best)
    tail = median(half, "p99_ms") / median(half, "p50_ms")
    plot = context.plot("translate.png")
    plots.lines(plot, "Bergamot en-pt, one sentence per call", "concurrent calls", "sentences/s", {"": list(rates.items())},
                x_ticks=CONCURRENCY)
    return Result(
        title="Translation: what batching gives",
        about=f"{SENTENCES} distinct English sentences, one per Translate call, closed loop by millrace_loadgen on the same cores; the daemon with "
              f"its defaults, but for a queue of {2 * MANY}. Then calls at half the greatest rate for {HALF_LOAD_S} s, not waiting for answers. Then "
              f"the daemon's greatest resident size with {MANY} calls in flight, against {FEW}.",
        columns=["concurrent", "sentences/s", "lowest-highest", "of c=1", "p50 ms", "p99 ms", "server CPU ms/sentence", "texts that differ from c=1"],
        rows=[[c, f"{rates[c]:.1f}", spread(trials[f"c={c}"], "rate"), f"{rates[c] / rates[1]:.2f}",
               f"{median(trials[f'c={c}'], 'p50_ms'):.1f}", f"{median(trials[f'c={c}'], 'p99_ms'):.1f}",
               f"{median(trials[f'c={c}'], 'cpu_ms'):.2f}", differ[f"c={c}"]] for c in CONCURRENCY],
        bars=[Bar("sentences/s at 32 concurrent, of 1 concurrent", f"{gain:.2f}x", ">= 3x", gain >= 3),
              Bar("deepest dip of sentences/s as calls become more", f"{dip:.1%}", "<= 5 %", dip <= 0.05),
              Bar(f"p99 of p50 at half load ({median(half, 'rate'):.0f} calls/s: {median(half, 'p50_ms'):.1f} ms, {median(half, 'p99_ms'):.1f} ms)",
                  f"{tail:.1f}x", "<= 4x", tail <= 4),
              Bar("memory of 100 waiting calls", f"{waiting_mib:.1f} MiB", "<= 10 MB", waiting_mib <= 9.5),
              Bar("texts whose translation differs from one-by-one, any concurrency", str(max(differ.values())), "0",
                  not any(differ.values()))],
        notes=["The sentences are of different lengths, which alone puts the p99 of one call at a time at "
               f"{median(trials['c=1'], 'p99_ms') / median(trials['c=1'], 'p50_ms'):.1f}x of its p50."],
        plots=[(plot.name, "Sentences per second over concurrent calls")],
        trials={case: [{k: v for k, v in r.items() if k != "outputs"} for r in rs] for case, rs in {**trials, "half load": half}.items()})
