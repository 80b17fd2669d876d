"""A voice in int8: measured by the converter, and chosen by PRECISION_AUTO."""

import json
import os
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

sys.path.insert(0, str(ROOT))
from models.convert.voice_precision import field_of, with_fields  # noqa: E402

TEXT = "The children were playing in the garden."
RATE = 22050


@pytest.fixture
def config(tmp_path):
    """The model.pbtxt of a voice of its own."""
    return repository.copy(tmp_path / "models", VOICE, VOICE) / "model.pbtxt"


def flags():
    """What the processor has, or as much as MILLRACE_CPU_ISA lets the daemon use."""
    file = pathlib.Path("/proc/cpuinfo")
    found = re.search(r"^flags\s*:\s*(.*)$", file.read_text(), re.M) if file.exists() else None
    beyond = {"portable": {"avx2", "avx_vnni", "avx512_vnni", "amx_int8"}, "avx2": {"avx_vnni", "avx512_vnni", "amx_int8"},
              "avxvnni": {"avx512_vnni", "amx_int8"}, "avx512": {"amx_int8"}}
    return set(found.group(1).split() if found else []) - beyond.get(os.environ.get("MILLRACE_CPU_ISA"), set())


def has_dot_products():
    return bool({"avx512_vnni", "avx_vnni", "amx_int8"} & flags())


def measure(tmp_path, *options):
    return subprocess.run([sys.executable, "-m", "models.convert", "measure-int8", "--models", tmp_path / "models", "--program", daemons.BINARY,
                           *options, VOICE], cwd=ROOT, timeout=300, capture_output=True, text=True, check=False)


def serve(tmp_path, *options):
    """The sound, and what the log says of the precision."""
    with daemons.start(tmp_path, "--workers", "1", *options, models=tmp_path / "models") as daemon:
        audio = daemon.synthesis.Synthesize(speak_request(TEXT, seed=3), timeout=PATIENCE).audio
        return audio, [line for line in daemon.log_text().splitlines() if "PRECISION_AUTO" in line]


def distance_in(config):
    found = re.search(r"^  int8_distance_db: (\d\.\d+)$", config.read_text(), re.M)
    return found and float(found.group(1))


def test_the_known_distance_is_what_is_measured(tmp_path, config):
    known = distance_in(config)
    config.write_text(before := with_fields(config.read_text(), "  precision: PRECISION_FLOAT32\n"))
    ended = measure(tmp_path)
    if not has_dot_products():
        assert ended.returncode == 1 and "has no dot products of int8" in ended.stderr
        return
    assert ended.returncode == 0, ended.stderr
    assert distance_in(config) == pytest.approx(known, abs=0.02)
    assert config.read_text().replace(field_of(config.read_text(), "int8_distance_db"), "") == before


def test_auto_goes_by_the_processor(tmp_path, config):
    measured = config.read_text()
    assert field_of(measured, "precision") == "  precision: PRECISION_AUTO\n"

    config.write_text(with_fields(measured, ""))   # as earlier versions made them
    exact, lines = serve(tmp_path)
    assert lines == []
    config.write_text(measured)
    chosen, [line] = serve(tmp_path)
    gains = bool({"avx512_vnni", "avx_vnni"} & flags()) and "amx_int8" not in flags()   # with AMX float32 is nearly as fast
    assert f"PRECISION_AUTO is {'int8, because this' if gains else 'float32, because this'} processor" in line and (chosen == exact) != gains
    config.write_text(with_fields(measured, "  precision: PRECISION_INT8\n"))
    if has_dot_products():
        audio, lines = serve(tmp_path)
        assert (chosen == audio) == gains
        assert lines == [] and audio != exact and abs(len(audio) - len(exact)) <= 2 * 2 * 2 * RATE // 200   # silence is cut off in steps of 5 ms
    if "avx2" in flags():
        with pytest.raises(AssertionError, match="has no dot products of int8; allowed here are PRECISION_FLOAT32 and PRECISION_AUTO"):
            serve(tmp_path, "--cpu-isa", "avx2")


def pull(tmp_path, key, *options, known):
    """What pulling a voice says, and its model.pbtxt."""
    with mirror.start() as hub:
        mirror.publish_voice(hub, key, known=known)
        pulled = run("pull", f"piper/{key}", "--models", tmp_path / "models", *options, MILLRACE_ADDRESS="", **hub.environment)
    assert pulled.returncode == 0, err(pulled)
    return out(pulled), tmp_path / "models" / key.lower() / "1" / "model.pbtxt"


def test_a_voice_that_is_pulled_is_measured_and_listed_so(tmp_path):
    said, config = pull(tmp_path, "en_US-lessac-medium", known=False)
    models = tmp_path / "models"
    listed = out(run("models", "--models", models))
    if not has_dot_products():
        assert "was not measured, so PRECISION_AUTO is float32: " in said and "has no dot products of int8" in said
        assert distance_in(config) is None and "precision" not in config.read_text() and "; float32\n" in listed
        return
    distance = distance_in(config)
    assert 0.05 < distance <= 0.5 and "\n  precision: PRECISION_AUTO\n" in config.read_text()
    assert f"; auto (int8: {distance:.2f} dB)\n" in listed
    assert json.loads(out(run("models", "--models", models, "--json")))["models"][0]["int8_distance_db"] == distance
    with daemons.start(tmp_path, models=models) as daemon:
        [model] = daemon.admin.ListModels(admin.ListModelsRequest()).models
        assert model.precision in ("int8", "float32") and model.int8_distance_db == pytest.approx(distance)


def test_a_voice_that_a_server_fetches_is_measured_as_well(tmp_path):
    with mirror.start() as hub:
        mirror.publish_voice(hub, "en_US-lessac-medium", known=False)
        with daemons.start(tmp_path, "--pull", "piper/en_US-lessac-medium", models=tmp_path / "models", **hub.environment) as daemon:
            [model] = daemon.admin.ListModels(admin.ListModelsRequest()).models
            log = daemon.log_text()
    distance = distance_in(tmp_path / "models" / "en_us-lessac-medium" / "1" / "model.pbtxt")
    if not has_dot_products():
        assert distance is None and "was not measured, so PRECISION_AUTO is float32: " in log and "has no dot products of int8" in log
        return
    assert 0.05 < distance <= 0.5 and model.int8_distance_db == pytest.approx(distance) and "was not measured" not in log


def test_a_voice_is_pulled_in_the_precision_that_is_asked_for(tmp_path):
    said, config = pull(tmp_path, "en_US-lessac-medium", "--precision", "float32", known=True)
    assert "\n  precision: PRECISION_FLOAT32\n" in config.read_text() and distance_in(config) == 0.42 and "not measured" not in said
    assert "; float32 (int8: 0.42 dB)\n" in out(run("models", "--models", tmp_path / "models"))


def test_what_does_not_serve_the_voice_leaves_the_package_as_it_was(tmp_path, config):
    config.write_text(config.read_text().replace("voice.json", "none.json"))
    before = config.read_text()
    ended = measure(tmp_path)
    assert ended.returncode == 1
    assert "does not serve the model in both precisions" in ended.stderr and "none.json" in ended.stderr and "Traceback" not in ended.stderr
    assert config.read_text() == before
    assert sorted(file.name for file in config.parent.iterdir() if file.name.startswith(".")) == []
