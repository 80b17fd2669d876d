#!/usr/bin/env python3
"""Checks that documents name what exists: files and headings that links point to, paths in code spans, and in ARCHITECTURE.md,
models/README.md and server/README.md the identifiers in code spans, which must occur in the sources.

Usage: check_document_paths.py [ROOT]     exit status 1 when something is named that does not exist"""

import re
import sys
from pathlib import Path

TOP_FOLDERS = ("cmake", "deploy", "docs", "models", "mps_runtime", "proto", "scripts", "server", "tests")
INTERNALS = ("models/README.md", "server/README.md")  # they describe the sources, as ARCHITECTURE.md does
SOURCES = (".h", ".cc", ".proto", ".py", ".inl")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(rf"(?<![\w/.-])(?:{'|'.join(TOP_FOLDERS)})/[\w./-]*\w/?")
IDENTIFIER = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+\b|\bk[A-Z]\w+\b")


def anchors(text):
    """The anchors of a page's headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def broken_links(page, text):
    for target in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file.read_text())):
            yield f"link to {target}"


def missing_paths(root, text):
    for span in CODE.findall(text):
        for path in PATH.findall(span):
            if not (root / path).exists():
                yield f"path {path}"


def words_of_sources(root):
    words = set()
    for folder in TOP_FOLDERS:
        for file in (root / folder).rglob("*"):
            if file.suffix in SOURCES:
                words.update(re.findall(r"\w+", file.read_text(errors="replace")))
    return words


def unknown_identifiers(text, words):
    for span in CODE.findall(FENCE.sub("", text)):
        yield from (f"identifier {name}" for name in IDENTIFIER.findall(span) if name not in words)


def problems(root):
    """(page, what) for everything that is named and does not exist."""
    found = []
    for page in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "deploy").rglob("*.md"),
                        *(root / page for page in INTERNALS)]):
        text = page.read_text()
        named = [*broken_links(page, text), *missing_paths(root, text)]
        if str(page.relative_to(root)) in ("ARCHITECTURE.md", *INTERNALS):
            named += unknown_identifiers(text, words_of_sources(root))
        found += [(str(page.relative_to(root)), what) for what in dict.fromkeys(named)]
    return found


if __name__ == "__main__":
    FOUND = problems(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    for page_name, missing in FOUND:
        print(f"{page_name}: {missing} does not exist", file=sys.stderr)
    sys.exit(1 if FOUND else 0)
