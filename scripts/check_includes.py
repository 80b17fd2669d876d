#!/usr/bin/env python3
"""Fails when a folder of C++ includes one that stands above it or beside it. The folders are listed below, lowest first; each may include
those of lines before its own, and headers that are generated. Kinds of models, which models/kinds.inc lists, share a line, as do front ends,
which server/frontends/frontends.inc lists. Given a folder, looks at the checkout there."""

import re
import sys
from pathlib import Path

# A line is a layer. Folders of one layer do not know each other. A new folder needs its place here.
LAYERS = """
mps_runtime/base
mps_runtime
mps_runtime/backend/cpu mps_runtime/backend/cuda mps_runtime/backend/mps mps_runtime/calibration mps_runtime/probe
mps_runtime/backend mps_runtime/selftest
models/core
models/audio models/config models/kernels models/text
models/text/chinese models/text/japanese models/text/english models/text/multilingual models/weights
models/seq2seq/aten models/speech models/translation/markup models/translation/search
models/speech/markup models/translation models/speech/cuda
models/kokoro/cuda models/seq2seq/cuda
KINDS
models
models/repository
models/probe
server/logging server/metrics server/net
server/crashes server/tracing
server/tracing/otlp
server/config server/documents server/json server/rpc server/security server/sockets
server/http2 server/reference
server/client server/http
server/websocket
server/scheduling
server/executors
server/limits
server/requests
server/control
server/calibrate server/frontends/grpc server/frontends/http
server/frontends
FRONTENDS server/frontends/openapi server/frontends/prometheus
server
""".split("\n")[1:-1]
# Words above that stand for the folders of a list, in the folder of that list.
LISTS = {"KINDS": "models/kinds.inc", "FRONTENDS": "server/frontends/frontends.inc"}
LISTED = re.compile(r"^MILLRACE_(?:MODEL_KIND|FRONTEND)\((\w+)\)$", re.MULTILINE)
SOURCE = {".h", ".cc", ".inl", ".mm", ".cu"}
INCLUDE = re.compile(r'\s*#\s*include\s+"((?:models|mps_runtime|server)/[^"]+)"')


def places(root: Path) -> dict[str, int]:
    """The number of each folder's layer. A list that is not there has no folders."""
    listed = {word: [f"{Path(name).parent}/{folder}" for folder in LISTED.findall((root / name).read_text())] if (root / name).exists() else []
              for word, name in LISTS.items()}
    return {folder: place for place, layer in enumerate(LAYERS) for word in layer.split() for folder in listed.get(word, [word])}


def unlisted(folder: str) -> str:
    """Which list may lack a folder without a place."""
    above = Path(folder).parent
    return "".join(f", and no line in {name}" for name in LISTS.values() if Path(name).parent == above)


def find_cycle(edges: dict[str, set[str]]) -> list[str]:
    """Folders each of which includes the next, the last the first; empty where there are none."""
    path: list[str] = []
    done: set[str] = set()

    def visit(folder: str) -> list[str]:
        if folder in path:
            return path[path.index(folder):]
        if folder in done:
            return []
        path.append(folder)
        for other in sorted(edges.get(folder, ())):
            if found := visit(other):
                return found
        path.pop()
        done.add(folder)
        return []

    for folder in sorted(edges):
        if found := visit(folder):
            return found
    return []


def check(root: Path) -> list[str]:
    """What is wrong, a line each."""
    wrong: list[str] = []
    place = places(root)
    edges: dict[str, set[str]] = {}
    includes: dict[tuple[str, str], list[str]] = {}
    sources = sorted(path for top in ("mps_runtime", "models", "server") for path in (root / top).rglob("*") if path.suffix in SOURCE)
    if not sources:
        return [f"{root}: no sources in mps_runtime/, models/ or server/"]
    for path in sources:
        name = path.relative_to(root)
        folder = str(name.parent)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            other = str(Path(match[1]).parent)
            if other == folder:
                continue
            for known in (folder, other):
                if known not in place:
                    wrong.append(f"{name}:{number}: {known} has no place in the layers of scripts/check_includes.py{unlisted(known)}")
            edges.setdefault(folder, set()).add(other)
            includes.setdefault((folder, other), []).append(f'{name}:{number}: includes "{match[1]}"')
            if place.get(other, -1) >= place.get(folder, len(LAYERS)):
                wrong.append(f"{includes[folder, other][-1]}: {folder} stands not above {other}")
    if cycle := find_cycle(edges):
        wrong.append(f"a circle of folders: {' -> '.join([*cycle, cycle[0]])}")
        for folder, other in zip(cycle, [*cycle[1:], cycle[0]]):
            wrong += [f"  {include}" for include in includes[folder, other]]
    return wrong


if __name__ == "__main__":
    found = check(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
