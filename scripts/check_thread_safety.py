#!/usr/bin/env python3
"""Runs clang's thread-safety analysis over the sources that a clang build configured but did not compile.

A sanitizer build compiles only what its tests need. The daemon's main file, the clients, the benchmarks and the load generator are
checked here, without code generation. Usage: check_thread_safety.py BUILD_FOLDER [--jobs N]
"""
import argparse
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys


def unbuilt(build: pathlib.Path) -> list[dict]:
    """The compile commands of our own sources, or of several of them as one unit, that have no object file."""
    commands = json.loads((build / "compile_commands.json").read_text())
    root = build.resolve().parent
    result = []
    for command in commands:
        source = pathlib.Path(command["file"])
        generated = source.is_relative_to(build.resolve()) and "Unity" not in source.parts
        ours = source.is_relative_to(root) and not generated
        arguments = shlex.split(command["command"])
        output = pathlib.Path(command["directory"]) / arguments[arguments.index("-o") + 1]
        if ours and not output.exists():
            result.append({"source": source, "directory": command["directory"], "arguments": arguments})
    return result


def without_precompiled_header(arguments: list[str]) -> list[str]:
    """A file must include what it uses, so it is checked without the headers that CMake includes before it."""
    result = []
    skipped = ("-include-pch", "-include")
    at = 0
    while at < len(arguments):
        if arguments[at] == "-Xclang" and arguments[at + 1] in skipped:
            at += 4
        else:
            result.append(arguments[at])
            at += 1
    return result


def check(command: dict) -> subprocess.CompletedProcess:
    arguments = without_precompiled_header(command["arguments"])
    output = arguments.index("-o")
    syntax_only = arguments[:output] + arguments[output + 2:] + ["-fsyntax-only"]
    return subprocess.run(syntax_only, cwd=command["directory"], capture_output=True, text=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    commands = unbuilt(options.build)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for command, result in zip(commands, pool.map(check, commands)):
            if result.returncode != 0:
                failed += 1
                print(f"{command['source']}\n{result.stderr}", file=sys.stderr)
    print(f"{len(commands)} units checked beside those that were built, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
