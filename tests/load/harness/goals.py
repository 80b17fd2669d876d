"""The tables of goals on top of BENCHMARKS.md, checked against the sections that they link to."""

import re

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?")
COLUMNS = 6  # goal, limit, measured, verdict, machine and date, details


def sections(page):
    """{anchor: text} of the second-level sections of a Markdown page, with anchors as GitHub writes them."""
    parts = page.split("\n## ")[1:]
    return {re.sub(r"[^\w\- ]", "", part.split("\n", 1)[0].strip().lower()).replace(" ", "-"): part for part in parts}


def unsupported(page):
    """Each figure and date of a goal, as (goal, figure), that the linked section does not have. "same" is the link of the row above;
    rows without a link to a section are not checked."""
    text = sections(page)
    found, anchor = [], None
    for line in text["goals-at-a-glance"].split("\n"):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != COLUMNS or cells[0] in ("Goal", "---"):
            continue
        link = re.search(r"\(#([^)]+)\)", cells[5])
        if link or cells[5] != "same":
            anchor = link and link[1]
        if anchor is None:
            continue
        known = set(NUMBER.findall(text[anchor]))
        found += [(cells[0], figure) for figure in NUMBER.findall(cells[2]) if figure not in known]
        found += [(cells[0], date) for date in re.findall(r"\d{4}-\d\d-\d\d", cells[4]) if date not in text[anchor]]
    return found
