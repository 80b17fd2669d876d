"""A conversion that fails leaves no half package, and the one before it as it was."""

import subprocess
import sys

import pytest
from wire.paths import EN_PT, NULL, ROOT, VOICE

# A null model has less than 3 KB, a voice 60 MB, a translator 17 MB.
LIMITS = {("null", NULL): 500, ("vits", VOICE): 10 << 20, ("bergamot", EN_PT): 1 << 20}
OPTIONS = {"vits": ["--check", "0"], "bergamot": ["--check", "none"]}


# The child sets its limit itself: what subprocess runs between fork and exec meets the threads of gRPC, which may abort there.
WITH_LIMIT = ("import resource, runpy, sys; limit = int(sys.argv.pop(1)); resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)); "
              "runpy.run_module('models.convert', run_name='__main__', alter_sys=True)")


def convert(kind, models, *options, limit=None):
    """Runs the converter; `limit` is the size at which its files cannot grow, as on a full disk."""
    program = ["-c", WITH_LIMIT, str(limit)] if limit else ["-m", "models.convert"]
    return subprocess.run([sys.executable, *program, kind, "--models", models, *options], cwd=ROOT, timeout=120,
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind, name", LIMITS, ids=[kind for kind, _ in LIMITS])
def test_full_disk_leaves_nothing_behind(tmp_path, kind, name):
    ended = convert(kind, tmp_path / "models", *OPTIONS.get(kind, []), limit=LIMITS[kind, name])
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"models.convert {kind}: cannot write {tmp_path}") and ended.stderr.count("\n") == 1
    assert list((tmp_path / "models").iterdir()) == []


def test_full_disk_leaves_the_package_before_as_it_was(tmp_path):
    assert convert("null", tmp_path).returncode == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / NULL / "1").iterdir()}
    assert convert("null", tmp_path, "--force", limit=500).returncode == 1
    assert [folder.name for folder in (tmp_path / NULL).iterdir()] == ["1"]
    assert {file.name: file.read_bytes() for file in (tmp_path / NULL / "1").iterdir()} == before
    # And it goes on from there.
    assert convert("null", tmp_path, "--force").returncode == 0


def test_models_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "models").write_text("")
    ended = convert("null", tmp_path / "models")
    assert ended.returncode == 1
    assert str(tmp_path / "models") in ended.stderr and "Traceback" not in ended.stderr


def test_a_model_that_is_there_is_not_written_over(tmp_path):
    assert convert("null", tmp_path).returncode == 0
    config = tmp_path / NULL / "1" / "model.pbtxt"
    config.write_text("mine")
    again = convert("null", tmp_path)
    assert again.returncode == 1 and config.read_text() == "mine"
    assert str(config.parent) in again.stderr and "--as" in again.stderr and "--force" in again.stderr
    forced = convert("null", tmp_path, "--force")
    assert forced.returncode == 0 and config.read_text() != "mine"
    # It says how a running daemon gets it.
    assert f"millrace load {NULL}" in forced.stdout


@pytest.mark.parametrize("name", ["My Voice", ".hidden", "a/b", "", "x" * 129, "stimme-ä"])
def test_a_name_that_no_daemon_loads_is_refused(tmp_path, name):
    ended = convert("null", tmp_path / "models", f"--name={name}")
    assert ended.returncode == 2 and "is no name of a model" in ended.stderr
    assert not (tmp_path / "models").exists()


def test_a_voice_is_named_after_its_file_and_a_missing_one_is_named(tmp_path):
    missing = convert("vits", tmp_path, "--onnx", tmp_path / "fr_FR-Some Voice.onnx", "--license", "MIT")
    assert missing.returncode == 1 and f"{tmp_path / 'fr_FR-Some Voice.onnx'}: no such file" in missing.stderr
    (tmp_path / "fr_fr-some-voice" / "1").mkdir(parents=True)
    taken = convert("vits", tmp_path, "--onnx", tmp_path / "fr_FR-Some Voice.onnx", "--license", "MIT")
    assert taken.returncode == 1 and "fr_fr-some-voice" in taken.stderr and "--force" in taken.stderr
