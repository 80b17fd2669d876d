"""What int8 saves the voices by instruction set, beside onnxruntime, in CPU time, which other programs hardly disturb."""

import json
import os
import shutil
import sys
from pathlib import Path

from harness import clients, machine
from harness.context import interleaved, median, spread
from harness.models import FLOAT32, INT8, KOKORO, SPEECH, SPEECH_TEXTS, count_lines, link_voice
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 3, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
ONNX_SPEECH = Path(__file__).resolve().parents[1] / "peers/onnx_speech.py"
CONCURRENCY = 4
VOICES = {"Kokoro": (KOKORO, "kokoro"), "Piper": (SPEECH, "piper")}
ONNX = "onnxruntime"
# The daemon's --cpu-isa: the flag of /proc/cpuinfo, whether int8 runs there, and the goal for the better precision, of onnxruntime.
SETS = {"avx2": ("avx2", False, 2.0), "avxvnni": ("avx_vnni", True, 2.5), "avx512": ("avx512_vnni", True, 3.0),
        "amx": ("amx_int8", True, 4.5)}
LEAST_GAIN = 1.2   # for which PRECISION_AUTO is int8


def run(context):
    folder = context.out / "speech-int8"
    shutil.rmtree(folder, ignore_errors=True)
    has = machine.cpu_flags()
    precisions = {isa: (FLOAT32, INT8) if int8 else (FLOAT32,) for isa, (flag, int8, _) in SETS.items() if flag in has}
    for model, _ in VOICES.values():
        link_voice(context.models / model, FLOAT32, folder / FLOAT32)
        for precision in (FLOAT32, INT8):
            link_voice(context.models / model, precision, folder / INT8)
    cores = len(os.sched_getaffinity(0))
    servers = {isa: start_millrace(context, f"millrace-{isa}", "--models", str(folder / available[-1]), "--workers", str(cores), "--intra-op-threads",
                                   "1", "--keep-packed-weights", "false", "--cpu-isa", isa) for isa, available in precisions.items()}
    texts = count_lines(SPEECH_TEXTS)

    def trial(case):
        name, kind = case.split(": ")
        model, peer = VOICES[name]
        if kind == ONNX:
            result = json.loads(clients.run(context.server_command(
                [sys.executable, str(ONNX_SPEECH), peer, str(SPEECH_TEXTS), "--sessions", str(cores), "--threads", "1"]), 1800))
            return {"cpu_per_audio_s": result["cpu_seconds"] / result["audio_seconds"]}
        isa, precision = kind.split(", ")
        result = clients.require_all_ok(clients.loadgen(
            context, servers[isa], "synthesize", f"{model}-{precision}", texts=SPEECH_TEXTS, concurrency=CONCURRENCY, count=texts, deadline_ms=600000))
        return {"cpu_per_audio_s": result["server_cpu_seconds"] / result["audio_seconds"]}

    cases = [f"{name}: {kind}" for name in VOICES
             for kind in (ONNX, *(f"{isa}, {precision}" for isa, available in precisions.items() for precision in available))]
    for case in cases:
        if ONNX not in case:
            trial(case)   # warm
    trials = interleaved(context, cases, trial)
    cost = {case: median(results, "cpu_per_audio_s") for case, results in trials.items()}

    bars = []
    for name in VOICES:
        for isa, available in precisions.items():
            ours = {precision: cost[f"{name}: {isa}, {precision}"] for precision in available}
            if INT8 in ours:
                gain = ours[FLOAT32] / ours[INT8]
                bars.append(Bar(f"{name}, {isa}: CPU time in float32, of that in int8", f"{gain:.2f}x", f">= {LEAST_GAIN}x", gain >= LEAST_GAIN))
            of_peer, goal = cost[f"{name}: {ONNX}"] / min(ours.values()), SETS[isa][2]
            bars.append(Bar(f"{name}, {isa}: CPU time of onnxruntime, of the lesser of ours", f"{of_peer:.2f}x", f">= {goal}x", of_peer >= goal))
    rows = []
    for case, results in trials.items():
        name, kind = case.split(": ")
        of_peer = cost[f"{name}: {ONNX}"] / cost[case]
        rows.append([name, kind, f"{cost[case]:.3f}", spread(results, "cpu_per_audio_s"), f"{of_peer:.2f}x"])
    return Result(
        title="Voices in int8 by instruction set",
        about=f"CPU time of the server for a second of audio, of {texts} texts of 1 to 60 words, {CONCURRENCY} at once, by millrace_loadgen through "
              "Synthesize: a daemon for each instruction set, which has each voice in float32 and, where there are dot products of int8, in int8. "
              f"onnxruntime speaks the same texts as phonemes in {cores} sessions of a thread on the files from which the demo models are converted: "
              "Kokoro-82M in int8, Piper in float32. It cannot be limited and uses all that the processor has.",
        columns=["voice", "runtime", "CPU s per audio-s", "lowest-highest", "onnxruntime's, of it"],
        rows=rows,
        bars=bars, trials=trials)
