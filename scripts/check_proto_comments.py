#!/usr/bin/env python3
"""Fails when a field in proto/ has no comment of its own above it or beside it. A message whose comment says that it "mirrors" a type
needs none: that type has them."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIELD = re.compile(r"(?:repeated |optional )?(?:map<[^>]*>|[A-Za-z][\w.]*) \w+ = \d+")

MIRROR = re.compile(r"// .*\bmirrors (models|translation)::\w+")

bare = []
for path in sorted((ROOT / "proto").rglob("*.proto")):
    before = ""
    mirror_depth = 0   # of braces within a message that mirrors a type
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if mirror_depth or (text.startswith("message ") and MIRROR.match(before)):
            mirror_depth += text.count("{") - text.count("}")
        elif FIELD.match(text) and not before.startswith("//") and "//" not in text:
            bare.append(f"{path.relative_to(ROOT)}:{number}: no comment: {text}")
        before = text
print("\n".join(bare), end="\n" if bare else "")
sys.exit(bool(bare))
