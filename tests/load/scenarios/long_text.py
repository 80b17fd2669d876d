"""A chapter of a book in one StreamSynthesize: does the resident size stay where it is, also when the reader pauses?"""

import statistics
import time

from harness import machine, plots
from harness.context import interleaved, median
from harness.levels import by_share, level
from harness.long_text import chapter
from harness.models import KOKORO, SPEECH
from harness.processes import start_millrace
from harness.report import Bar, Result
from harness.speech_stream import read_stream

SHORT = {"repeats": 1, "seconds": None}
FULL = {"repeats": 1, "seconds": None}
CHARACTERS = {"Piper": 100_000, "Piper, pausing reader": 25_000, "Kokoro": 10_000}
SHORT_SHARE = 0.2
SAMPLE_S = 0.1
DEADLINE_S = 3600
FLAGS = ("--max-request-time", "1h")  # by default a request may take five minutes, pauses included
PAUSES = 5
PAUSE_S = 12.0  # until the buffers are full, some seconds, the server goes on
PARKED_S = 3.0  # the end of a pause
# Of the text: a sentence costs what it costs, so a level is the median of what was sampled around a place.
PLACES = {"tenth": (0.05, 0.15), "half": (0.45, 0.55), "end": (0.9, 1.0)}
MOST_GROWTH = 0.05
MOST_IDLE_CPU = 0.05


class PausingReader:
    """Stops reading at even distances; measures the server's CPU time at the end of each pause."""

    def __init__(self, pid):
        self._pid = pid
        self._next = 1
        self.cpu_s = 0.0

    def __call__(self, share):
        if self._next > PAUSES or share < self._next / (PAUSES + 1):
            return
        self._next += 1
        # To pause is what this reader is for. The server's CPU time is only looked at when what lies between has had time to fill.
        time.sleep(PAUSE_S - PARKED_S)
        before = machine.cpu_seconds(self._pid)
        time.sleep(PARKED_S)
        self.cpu_s += machine.cpu_seconds(self._pid) - before

    @property
    def cores(self):
        return self.cpu_s / (PAUSES * PARKED_S)


def run(context):
    size = 1 if context.args.full else SHORT_SHARE

    def trial(case):
        model = KOKORO if case == "Kokoro" else SPEECH
        text = chapter(int(CHARACTERS[case] * size))
        server = start_millrace(context, f"millrace-long-text-{case.replace(', ', '-').replace(' ', '-')}", *FLAGS)
        try:
            read_stream(server, model, chapter(1000, seed=2), DEADLINE_S, lambda _: None)  # warm
            reader = PausingReader(server.pid) if "pausing" in case else None
            shares = []
            with machine.ResidentSampler(server.pid, SAMPLE_S) as sampler:
                start = time.monotonic()

                def after_message(share):
                    shares.append((time.monotonic() - start, share))
                    if reader:
                        reader(share)

                result = read_stream(server, model, text, DEADLINE_S, after_message)
            server.check_alive()
            return result | {"characters": len(text), "idle_cores": reader and reader.cores,
                             "samples": by_share(sampler.samples, shares)}
        finally:
            context.stop(server)

    trials = interleaved(context, list(CHARACTERS), trial)
    levels = {case: {place: statistics.median(level(r["samples"], *PLACES[place]) for r in results) for place in PLACES}
              for case, results in trials.items()}
    growth = {case: at["end"] / at["tenth"] - 1 for case, at in levels.items()}
    idle = median(trials["Piper, pausing reader"], "idle_cores")
    plot = context.plot("long-text.png")
    plots.lines(plot, "Resident size while a long text is spoken", "share of the text", "MiB",
                {case: results[0]["samples"] for case, results in trials.items()})
    return Result(
        title="A long text in one stream",
        about="One StreamSynthesize of a text as long as a chapter (sentences of 2 to 40 words by `tests/load/harness/long_text.py`), a fresh "
              f"daemon with `--max-request-time 1h` for each, read as fast as it comes; the pausing reader stops {PAUSES} times for {PAUSE_S:g} s, in which its job is "
              f"parked. The resident size is sampled every {SAMPLE_S} s; a level is the median around that place of the text.",
        columns=["voice", "characters", "first audio ms", "audio s", "audio-s/s", "MiB after 10 %", "50 %", "100 %", "growth from 10 %", "largest sample MiB"],
        rows=[[case, f"{r[0]['characters']:,}", f"{median(r, 'first_s') * 1e3:.0f}", f"{median(r, 'audio_s'):,.0f}",
               f"{statistics.median(x['audio_s'] / x['wall_s'] for x in r):.1f}", *(f"{mib:.0f}" for mib in levels[case].values()),
               f"{growth[case]:+.1%}", f"{max(mib for x in r for _, mib in x['samples']):.0f}"] for case, r in trials.items()],
        bars=[*(Bar(f"{case}: resident size at the end, of that after a tenth", f"{growth[case]:+.1%}", f"<= {MOST_GROWTH:+.0%}",
                    growth[case] <= MOST_GROWTH) for case in trials),
              Bar(f"CPU of the server in the last {PARKED_S:g} s of a pause", f"{idle:.3f} cores", f"<= {MOST_IDLE_CPU}", idle <= MOST_IDLE_CPU)],
        plots=[(plot.name, "Resident size against the share of the text that was spoken")],
        trials=trials)
