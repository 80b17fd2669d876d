"""The programs of examples/, run as their README says, against the real daemon."""

import pathlib
import shutil
import subprocess
import sys
import wave

import pytest
from wire.paths import ROOT

EXAMPLES = ROOT / "examples"


def run(command, folder, timeout=120):
    """What a program prints; it must succeed."""
    result = subprocess.run(command, cwd=folder, timeout=timeout, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def http(daemon, scheme="http"):
    return f"{scheme}://127.0.0.1:{daemon.ports['http']}"


def grpc(daemon):
    return f"127.0.0.1:{daemon.ports['grpc']}"


def seconds(path):
    """The length of a WAV file, also of one whose header was written before its end was known."""
    with wave.open(str(path)) as sound:
        return (path.stat().st_size - 44) / 2 / sound.getframerate()


def test_curl(daemon, tmp_path):
    printed = run([EXAMPLES / "curl.sh", http(daemon)], tmp_path)
    assert "ready: 200" in printed
    assert "Bom dia" in printed
    assert seconds(tmp_path / "good-morning.wav") > 0.5
    assert (tmp_path / "ready.mp3").stat().st_size > 4000


def test_grpc_translate(daemon, tmp_path):
    printed = run([sys.executable, EXAMPLES / "python/grpc_translate.py", grpc(daemon)], tmp_path).split("\n")
    assert len([line for line in printed if line.strip()]) == 3
    assert "Bom dia" in printed[0]


def test_openai_speech(daemon, tmp_path):
    run([sys.executable, EXAMPLES / "python/openai_speech.py", http(daemon)], tmp_path)
    assert seconds(tmp_path / "speech.wav") > 1


def test_triton_infer(daemon, tmp_path):
    assert "63" in run([sys.executable, EXAMPLES / "python/triton_infer.py", grpc(daemon)], tmp_path)


def test_websocket_speech(daemon, tmp_path):
    printed = run([sys.executable, EXAMPLES / "python/websocket_speech.py", http(daemon, "ws")], tmp_path)
    assert "still being written" in printed
    assert seconds(tmp_path / "written.wav") > 3


# node and go are no dependencies of the project, so that nothing here installs them.
@pytest.mark.skipif(shutil.which("node") is None, reason="node is missing")
def test_javascript(daemon, tmp_path):
    assert "estação" in run(["node", EXAMPLES / "javascript/translate.mjs", http(daemon)], tmp_path)
    assert (tmp_path / "station.mp3").stat().st_size > 4000


@pytest.mark.skipif(shutil.which("go") is None, reason="go is missing")
def test_go(daemon, tmp_path):
    run(["go", "run", EXAMPLES / "go/speak.go", http(daemon)], tmp_path)
    assert seconds(tmp_path / "go.wav") > 0.5


def test_cpp(daemon, tmp_path):
    run(["cmake", "-S", EXAMPLES / "cpp", "-B", tmp_path / "build"], tmp_path)
    run(["cmake", "--build", tmp_path / "build"], tmp_path, timeout=300)
    assert "Bom dia" in run([tmp_path / "build/translate", grpc(daemon)], tmp_path)


def test_each_example_is_in_the_table():
    table = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.rglob("*"):
        if path.is_file() and path.name not in ("README.md", "CMakeLists.txt"):
            assert f"]({path.relative_to(EXAMPLES)})" in table, path


def test_an_error_is_told(daemon, tmp_path):
    """What an example prints when the server refuses, and that it fails."""
    broken = pathlib.Path(tmp_path / "broken.py")
    source = (EXAMPLES / "python/grpc_translate.py").read_text()
    broken.write_text(source.replace('target_language="pt"', 'target_language="xx"')
                      .replace("pathlib.Path(__file__).parents[2]", f"pathlib.Path({str(ROOT)!r})"))
    result = subprocess.run([sys.executable, broken, grpc(daemon)], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert "no loaded model translates" in result.stderr
