#!/usr/bin/env python3
"""Heat map of a safety profile: which operator and model survived how many threads at once.

Usage: plot_calibration.py PROFILE.json PLOT.png     (needs matplotlib)"""

import json
import sys
from pathlib import Path

# Worst first: a cell shows the worst of its runs.
FAILURES = ("crash", "hang", "wrong", "error")
COLOURS = {"ok": "#4daf7c", "few": "#b9dfc8", "crash": "#c0392b", "hang": "#8e44ad", "wrong": "#e67e22", "error": "#f1c40f", "": "#eeeeee"}
MEANINGS = {"ok": "survived", "few": "survived fewer runs", "crash": "crash", "hang": "hang", "wrong": "wrong output", "error": "error"}


def outcome(run, repeats):
    """Kind and label of a cell."""
    total = sum(run[kind] for kind in ("ok", *FAILURES))
    for kind in FAILURES:
        if run[kind]:
            return kind, f"{kind}\n{run[kind]}/{total}"
    return ("ok" if run["ok"] >= repeats else "few"), f"ok\n{run['ok']}"


def table(profile):
    """Row labels, numbers of threads, {(row, threads): (kind, label)}."""
    items = [("operator", item) for item in profile["operators"]] + [("model", item) for item in profile["models"]]
    labels = [f"{kind} {item['name']}  (safe: {item['safe_concurrency'] or 'none'})" for kind, item in items]
    cells = {(row, run["threads"]): outcome(run, profile["repeats"]) for row, (_, item) in enumerate(items) for run in item["runs"]}
    return labels, sorted({threads for _, threads in cells}), cells


def plot(profile, path):
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot_calibration.py: this Python has no matplotlib; `.venv/bin/python -m pip install matplotlib` gets it")
    matplotlib.use("Agg")
    from matplotlib import patches, pyplot
    labels, threads, cells = table(profile)
    width, height, legend = 4.2 + 0.62 * len(threads), 1.7 + 0.42 * len(labels), 0.3   # inches
    figure, axes = pyplot.subplots(figsize=(width, height), dpi=100)
    for row in range(len(labels)):
        for column, count in enumerate(threads):
            kind, label = cells.get((row, count), ("", ""))
            axes.add_patch(patches.Rectangle((column, row), 1, 1, facecolor=COLOURS[kind], edgecolor="white", linewidth=1.5))
            axes.text(column + 0.5, row + 0.5, label, ha="center", va="center", fontsize=6.5,
                      color="white" if kind in ("crash", "hang") else "black")
    axes.set(xlim=(0, len(threads)), ylim=(len(labels), 0), xlabel="threads at once")
    axes.set_xticks([column + 0.5 for column in range(len(threads))], [str(count) for count in threads])
    axes.set_yticks([row + 0.5 for row in range(len(labels))], labels, fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    key, repeats = profile["key"], profile["repeats"]
    axes.set_title(f"{key['device_name']} ({key['backend']}), {key['os']} {key['machine']}\n"
                   f"libtorch {key['libtorch_version']}, {repeats} run{'s' if repeats > 1 else ''} to survive", fontsize=9)
    kinds = [kind for kind in MEANINGS if any(shown == kind for shown, _ in cells.values())]
    figure.legend(handles=[patches.Patch(color=COLOURS[kind], label=MEANINGS[kind]) for kind in kinds],
                  loc="lower left", ncol=len(kinds), fontsize=7, frameon=False)
    figure.tight_layout(rect=(0, legend / height, 1, 1))
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    plot(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
