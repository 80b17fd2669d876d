#!/usr/bin/env python3
"""Draws the figures of the README's plot, each beside its peers, from data/main_figures.json.

Usage: plot_main_figures.py PLOT.png     (needs matplotlib)

A figure is written as docs/benchmarks prints it, so that `missing` can look it up in the section that it names."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BENCHMARKS = FOLDER.parents[1] / "docs" / "benchmarks"
MACHINE = "2 cores of an Intel Xeon with AMX, 2026-11-22 to 2026-12-01; peers in their better case, with at most as many requests at work"
OURS, PEER = "#2a7f9e", "#b8bec4"


def panels():
    return json.loads((FOLDER / "data" / "main_figures.json").read_text())


def pages():
    """The text of all pages with measurements."""
    return "\n".join(page.read_text() for page in sorted(BENCHMARKS.glob("*.md")))


def sections(page):
    """{heading: text} of the second-level sections of a Markdown page."""
    return {part.split("\n", 1)[0].strip(): part for part in page.split("\n## ")[1:]}


def missing(drawn, page):
    """Each figure that its section does not contain as a cell of a table, as (section, figure)."""
    text = sections(page)
    return [(panel["section"], figure) for panel in drawn for _, figure in panel["bars"]
            if f"| {figure} |" not in text.get(panel["section"], "")]


def plot(drawn, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, rows = pyplot.subplots(len(drawn), 1, figsize=(7.6, 6.4), dpi=110,
                                   height_ratios=[len(panel["bars"]) + 1.3 for panel in drawn])
    for axes, panel in zip(rows, drawn, strict=True):
        names, figures = zip(*panel["bars"])
        values = [float(value.replace(",", "")) for value in figures]
        axes.barh(range(len(values)), values, 0.74, color=[OURS if name.startswith("Millrace") else PEER for name in names])
        for place, (value, printed) in enumerate(zip(values, figures)):
            axes.text(value + max(values) * 0.012, place, printed, va="center", fontsize=8)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.set_xlim(0, max(values) * 1.12)
        axes.invert_yaxis()
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        axes.set_title(f"{panel['title']}: {panel['unit']}", fontsize=9, loc="left", fontweight="bold")
    figure.text(0.995, 0.006, MACHINE, fontsize=7.5, color="grey", ha="right")
    figure.tight_layout(h_pad=0.9, rect=(0, 0.02, 1, 1))
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    plot(panels(), Path(sys.argv[1]))
