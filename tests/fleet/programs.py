"""Where the programs are that scripts/deps.sh installs for the tests of deploy/."""

import os
import pathlib
import platform
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".tools"
PROXIES = TOOLS / "proxies"


def find(name: str) -> str | None:
    """The path of envoy, haproxy, nginx or helm: the system's, or that which deps.sh put into .venv and .tools."""
    folders = [pathlib.Path(sys.executable).parent, TOOLS / "bin", PROXIES / "usr/sbin"]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(map(str, folders)))


def environment() -> dict[str, str]:
    """Variables with which the programs of .tools/proxies find their libraries."""
    libraries = PROXIES / "usr/lib" / f"{platform.machine()}-linux-gnu"
    return {"LD_LIBRARY_PATH": str(libraries)} if libraries.is_dir() else {}
