#!/usr/bin/env python3
"""Fails when a comment begins with a word that makes it a fragment, such as "Of the model." or "What it costs.": a comment is a sentence
with a subject. Looks at comments of C++ and .proto files that begin a block or stand behind code; the latter may begin with a small letter,
and are refused as fragments then, too, such as "int rows;  // of the model".

Usage: check_comments.py [ROOT]     exit status 1 when there is such a comment"""

import re
import sys
from pathlib import Path

FOLDERS = ("server", "models", "mps_runtime", "proto", "tests")
SUFFIXES = {".h", ".cc", ".inl", ".inc", ".mm", ".cu", ".proto"}
FRAGMENT = re.compile(r"\s*(?:Of|That|Those|Whether|What|Whoever|Who)\b")
FRAGMENT_BEHIND_CODE = re.compile(r"\s*(?:of|that|those|whether|what|whoever|who|whose|which)\b")
# A literal, or a comment up to the end of its line.
TOKEN = re.compile(r"""'(?:\\.|[^'\\])'|"(?:\\.|[^"\\])*"|//(.*)""")


def comment_of(line: str) -> tuple[int, str] | None:
    """The column and the text of a comment; // in a literal is none."""
    for token in TOKEN.finditer(line):
        if token[1] is not None:
            return token.start(), token[1]
    return None


def check(root: Path) -> list[str]:
    """What is wrong, a line each."""
    sources = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)
    if not sources:
        return [f"{root}: no sources in {', '.join(FOLDERS)}"]
    wrong: list[str] = []
    for path in sources:
        block = None  # the column of the comment on the line before
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = comment_of(line)
            column, text = found or (None, "")
            goes_on = column == block and line.lstrip().startswith("//")
            behind_code = not line.lstrip().startswith("//")
            if not goes_on and (FRAGMENT.match(text) or (behind_code and FRAGMENT_BEHIND_CODE.match(text))):
                wrong.append(f"{path.relative_to(root)}:{number}: begins without a subject: {text.strip()}")
            block = column
    return wrong


if __name__ == "__main__":
    found = check(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
