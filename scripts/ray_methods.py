#!/usr/bin/env python3
"""Writes the methods of the services in proto/ into deploy/ray/millrace_ray/methods.py, which must have them where it is installed without
the rest. Run after a change of a service. With --check, fails when the file is not what would be written."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
METHODS = ROOT / "deploy" / "ray" / "millrace_ray" / "methods.py"
# The daemon calls those of OpenTelemetry itself, and load reports tell of one daemon.
OTHERS = ("opentelemetry", "xds")
KINDS = {(False, False): "UNARY", (False, True): "SERVER_STREAM", (True, True): "BIDIRECTIONAL"}
SERVICE = re.compile(r"^service (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
RPC = re.compile(r"^\s*rpc (\w+)\s*\(\s*(stream\s+)?[\w.]+\s*\)\s*returns\s*\(\s*(stream\s+)?[\w.]+\s*\)", re.MULTILINE)


def served() -> dict[str, str]:
    """The kind of each method by its path."""
    methods: dict[str, str] = {}
    for file in (ROOT / "proto").rglob("*.proto"):
        text = file.read_text()
        package = re.search(r"^package (.*);", text, re.MULTILINE)[1]
        if package.startswith(OTHERS):
            continue
        for service, body in SERVICE.findall(text):
            for name, takes, returns in RPC.findall(body):
                methods[f"/{package}.{service}/{name}"] = KINDS[bool(takes), bool(returns)]
    return methods


def main() -> int:
    text = METHODS.read_text()
    table = "".join(f'    "{method}": Kind.{kind},\n' for method, kind in sorted(served().items()))
    wanted = re.sub(r"^METHODS = \{\n.*?^\}", lambda _: f"METHODS = {{\n{table}}}", text, flags=re.MULTILINE | re.DOTALL)
    if "--check" not in sys.argv[1:]:
        METHODS.write_text(wanted)
    elif text != wanted:
        print(f"{METHODS.relative_to(ROOT)}: is not what the services in proto/ are; run scripts/ray_methods.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
