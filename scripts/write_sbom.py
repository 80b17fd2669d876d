#!/usr/bin/env python3
"""Writes a bill of materials (CycloneDX 1.6, JSON) of what the programs in build/ load: the libraries of the distribution, by dpkg, and those
of Python wheels. Prints it on standard output.

Usage: write_sbom.py VERSION SECONDS     (the time of the sources, since 1970)"""

import datetime
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import uuid

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

BUILD = pathlib.Path("build")
PROGRAMS = ("millrace", "millrace-front", "millrace-server", "libmillrace_sentencepiece.so")
SITE = pathlib.Path(sysconfig.get_path("purelib"))


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loaded_libraries() -> list[pathlib.Path]:
    """The files that the dynamic linker finds for the programs."""
    listed = "".join(output_of("ldd", str(BUILD / program)) for program in PROGRAMS)
    missing = re.findall(r"^\s*(\S+) => not found$", listed, re.MULTILINE)
    if missing:
        sys.exit(f"write_sbom.py: not found by the dynamic linker: {', '.join(sorted(set(missing)))}")
    return sorted({pathlib.Path(os.path.normpath(path)) for path in re.findall(r"=> (/\S+)", listed)})


def debian_package(library: pathlib.Path) -> Component:
    """The package that the file belongs to. dpkg knows files by their place before /lib became a link to /usr/lib."""
    for path in (library, library.resolve(), pathlib.Path(str(library.resolve()).removeprefix("/usr"))):
        found = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            break
    else:
        sys.exit(f"write_sbom.py: {library} belongs to no package of the distribution")
    name, version, architecture, source = output_of(
        "dpkg-query", "-W", "-f", "${Package}\t${Version}\t${Architecture}\t${source:Package}", found.stdout.partition(": ")[0]).split("\t")
    url = PackageURL("deb", "debian", name, version, {"arch": architecture, "distro": "debian-12"})
    return Component(name=name, version=version, purl=url, bom_ref=str(url), type=ComponentType.LIBRARY,
                     description=f"built from the source package {source}")


def wheel_package(library: pathlib.Path) -> Component:
    """The wheel that has put the file into the Python environment."""
    place = library.relative_to(SITE).as_posix()
    for wheel in importlib.metadata.distributions(path=[str(SITE)]):
        if any(str(file) == place for file in wheel.files or []):
            url = PackageURL("pypi", None, wheel.name.lower().replace("_", "-"), wheel.version)
            return Component(name=wheel.name, version=wheel.version, purl=url, bom_ref=str(url), type=ComponentType.LIBRARY)
    sys.exit(f"write_sbom.py: {library} belongs to no installed wheel")


def main(version: str, seconds: int) -> str:
    bom = Bom()
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"millrace-{version}-{seconds}")
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    program = Component(name="millrace", version=version, type=ComponentType.APPLICATION, bom_ref=f"millrace@{version}")
    bom.metadata.component = program
    parts = {}
    for library in loaded_libraries():
        part = wheel_package(library) if library.is_relative_to(SITE) else debian_package(library)
        parts[str(part.bom_ref)] = part
    # It is run as a program and not linked.
    espeak = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "espeak-ng"], capture_output=True, text=True, check=False).stdout
    if espeak:
        url = PackageURL("deb", "debian", "espeak-ng", espeak, {"distro": "debian-12"})
        parts[str(url)] = Component(name="espeak-ng", version=espeak, purl=url, bom_ref=str(url), type=ComponentType.APPLICATION,
                                    description="a separate program that speech uses, not part of the packages")
    for part in parts.values():
        bom.components.add(part)
    bom.register_dependency(program, parts.values())
    return JsonV1Dot6(bom).output_as_string(indent=2)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(main(sys.argv[1], int(sys.argv[2])))
