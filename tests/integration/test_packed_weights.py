"""Packed weights that are kept beside a model's files from one start to the next."""

import os
import shutil
import subprocess

import pytest
from wire import daemon as daemons
from wire import repository
from wire.paths import VOICE
from wire.requests import PATIENCE, speak_request

TEXT = "The children were playing in the garden."
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@pytest.fixture
def voice(tmp_path):
    """The folder of a voice's version."""
    return repository.copy(tmp_path / "models", VOICE, VOICE)


def serve(tmp_path, *options, under=()):
    """Starts the daemon with the voice, lets it speak and stops it: the audio, and what the log said of packed weights."""
    with daemons.start(tmp_path, "--workers", "1", *options, models=tmp_path / "models", under=under) as daemon:
        audio = daemon.synthesis.Synthesize(speak_request(TEXT, seed=3), timeout=PATIENCE).audio
        lines = [line for line in daemon.log_text().splitlines() if ".weights" in line]
    return audio, lines


def kept(folder):
    return [file for file in folder.iterdir() if file.name.startswith("packed-")]


def test_they_are_kept_and_used(tmp_path, voice):
    before = {file.name for file in voice.iterdir()}
    audio, lines = serve(tmp_path)
    [file] = kept(voice)
    assert len(lines) == 1
    assert f"{file}: packed weights are kept, {file.stat().st_size} bytes" in lines[0]
    first = file.stat()
    again, lines = serve(tmp_path)
    assert lines == []
    assert again == audio
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    assert {file.name for file in voice.iterdir()} == before | {file.name}


def test_they_are_of_one_instruction_set_and_may_be_turned_off(tmp_path, voice):
    serve(tmp_path, "--keep-packed-weights", "false")
    assert kept(voice) == []
    serve(tmp_path, "--cpu-isa", "portable")
    assert [file.name for file in kept(voice)] == ["packed-portable.weights"]


@pytest.mark.parametrize(("change", "words"), [
    (lambda data: data[:100_000] + bytes([data[100_000] ^ 1]) + data[100_001:], "is damaged; weights are packed anew"),
    (lambda data: data[:len(data) // 2], "is damaged; weights are packed anew"),
])
def test_damaged_ones_are_packed_anew(tmp_path, voice, change, words):
    audio, _ = serve(tmp_path)
    [file] = kept(voice)
    whole = file.read_bytes()
    file.write_bytes(change(whole))
    again, lines = serve(tmp_path)
    assert again == audio
    assert words in lines[0]
    assert "packed weights are kept" in lines[1]
    assert file.read_bytes() == whole


def test_those_of_other_weights_are_packed_anew(tmp_path, voice):
    audio, _ = serve(tmp_path)
    [file] = kept(voice)
    first = file.stat().st_ino
    weights = voice / "model.safetensors"
    # As a package may do, the other file has the size and the time of the first.
    times = weights.stat()
    other = voice / "other"
    shutil.copy(weights, other)
    os.replace(other, weights)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    again, lines = serve(tmp_path)
    assert again == audio
    assert "is of other weights, settings or another program" in lines[0]
    assert file.stat().st_ino != first


def test_a_file_of_something_else_is_left_alone(tmp_path, voice):
    _, _ = serve(tmp_path)
    [file] = kept(voice)
    file.write_text("photographs of last summer")
    _, lines = serve(tmp_path)
    assert len(lines) == 1
    assert "is no file of packed weights" in lines[0]
    assert file.read_text() == "photographs of last summer"


def test_a_folder_that_cannot_be_written_serves_all_the_same(tmp_path, voice):
    under = ("unshare", "--mount", "sh", "-c", READ_ONLY, str(voice))
    if subprocess.run([*under, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting needs root")
    audio, lines = serve(tmp_path, under=under)
    assert len(audio) > 0
    assert len(lines) == 1
    assert "packed weights are not kept: Read-only file system" in lines[0]
    assert kept(voice) == []


def test_processes_share_their_memory(tmp_path, voice):
    serve(tmp_path)
    [file] = kept(voice)
    options = ("--workers", "1")
    (tmp_path / "other").mkdir()
    with daemons.start(tmp_path, *options, models=tmp_path / "models") as one, \
         daemons.start(tmp_path / "other", *options, models=tmp_path / "models") as other:
        for daemon in (one, other):
            assert shared_of(daemon, file) >= 0.9 * file.stat().st_size


def shared_of(daemon, file):
    """The bytes of a mapped file in a daemon's memory that other processes use, too."""
    total = 0
    inside = False
    with open(f"/proc/{daemon.process.pid}/smaps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split()
            if not words[0].endswith(":"):
                inside = line.rstrip().endswith(str(file))
            elif inside and words[0] in ("Shared_Clean:", "Shared_Dirty:"):
                total += 1024 * int(words[1])
    return total
