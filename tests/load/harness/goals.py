"""The tables of goals in BENCHMARKS.md and on top of docs/benchmarks/*.md, checked against the sections that they link to."""

import re

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?")
COLUMNS = 6  # goal, limit, measured, verdict, machine and date, details


def sections(page):
    """{anchor: text} of the second-level sections of a Markdown page, with anchors as GitHub writes them."""
    parts = page.split("\n## ")[1:]
    return {re.sub(r"[^\w\- ]", "", part.split("\n", 1)[0].strip().lower()).replace(" ", "-"): part for part in parts}


def unsupported(page):
    """Each figure and date of a goal, as (goal, figure), that the linked section does not have. `page` is the path of a page; links may lead
    to sections of other pages. "same" is the link of the row above; rows without a link to a section are not checked."""
    found, section = [], None
    for line in page.read_text().split("\n"):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != COLUMNS or cells[0] in ("Goal", "---"):
            continue
        link = re.search(r"\(([^#)]*)#([^)]+)\)", cells[5])
        if link:
            target = page.parent / link[1] if link[1] else page
            section = sections(target.read_text()).get(link[2], "")
        elif cells[5] != "same":
            section = None
        if section is None:
            continue
        known = set(NUMBER.findall(section))
        found += [(cells[0], figure) for figure in NUMBER.findall(cells[2]) if figure not in known]
        found += [(cells[0], date) for date in re.findall(r"\d{4}-\d\d-\d\d", cells[4]) if date not in section]
    return found
