#!/usr/bin/env python3
"""Table and plot of what millrace_scaling printed: forwards a second against threads, for each mode.

Usage: plot_scaling.py LINES.jsonl PLOT.png"""

import json
import statistics
import sys
from pathlib import Path

MODES = ("serial", "encode-lock", "eager", "cached", "serial-host", "eager-host", "cached-host")


def medians(lines):
    """{model: {mode: {threads: forwards a second}}}, medians over the repeats."""
    samples = {}
    for line in filter(None, map(str.strip, lines)):
        r = json.loads(line)
        samples.setdefault(r["model"], {}).setdefault(r["mode"], {}).setdefault(r["threads"], []).append(r["forwards_per_s"])
    return {model: {mode: {threads: statistics.median(rates) for threads, rates in by_threads.items()}
                    for mode, by_threads in modes.items()} for model, modes in samples.items()}


def table(results):
    threads = sorted(next(iter(next(iter(results.values())).values())))
    rows = ["| model | mode | " + " | ".join(f"{n} threads" if n > 1 else "1 thread" for n in threads) + " |",
            "| --- | --- |" + " --- |" * len(threads)]
    for model, modes in results.items():
        rows += [f"| {model} | {mode} | " + " | ".join(f"{modes[mode][n]:,.0f}" for n in threads) + " |"
                 for mode in MODES if mode in modes]
    return "\n".join(rows)


def plot(results, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, panels = pyplot.subplots(1, len(results), figsize=(3.6 * len(results), 3.4), dpi=100)
    for axes, (model, modes) in zip(panels, results.items(), strict=True):
        threads = sorted(modes["cached"])
        axes.plot(threads, [n * modes["cached"][threads[0]] for n in threads], ":", color="grey", label="cached, ideal")
        for mode in (mode for mode in MODES if mode in modes):
            axes.plot(threads, [modes[mode][n] for n in threads], marker="o", markersize=3, label=mode)
        axes.set(title=model, xlabel="threads", xscale="log", yscale="log", xticks=threads)
        axes.set_xticks(threads, [str(n) for n in threads])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("forwards/s")
    panels[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results = medians(Path(sys.argv[1]).read_text().splitlines())
    print(table(results))
    plot(results, sys.argv[2])
