"""Installs the wheels in a fresh environment and serves from them. On demand: scripts/check-packages.sh runs it and says which wheels in WHEEL
and MODELS_WHEEL. torch, which takes GBs from a registry, is the one of .venv, which the environment sees by a path file."""

import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

import pytest
from daemon import ENVIRONMENT, MODELS, ROOT, SERVED, running, wait_for

sys.path.append(str(ROOT / "tests" / "integration"))
from wire import mirror  # noqa: E402

WHEEL, MODELS_WHEEL = pathlib.Path(os.environ["WHEEL"]), pathlib.Path(os.environ["MODELS_WHEEL"])


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", "--no-deps", "--no-index", WHEEL, MODELS_WHEEL], check=True)
    [site] = (folder / "lib").glob("python3*/site-packages")
    (site / "torch.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_wheel_is_for_any_python_and_asks_for_one_version_of_torch():
    assert WHEEL.name.startswith("millrace_server-") and "-py3-none-manylinux_" in WHEEL.name
    with zipfile.ZipFile(WHEEL) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        required = [line for line in archive.read(metadata).decode().splitlines() if line.startswith("Requires-Dist: ")]
    from importlib.metadata import version
    models = f"millrace-models=={WHEEL.name.split('-')[1]}"
    assert required == [f"Requires-Dist: torch=={version('torch').partition('+')[0]}", f"Requires-Dist: {models}; extra == \"models\""]
    assert not [name for name in names if "libtorch" in name or "libc10" in name]
    assert [name for name in names if "libgrpc" in name]


def test_programs_load_nothing_of_the_distribution_but_its_c_library(environment):
    [package] = environment.glob("lib/python3*/site-packages/millrace_server")
    for program in ("millrace", "millrace-front", "millrace-server"):
        listed = subprocess.run(["ldd", package / "bin" / program], capture_output=True, text=True, check=True,
                                env={"LD_LIBRARY_PATH": f"{sysconfig.get_path('purelib')}/torch/lib"}).stdout
        assert "not found" not in listed
        outside = [line.split()[0] for line in listed.splitlines() if "=> /lib/" in line or "=> /usr/lib/" in line]
        allowed = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1",
                   "libresolv.so.2", "libutil.so.1", "libexpat.so.1"}
        assert set(outside) <= allowed, program


def test_models_are_fetched_by_name_and_served(environment, tmp_path):
    # NumPy, SentencePiece and PyYAML are those of .venv too. The environment is not activated.
    program = environment / "bin" / "millrace"
    with mirror.start() as hub:
        mirror.publish_pair(hub, tmp_path, "en-de")
        mirror.publish_voice(hub, "en_US-lessac-medium")
        command = [program, "serve", "--pull", "firefox/en-de,piper/en_US-lessac-medium", "--models", tmp_path / "models", "--port-file", tmp_path / "ports.json",
                   "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0", "--metrics-address", "off"]
        with running(command, tmp_path / "log", **hub.environment) as process:
            wait_for("the daemon serves", lambda: (tmp_path / "ports.json").exists() or process.poll() is not None)
            assert process.poll() is None, (tmp_path / "log").read_text()
            address = f"127.0.0.1:{json.loads((tmp_path / 'ports.json').read_text())['grpc']}"
            subprocess.run([program, "translate", "the cat.", "--address", address], check=True, env=ENVIRONMENT)
            subprocess.run([program, "synthesize", "Hello.", "-o", tmp_path / "hello.wav", "--address", address], check=True, env=ENVIRONMENT)
            assert (tmp_path / "hello.wav").stat().st_size > 10_000


def test_wheel_serves(environment, tmp_path):
    program = environment / "bin" / "millrace"
    models, ports, log = tmp_path / "models", tmp_path / "ports.json", tmp_path / "log"
    models.mkdir()
    for name in SERVED:
        (models / name).symlink_to(MODELS / name)
    command = [program, "serve", "--models", models, "--port-file", ports, "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
               "--metrics-address", "127.0.0.1:0"]
    with running(command, log) as process:
        wait_for("the daemon serves", lambda: ports.exists() and ports.read_text().endswith("\n") or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        address = f"127.0.0.1:{json.loads(ports.read_text())['grpc']}"
        translated = subprocess.run([program, "translate", "Good morning.", "--model", "bergamot-en-pt", "--address", address],
                                    capture_output=True, text=True, check=True, env=ENVIRONMENT)
        assert translated.stdout == "Bom dia.\n"
        subprocess.run([program, "synthesize", "Hello.", "-o", tmp_path / "hello.opus", "--address", address], check=True, env=ENVIRONMENT)
        assert (tmp_path / "hello.opus").read_bytes()[:4] == b"OggS"
    assert process.returncode == 0
