"""A voice in int8: measured by the converter, and chosen by PRECISION_AUTO."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
from wire import daemon as daemons
from wire import mirror, repository
from wire.daemon import err, out, run
from wire.paths import ROOT, VOICE
from wire.requests import PATIENCE, speak_request
from wire.stubs import admin

TEXT = "The children were playing in the garden."
RATE = 22050


@pytest.fixture
def config(tmp_path):
    """The model.pbtxt of a voice of its own."""
    return repository.copy(tmp_path / "models", VOICE, VOICE) / "model.pbtxt"


def flags():
    file = pathlib.Path("/proc/cpuinfo")
    found = re.search(r"^flags\s*:\s*(.*)$", file.read_text(), re.M) if file.exists() else None
    return found.group(1).split() if found else []


def has_dot_products():
    return bool({"avx512_vnni", "avx_vnni", "amx_int8"} & set(flags()))


def measure(tmp_path, *options):
    return subprocess.run([sys.executable, "-m", "models.convert", "measure-int8", "--models", tmp_path / "models", "--program", daemons.BINARY,
                           *options, VOICE], cwd=ROOT, timeout=300, capture_output=True, text=True, check=False)


def serve(tmp_path, *options):
    """The sound, and what the log says of the precision."""
    with daemons.start(tmp_path, "--workers", "1", *options, models=tmp_path / "models") as daemon:
        audio = daemon.synthesis.Synthesize(speak_request(TEXT, seed=3), timeout=PATIENCE).audio
        return audio, [line for line in daemon.log_text().splitlines() if "PRECISION_AUTO" in line]


def test_the_distance_is_written_and_auto_goes_by_it(tmp_path, config):
    before = config.read_text()
    ended = measure(tmp_path, "--sentences", "3")
    if not has_dot_products():
        assert ended.returncode == 1 and "has no dot products of int8" in ended.stderr
        return
    assert ended.returncode == 0, ended.stderr
    found = re.search(r"^  int8_distance_db: (\d\.\d+)$", config.read_text(), re.M)
    assert 0.05 < float(found.group(1)) <= 0.5
    assert config.read_text().replace(found.group(0) + "\n", "") == before

    exact, lines = serve(tmp_path)   # no precision: float32
    assert lines == []
    measured = config.read_text()
    config.write_text(measured.replace("vits {", "vits {\n  precision: PRECISION_AUTO"))
    chosen, [line] = serve(tmp_path)
    gains = "amx_int8" not in flags()   # in which float32 is nearly as fast
    assert f"PRECISION_AUTO is {'int8, because this' if gains else 'float32, because this'} processor" in line and (chosen == exact) != gains
    config.write_text(measured.replace("vits {", "vits {\n  precision: PRECISION_INT8"))
    audio, lines = serve(tmp_path)
    assert (chosen == audio) == gains
    assert lines == [] and audio != exact and abs(len(audio) - len(exact)) <= 2 * 2 * 2 * RATE // 200   # silence is cut off in steps of 5 ms
    if "avx_vnni" in flags() or "avx512_vnni" in flags():
        with pytest.raises(AssertionError, match="has no dot products of int8; allowed here are PRECISION_FLOAT32 and PRECISION_AUTO"):
            serve(tmp_path, "--cpu-isa", "avx2")


def test_a_voice_that_is_pulled_is_measured_and_listed_so(tmp_path):
    models = tmp_path / "models"
    with mirror.start() as hub:
        mirror.publish_voice(hub, "en_US-lessac-medium")
        pulled = run("pull", "piper/en_US-lessac-medium", "--models", models, MILLRACE_ADDRESS="", **hub.environment)
    assert pulled.returncode == 0, err(pulled)
    written = re.search(r"^  int8_distance_db: (\d\.\d+)$", (models / "en_us-lessac-medium" / "1" / "model.pbtxt").read_text(), re.M)
    listed = out(run("models", "--models", models))
    if not has_dot_products():
        assert "was not measured, so PRECISION_AUTO is float32: " in out(pulled) and "has no dot products of int8" in out(pulled)
        assert written is None and "; float32\n" in listed
        return
    assert 0.05 < float(written.group(1)) <= 0.5
    assert f"; float32 (int8: {float(written.group(1)):.2f} dB)\n" in listed
    assert json.loads(out(run("models", "--models", models, "--json")))["models"][0]["int8_distance_db"] == float(written.group(1))
    with daemons.start(tmp_path, models=models) as daemon:
        [model] = daemon.admin.ListModels(admin.ListModelsRequest()).models
        assert model.precision == "float32" and model.int8_distance_db == pytest.approx(float(written.group(1)))


def test_what_does_not_serve_the_voice_leaves_the_package_as_it_was(tmp_path, config):
    config.write_text(config.read_text().replace("voice.json", "none.json"))
    before = config.read_text()
    ended = measure(tmp_path)
    assert ended.returncode == 1
    assert "does not serve the model in both precisions" in ended.stderr and "none.json" in ended.stderr and "Traceback" not in ended.stderr
    assert config.read_text() == before
    assert sorted(file.name for file in config.parent.iterdir() if file.name.startswith(".")) == []
