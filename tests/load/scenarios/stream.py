"""Streamed speech as a listener hears it: the first sound, gaps between pieces, silence in between."""

from harness import clients, plots
from harness.context import interleaved, median, spread
from harness.models import SPEECH, SPEECH_TEXTS, count_lines
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
CONCURRENCY = (1, 2, 4)


def run(context):
    server = start_millrace(context, "millrace-stream")
    texts = count_lines(SPEECH_TEXTS)

    def trial(case):
        result = clients.require_all_ok(clients.loadgen(
            context, server, "stream-synthesize", SPEECH, texts=SPEECH_TEXTS, concurrency=int(case.removeprefix("c=")),
            count=2 * texts, deadline_ms=120000))
        stream = result["stream"]
        return {"first_p50": stream["first_audio_ms"]["p50"], "first_p95": stream["first_audio_ms"]["p95"],
                "gap_p50": stream["gap_ms"]["p50"], "gap_max": stream["gap_ms"]["max"], "underruns": stream["underruns"],
                "streams_with_underrun": stream["streams_with_underrun"], "stalled_s": stream["stalled_seconds"],
                "audio_rate": result["audio_seconds"] / result["wall_seconds"]}

    trial("c=4")  # warm
    trials = interleaved(context, [f"c={c}" for c in CONCURRENCY], trial)
    plot = context.plot("stream.png")
    plots.bars(plot, "Time to first audio", "ms", [f"c={c}" for c in CONCURRENCY],
               {name: [median(trials[f"c={c}"], field) for c in CONCURRENCY] for name, field in (("p50", "first_p50"), ("p95", "first_p95"))})
    underruns = sum(r["underruns"] for results in trials.values() for r in results)
    return Result(
        title="Streamed speech: time to first audio",
        about=f"{2 * texts} StreamSynthesize calls in each trial over texts of 1 to 60 words, by millrace_loadgen, each stream "
              "listened to as a player would: it starts with the first piece, and a piece that comes after all before it has been "
              "played is an underrun.",
        columns=["concurrent", "first audio p50 ms", "lowest-highest", "p95 ms", "gap p50 ms", "largest gap ms", "underruns", "silence s", "audio-s/s"],
        rows=[[c, f"{median(r, 'first_p50'):.0f}", spread(r, "first_p50"), f"{median(r, 'first_p95'):.0f}", f"{median(r, 'gap_p50'):.1f}",
               f"{max(x['gap_max'] for x in r):.0f}", f"{sum(x['underruns'] for x in r):.0f}", f"{sum(x['stalled_s'] for x in r):.2f}",
               f"{median(r, 'audio_rate'):.1f}"] for c in CONCURRENCY for r in [trials[f"c={c}"]]],
        bars=[Bar("underruns in all trials", f"{underruns:.0f}", "", None)],
        plots=[(plot.name, "Time to first audio by concurrent streams")],
        trials=trials)
