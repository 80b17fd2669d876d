"""How the wheel's `millrace` finds libtorch. scripts/check-packages.sh builds the wheel and installs it."""

import pathlib
import subprocess
import sys

import pytest
from daemon import ROOT

SOURCE = ROOT / "deploy" / "wheel"


@pytest.fixture
def site(tmp_path):
    """A folder of packages in which the wheel is installed, with a program that shows how it was started."""
    package = tmp_path / "millrace_server"
    (package / "bin").mkdir(parents=True)
    for name in ("__init__.py", "__main__.py"):
        (package / name).write_text((SOURCE / "millrace_server" / name).read_text())
    program = package / "bin" / "millrace"
    program.write_text('#!/bin/sh\necho "$@ from ${LD_LIBRARY_PATH:-beside it}"\nexit 7\n')
    program.chmod(0o755)
    metadata(tmp_path, "millrace_server", "0.1.0", "Requires-Dist: torch==2.15.0\n")
    return tmp_path


def metadata(folder: pathlib.Path, name: str, version: str, more: str = "") -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}")


def install_torch(folder: pathlib.Path, version: str) -> None:
    (folder / "torch").mkdir(parents=True)
    # Importing it would be an error.
    (folder / "torch" / "__init__.py").write_text("raise RuntimeError\n")
    metadata(folder, "torch", version)


def start(*folders: pathlib.Path) -> subprocess.CompletedProcess:
    # -S: without the packages of this environment.
    return subprocess.run([sys.executable, "-S", "-m", "millrace_server", "serve", "--models", "m"], capture_output=True, text=True, check=False,
                          env={"PYTHONPATH": ":".join(map(str, folders)), "PATH": "/usr/bin:/bin"})


def test_wheel_becomes_the_program_with_the_torch_beside_it(site):
    install_torch(site, "2.15.0")
    started = start(site)
    assert (started.returncode, started.stdout) == (7, "serve --models m from beside it\n")


def test_wheel_takes_a_torch_from_another_folder_and_of_another_build(site, tmp_path):
    install_torch(tmp_path / "system", "2.15.0+cpu")
    assert start(site, tmp_path / "system").stdout == f"serve --models m from {tmp_path}/system/torch/lib\n"


@pytest.mark.parametrize(("version", "words"), [(None, "the package torch is missing: pip install torch==2.15.0"),
                                                ("2.14.1", "torch 2.14.1 is installed, and these programs were built with 2.15.0")])
def test_wheel_says_which_torch_it_needs(site, version, words):
    if version:
        install_torch(site, version)
    started = start(site)
    assert started.returncode == 1 and words in started.stderr and len(started.stderr.splitlines()) == 1
