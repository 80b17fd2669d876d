"""Kokoro and Piper against onnxruntime on the original files."""

import json
import os
import sys
from pathlib import Path

from harness import clients, plots
from harness.context import interleaved, median, spread
from harness.models import KOKORO, SPEECH, SPEECH_TEXTS, count_lines
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": None}
FULL = {"repeats": 3, "seconds": None}
PEER = Path(__file__).resolve().parents[1] / "peers/onnx_speech.py"
CONCURRENCY = 4
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
VOICES = {"Kokoro": (KOKORO, "kokoro", 2.5), "Piper": (SPEECH, "piper", 1.3)}
# Name: sessions, threads of each.
PEERS = {f"onnxruntime, {CORES} sessions of a thread": (CORES, 1), f"onnxruntime, a session of {CORES} threads": (1, CORES)}
ALONE = "onnxruntime, 1 session of a thread"


def run(context):
    server = start_millrace(context, "millrace-peers", "--workers", str(CORES), "--intra-op-threads", "1")
    texts = count_lines(SPEECH_TEXTS)

    def millrace(model, concurrency):
        result = clients.require_all_ok(clients.loadgen(
            context, server, "synthesize", model, texts=SPEECH_TEXTS, concurrency=concurrency, count=texts, deadline_ms=600000))
        return {"audio_rate": result["audio_seconds"] / result["wall_seconds"],
                "cpu_per_audio_s": result["server_cpu_seconds"] / result["audio_seconds"]}

    def peer(voice, sessions, threads):
        out = clients.run(context.server_command([sys.executable, str(PEER), voice, str(SPEECH_TEXTS), "--sessions", str(sessions),
                                                  "--threads", str(threads)]), 900)
        result = json.loads(out)
        return {"audio_rate": result["audio_seconds"] / result["wall_seconds"],
                "cpu_per_audio_s": result["cpu_seconds"] / result["audio_seconds"]}

    def trial(case):
        name, what = case.split(": ")
        model, voice, _ = VOICES[name]
        if what.startswith("millrace"):
            return millrace(model, CONCURRENCY if what == f"millrace, {CONCURRENCY} at once" else 1)
        return peer(voice, *{**PEERS, ALONE: (1, 1)}[what])

    kinds = [f"millrace, {CONCURRENCY} at once", *PEERS, "millrace, 1 at once", ALONE]
    for model, _, _ in VOICES.values():
        millrace(model, CONCURRENCY)   # warm
    trials = interleaved(context, [f"{name}: {kind}" for name in VOICES for kind in kinds], trial)
    rates = {case: median(results, "audio_rate") for case, results in trials.items()}

    def gain(name):
        return rates[f"{name}: {kinds[0]}"] / max(rates[f"{name}: {peer}"] for peer in PEERS)

    def gain_alone(name):
        return rates[f"{name}: millrace, 1 at once"] / rates[f"{name}: {ALONE}"]

    plot = context.plot("speech-peers.png")
    plots.bars(plot, "Seconds of audio per second", "audio-s/s", [kind.replace(", ", "\n").replace(" of ", "\nof ") for kind in kinds], {name: [rates[f"{name}: {kind}"] for kind in kinds] for name in VOICES})
    bars = []
    for name, (_, _, goal) in VOICES.items():
        bars.append(Bar(f"{name}: audio-s/s with {CONCURRENCY} at once, of onnxruntime's better case", f"{gain(name):.2f}x", f">= {goal}x", gain(name) >= goal))
        bars.append(Bar(f"{name}: audio-s/s of one request on one thread, of onnxruntime's", f"{gain_alone(name):.2f}x", ">= 1x", gain_alone(name) >= 1))
    return Result(
        title="Speech against onnxruntime",
        about=f"The same {texts} texts of 1 to 60 words: to the daemon as text, by millrace_loadgen through Synthesize; to onnxruntime as "
              "phonemes that were made before, without a server (tests/load/peers/onnx_speech.py), on the files from which the demo models "
              "are converted: Kokoro-82M in int8, Piper in float32. The daemon computes in float32, or with three bfloat16 products "
              "for one of float32 on a processor with a matrix unit (amx).",
        columns=["voice", "runtime", "audio-s/s", "lowest-highest", "CPU s per audio-s"],
        rows=[[*case.split(": "), f"{rates[case]:.2f}", spread(results, "audio_rate"), f"{median(results, 'cpu_per_audio_s'):.3f}"]
              for case, results in trials.items()],
        bars=bars,
        plots=[(plot.name, "Seconds of audio per second")],
        trials=trials)
