#!/usr/bin/env python3
"""Fails when one class, struct, union or enum is defined twice in a namespace: linked into one binary, two of different layout would be
taken for each other without a word from the linker. Those of unnamed namespaces and of functions are each file's own. Given files, looks
at these; else at all sources that git knows. Needs Universal Ctags."""

import collections
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CTAGS = ["ctags", "--quiet", "--options=NONE", "-L", "-", "--languages=C++", "--langmap=C++:.h.cc.mm.cu", "--kinds-C++=csug", "--fields=NFnKZps",
         "--output-format=json", "-f", "-"]

files = sys.argv[1:]
if not files:
    listed = subprocess.run(["git", "ls-files", "*.h", "*.cc", "*.mm", "*.cu"], cwd=ROOT, check=True, capture_output=True, text=True)
    files = [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
try:
    index = subprocess.run(CTAGS, cwd=ROOT, check=True, capture_output=True, text=True, input="\n".join(files))
except (FileNotFoundError, subprocess.CalledProcessError) as error:
    sys.exit(f"Universal Ctags is missing: run make deps ({error})")

places = collections.defaultdict(set)
for line in index.stdout.splitlines():
    tag = json.loads(line)
    scope = tag.get("scope", "")
    # Ctags names what has no name __anon and a number.
    if tag["_type"] == "tag" and tag.get("scopeKind") != "function" and "__anon" not in scope and "__anon" not in tag["name"]:
        places[scope, tag["name"]].add(f"{tag['path']}:{tag['line']}")
if not places:
    sys.exit("Ctags found no class in any file")
twice = [f"{min(at)}: {scope}::{name} is defined also in {', '.join(sorted(at)[1:])}" for (scope, name), at in sorted(places.items()) if len(at) > 1]
print("\n".join(twice), end="\n" if twice else "")
sys.exit(bool(twice))
