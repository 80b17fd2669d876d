"""Results as JSON, as Markdown between markers in docs/benchmarks, and as plots."""

import json
from dataclasses import asdict, dataclass, field

NOISY_ABOVE = 0.05


@dataclass
class Bar:
    """A goal with what was measured. `met` may be None: measured without a goal."""
    what: str
    measured: str
    goal: str
    met: bool | None


@dataclass
class Result:
    title: str
    about: str            # a paragraph: what is measured and how
    columns: list
    rows: list            # of lists of strings
    bars: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    plots: list = field(default_factory=list)  # (file name, alternative text)
    trials: dict = field(default_factory=dict)
    # Filled in by the command line.
    command: str = ""
    machine: str = ""
    date: str = ""
    others: float = 0.0   # largest share of the CPU that others used during a trial
    others_median: float = 0.0
    full: bool = False


def save(result, path):
    path.write_text(json.dumps(asdict(result), indent=1, default=str) + "\n")


def load(path):
    data = json.loads(path.read_text())
    data["bars"] = [Bar(**bar) for bar in data["bars"]]
    return Result(**data)


def _row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _table(columns, rows):
    return [_row(columns), _row(["---"] * len(columns)), *map(_row, rows)]


def noise_line(result):
    quiet = result.others <= NOISY_ABOVE
    return (f"{'Quiet' if quiet else '**Noisy**'} machine: other processes used {result.others_median:.0%} of the CPU during "
            f"the median trial, {result.others:.0%} during the worst.")


def markdown(result, plot_folder):
    lines = [f"## {result.title}", "", result.about, "", *_table(result.columns, result.rows), ""]
    if result.bars:
        verdict = {True: "met", False: "**not met**", None: ""}
        lines += _table(["Goal", "Measured", "Limit", ""],
                        [[bar.what, bar.measured, bar.goal, verdict[bar.met]] for bar in result.bars]) + [""]
    lines += [f"- {note}" for note in result.notes] + ([""] if result.notes else [])
    lines += [f"![{text}]({plot_folder}/{name})" for name, text in result.plots] + ([""] if result.plots else [])
    lines += [f"Reproduce: `{result.command}`. {result.date}, {result.machine}. {noise_line(result)}"]
    return "\n".join(lines)


def publish(result, name, folder, plot_folder):
    """Puts the section between its markers, which one of the pages in `folder` must have."""
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    for page in sorted(folder.glob("*.md")):
        text = page.read_text()
        if begin in text and end in text:
            head, rest = text.split(begin, 1)
            _, tail = rest.split(end, 1)
            page.write_text(f"{head}{begin}\n{markdown(result, plot_folder)}\n{end}{tail}")
            return
    raise SystemExit(f"{folder}: no page has the markers {begin} and {end}")
