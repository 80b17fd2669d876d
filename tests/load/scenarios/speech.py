"""Piper with two workers in parallel against one mutex around the forward."""

from harness import clients, plots
from harness.context import interleaved, median, spread
from harness.models import SPEECH, SPEECH_TEXTS, count_lines
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
CONCURRENCY = 4
CASES = {
    "parallel": ("--workers", "2", "--mode", "parallel", "--max-in-flight", "2", "--intra-op-threads", "1"),
    "serial": ("--workers", "2", "--mode", "serial", "--intra-op-threads", "1"),
    "serial, 2 threads": ("--workers", "2", "--mode", "serial", "--intra-op-threads", "2"),
}


def file_name(case):
    return case.replace(", ", "-").replace(" ", "-")


def run(context):
    servers = {case: start_millrace(context, f"millrace-speech-{file_name(case)}", *flags) for case, flags in CASES.items()}
    texts = count_lines(SPEECH_TEXTS)

    def trial(case):
        outputs = context.out / f"speech-{file_name(case)}.outputs"
        result = clients.require_all_ok(clients.loadgen(
            context, servers[case], "synthesize", SPEECH, texts=SPEECH_TEXTS, concurrency=CONCURRENCY, count=texts,
            deadline_ms=120000, outputs=outputs))
        hashes = {str(i): h for i, (h, _) in clients.read_outputs(outputs).items()}
        return {"audio_rate": result["audio_seconds"] / result["wall_seconds"], "audio_seconds": result["audio_seconds"],
                "cpu_per_audio_s": result["server_cpu_seconds"] / result["audio_seconds"],
                "p50_ms": result["statuses"]["OK"]["latency_ms"]["p50"], "hashes": hashes}

    for case in CASES:
        trial(case)  # warm
    trials = interleaved(context, list(CASES), trial)
    reference = trials["serial"][0]["hashes"]

    def differing(case):
        return max(sum(r["hashes"][i] != reference[i] for i in reference) for r in trials[case])

    base = median(trials["serial"], "audio_rate")
    gain = median(trials["parallel"], "audio_rate") / base
    wrong = differing("parallel") + differing("serial")
    plot = context.plot("speech.png")
    plots.bars(plot, f"Piper, {CONCURRENCY} concurrent texts of mixed length", "seconds of audio per second", list(CASES),
               {"": [median(trials[case], "audio_rate") for case in CASES]})
    return Result(
        title="Speech: workers in parallel against one mutex",
        about=f"{texts} texts of 1 to 60 words through Synthesize, {CONCURRENCY} at a time, fixed seed, by millrace_loadgen. "
              "`parallel` runs two forwards at once on one thread each; `serial` has the same two workers and one mutex around the "
              "forward, with one thread in it or two.",
        columns=["mode", "audio-s/s", "lowest-highest", "of serial", "p50 s per text", "server CPU s per audio-s", "texts that differ from serial"],
        rows=[[case, f"{median(trials[case], 'audio_rate'):.1f}", spread(trials[case], "audio_rate"),
               f"{median(trials[case], 'audio_rate') / base:.2f}", f"{median(trials[case], 'p50_ms') / 1e3:.2f}",
               f"{median(trials[case], 'cpu_per_audio_s'):.4f}", differing(case)] for case in CASES],
        bars=[Bar("audio seconds per second of two workers in parallel, of serial", f"{gain:.2f}x", ">= 1.8x", gain >= 1.8),
              Bar("texts whose audio differs between parallel and serial, over all repeats", str(wrong), "0", wrong == 0)],
        notes=["With two threads inside one forward, sums are added in another order, so that its samples may differ in the last bit."],
        plots=[(plot.name, "Audio seconds per second by mode")],
        trials={case: [{k: v for k, v in r.items() if k != "hashes"} for r in rs] for case, rs in trials.items()})
