"""Kokoro and Piper against onnxruntime on the original files, and against the packages that they come from."""

import json
import os
import sys
from pathlib import Path

from harness import clients, peers, plots
from harness.context import interleaved, median, spread
from harness.models import KOKORO, SPEECH, SPEECH_TEXTS, count_lines
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": None}
FULL = {"repeats": 3, "seconds": None}
SCRIPTS = Path(__file__).resolve().parents[1] / "peers"
CONCURRENCY = 4
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
VOICES = {"Kokoro": (KOKORO, "kokoro"), "Piper": (SPEECH, "piper")}
OURS, OURS_ALONE = f"millrace, {CONCURRENCY} at once", "millrace, 1 at once"
# Name: sessions, threads of each.
ONNX = {f"onnxruntime, {CORES} sessions of a thread": (CORES, 1), f"onnxruntime, a session of {CORES} threads": (1, CORES)}
ONNX_ALONE = "onnxruntime, 1 session of a thread"
# Of each voice the script, and name: its options. PiperVoice takes all cores by itself.
PACKAGES = {
    "Kokoro": ("torch_kokoro.py", {f"PyTorch package kokoro, {CORES} processes of a thread": ["--processes", str(CORES)],
                                   f"PyTorch package kokoro, a process of {CORES} threads": ["--threads", str(CORES)]}),
    "Piper": ("piper_runtime.py", {f"piper's own runtime, {CONCURRENCY} at once": ["--callers", str(CONCURRENCY)],
                                   "piper's own runtime, 1 at once": []})}
# The peer's name in a sentence, and the goal.
GOALS = {"Kokoro": (("onnxruntime's better case", ONNX, 2.5), ("the PyTorch package's better case", PACKAGES["Kokoro"][1], 1.5)),
         "Piper": (("onnxruntime's better case", ONNX, 1.3), ("piper's own runtime", PACKAGES["Piper"][1], 1.3))}


def packages_wanted(context):
    """They take gigabytes: not for a run of everything in its short version, unless they are there."""
    return context.args.full or "speech-peers" in context.args.scenarios or all(peers.installed(voice) for _, voice in VOICES.values())


def run(context):
    with_packages = packages_wanted(context)
    pythons = {name: str(peers.python(voice)) for name, (_, voice) in VOICES.items()} if with_packages else {}
    server = start_millrace(context, "millrace-peers", "--workers", str(CORES), "--intra-op-threads", "1")
    texts = count_lines(SPEECH_TEXTS)

    def millrace(model, concurrency):
        result = clients.require_all_ok(clients.loadgen(
            context, server, "synthesize", model, texts=SPEECH_TEXTS, concurrency=concurrency, count=texts, deadline_ms=600000))
        return figures(result["audio_seconds"], result["wall_seconds"], result["server_cpu_seconds"])

    def figures(audio, wall, cpu):
        return {"audio_rate": audio / wall, "cpu_per_audio_s": cpu / audio, "audio_seconds": audio}

    def peer(command):
        result = json.loads(clients.run(context.server_command(command), 1800))
        return figures(result["audio_seconds"], result["wall_seconds"], result["cpu_seconds"])

    def trial(case):
        name, what = case.split(": ")
        model, voice = VOICES[name]
        if what in (OURS, OURS_ALONE):
            return millrace(model, CONCURRENCY if what == OURS else 1)
        script, options = PACKAGES[name]
        if what in options:
            return peer([pythons[name], str(SCRIPTS / script), str(SPEECH_TEXTS), *options[what]])
        sessions, threads = {**ONNX, ONNX_ALONE: (1, 1)}[what]
        return peer([sys.executable, str(SCRIPTS / "onnx_speech.py"), voice, str(SPEECH_TEXTS), "--sessions", str(sessions),
                     "--threads", str(threads)])

    for model, _ in VOICES.values():
        millrace(model, CONCURRENCY)   # warm
    cases = [f"{name}: {kind}" for name in VOICES
             for kind in (OURS, *ONNX, *(PACKAGES[name][1] if with_packages else ()), OURS_ALONE, ONNX_ALONE)]
    trials = interleaved(context, cases, trial)
    rates = {case: median(results, "audio_rate") for case, results in trials.items()}

    def best(name, kinds):
        return max((rates[f"{name}: {kind}"] for kind in kinds if f"{name}: {kind}" in rates), default=None)

    bars = []
    for name, goals in GOALS.items():
        for whose, kinds, goal in goals:
            if theirs := best(name, kinds):
                gain = rates[f"{name}: {OURS}"] / theirs
                bars.append(Bar(f"{name}: audio-s/s with {CONCURRENCY} at once, of {whose}", f"{gain:.2f}x", f">= {goal}x", gain >= goal))
        gain = rates[f"{name}: {OURS_ALONE}"] / rates[f"{name}: {ONNX_ALONE}"]
        bars.append(Bar(f"{name}: audio-s/s of one request on one thread, of onnxruntime's", f"{gain:.2f}x", ">= 1x", gain >= 1))

    plot = context.plot("speech-peers.png")
    groups = {OURS.replace(", ", "\n"): lambda name: [OURS], "onnxruntime\nbetter case": lambda name: ONNX}
    if with_packages:
        groups["kokoro package,\npiper's runtime"] = lambda name: PACKAGES[name][1]
    groups |= {OURS_ALONE.replace(", ", "\n"): lambda name: [OURS_ALONE], "onnxruntime\n1 thread": lambda name: [ONNX_ALONE]}
    plots.bars(plot, "Seconds of audio per second", "audio-s/s", list(groups),
               {name: [best(name, kinds(name)) for kinds in groups.values()] for name in VOICES})
    return Result(
        title="Speech against its peers",
        about=f"The same {texts} texts of 1 to 60 words. To the daemon as text, by millrace_loadgen through Synthesize. To onnxruntime as "
              "phonemes that were made before, without a server (tests/load/peers/onnx_speech.py), on the files from which the demo models "
              "are converted: Kokoro-82M in int8, Piper in float32. To KModel of the PyTorch package kokoro 0.9.4 as the same phonemes, "
              "with the daemon's float32 weights and libtorch and with its weight norms folded beforehand, which makes it a little faster "
              "(torch_kokoro.py). To PiperVoice of piper-tts 1.8.0 as text, with its defaults, in process (piper_runtime.py). The daemon "
              "computes a voice in int8 where PRECISION_AUTO takes that, and else in float32, with three bfloat16 products for one of float32 "
              "on a processor with a matrix unit (amx).",
        columns=["voice", "runtime", "audio-s/s", "lowest-highest", "CPU s per audio-s", "audio s", "millrace with as many at once, of it"],
        rows=[row(case, results, rates) for case, results in trials.items()],
        bars=bars,
        notes=[*(["onnxruntime, which is piper-tts's runtime too, cannot be limited: it used the best instructions of this processor."]
                 if context.args.cpu_isa else []),
               *([] if with_packages else ["Without the packages kokoro and piper-tts, which `scripts/load.sh speech-peers` installs."])],
        plots=[(plot.name, "Seconds of audio per second")],
        trials=trials)


def row(case, results, rates):
    name, kind = case.split(": ")
    ours = OURS_ALONE if kind in (OURS_ALONE, ONNX_ALONE) or kind.endswith("1 at once") else OURS
    return [name, kind, f"{rates[case]:.2f}", spread(results, "audio_rate"), f"{median(results, 'cpu_per_audio_s'):.3f}",
            f"{median(results, 'audio_seconds'):.1f}", f"{rates[f'{name}: {ours}'] / rates[case]:.2f}x"]
