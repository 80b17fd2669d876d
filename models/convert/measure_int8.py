"""How far a voice's sound in int8 is from that in float32, measured and written into its package, for `precision: PRECISION_AUTO`.

A daemon of its own, on a processor with dot products of int8, loads the package twice, in both precisions, and speaks the same sentences
with the same noise by both. What is written is the mean distance of the log-mel spectrograms. `millrace add` and `millrace pull` do this
for a new voice.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from . import vits_check
from .log_mel import WINDOW, distance
from .package import ConvertError
from .voice_precision import field_of, with_fields

PRECISIONS = ("FLOAT32", "INT8")
_START_SECONDS = 300
_WAV_HEADER = 44
# Silence at the ends of a sound is cut off in steps, see models/speech/sound_edges.cc.
_STEPS_PER_SECOND = 200
_MOST_STEPS = 2   # that one of two sounds may have been cut more than the other
# A new voice says these sentences; longer ones would take most of the time and give about the same distance.
_SENTENCES_OF_NEW = vits_check.SENTENCES[:11:2]
# The only variable of the server that this daemon is given: others are of the person's servers or of clients, which it refuses.
_ISA = "MILLRACE_CPU_ISA"
_NOTIFIES = "NOTIFY_SOCKET"   # of systemd, which would take this daemon for the service that has started it
_LARGEST = 100   # dB, that a package may have


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="of the model, a voice, in the repository")
    parser.add_argument("--program", type=pathlib.Path, help="the program `millrace` (default: that of the checkout or of PATH)")
    parser.add_argument("--sentences", type=int, default=12, choices=range(1, len(vits_check.SENTENCES) + 1),
                        metavar=f"1..{len(vits_check.SENTENCES)}", help="sentences to speak (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    _measure(args.models / args.name / "1", args.program,
             [vits_check.SENTENCES[i * len(vits_check.SENTENCES) // args.sentences] for i in range(args.sentences)])


def measure_new(models: pathlib.Path, name: str, program: pathlib.Path | None) -> str:
    """Measures a voice that was just written, unless its distance is known, and lets PRECISION_AUTO choose if no other was asked for. One that
    cannot be measured here stays as it is, and the line that is returned says why."""
    folder = models / name / "1"
    try:
        if not field_of((folder / "model.pbtxt").read_text(encoding="utf-8"), "int8_distance_db"):
            _measure(folder, program, _SENTENCES_OF_NEW, "  precision: PRECISION_AUTO\n")
    except (ConvertError, KeyboardInterrupt, OSError) as error:
        return f"{name}: what int8 costs it was not measured, so PRECISION_AUTO is float32: {error or 'interrupted'}"
    return ""


def _measure(folder: pathlib.Path, given_program: pathlib.Path | None, sentences: list[str], precision: str = "") -> None:
    """precision: the line that sets it, if the package has none."""
    file = folder / "model.pbtxt"
    try:
        config = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConvertError(f"{file}: {error.strerror}") from error
    program = _program(given_program)
    # Beside the version, so that its files can be linked, and as a staging folder is named, so that what a killed run leaves is removed.
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as temporary:
        root = pathlib.Path(temporary)
        for each in PRECISIONS:
            _copy(folder, root / "models" / each / "1", with_fields(config, f"  precision: PRECISION_{each}\n"))
        with _serving(program, root) as port:
            distances = [_distance(port, sentence) for sentence in sentences]
    mean = float(np.mean(distances))
    if not mean <= _LARGEST:   # as that of a sound that is no number is not
        raise ConvertError(f"the sounds differ by {mean:.3g} dB on average, allowed are 0..{_LARGEST}")
    written = file.with_name(".model.pbtxt.new")
    written.write_text(with_fields(config, (field_of(config, "precision") or precision) + f"  int8_distance_db: {max(mean, 0.001):.3f}\n"),
                       encoding="utf-8")
    os.replace(written, file)
    print(f"{file}: int8_distance_db: {mean:.3f}, the mean of {len(distances)} sentences from {min(distances):.3f} to {max(distances):.3f}",
          flush=True)


def _program(given: pathlib.Path | None) -> pathlib.Path:
    built = pathlib.Path(__file__).resolve().parents[2] / "build" / "millrace"
    found = given or (built if built.exists() else shutil.which("millrace"))
    if found is None or not os.access(found, os.X_OK):
        raise ConvertError(f"--program: {'there is no millrace in PATH' if found is None else f'{found} is no program'}")
    return pathlib.Path(found)


def _copy(folder: pathlib.Path, copy: pathlib.Path, config: str) -> None:
    copy.mkdir(parents=True)
    for entry in folder.iterdir():
        if entry.is_file() and entry.name != "model.pbtxt" and not entry.name.startswith("packed-"):
            try:
                os.link(entry.resolve(), copy / entry.name)
            except OSError:   # as on a file system without hard links
                shutil.copyfile(entry, copy / entry.name)
    (copy / "model.pbtxt").write_text(config, encoding="utf-8")


@contextlib.contextmanager
def _serving(program: pathlib.Path, root: pathlib.Path) -> Iterator[int]:
    """The port of a daemon with both models."""
    ports, log = root / "ports.json", root / "log"
    with open(log, "wb") as output:
        daemon = subprocess.Popen([str(program), "serve", "--models", str(root / "models"), "--device", "cpu", "--grpc-address", "127.0.0.1:0",
                                   "--http-address", "127.0.0.1:0", "--metrics-address", "off", "--keep-packed-weights", "off",
                                   "--port-file", str(ports)], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                  env={name: value for name, value in os.environ.items()
                                       if name == _ISA or not (name.startswith("MILLRACE_") or name == _NOTIFIES)})
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not ports.exists() and daemon.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        # It serves one model if only the other cannot be loaded.
        errors = [line.partition(" error ")[2] for line in lines if " error " in line]
        if errors or not ports.exists():
            raise ConvertError(f"{program} does not serve the model in both precisions: {''.join(errors[:1] or lines[-1:])}")
        yield int(json.loads(ports.read_text())["http"])
    finally:
        daemon.terminate()
        daemon.wait()


def _distance(port: int, sentence: str) -> float:
    (exact, rate), (rounded, _) = (_speak(port, precision, sentence) for precision in PRECISIONS)
    try:
        return nearest(exact, rounded, rate // _STEPS_PER_SECOND)
    except ValueError as error:
        raise ConvertError(f"{error}, on: {sentence}") from error


def nearest(a: np.ndarray, b: np.ndarray, step: int) -> float:
    """The distance of two sounds whose ends were cut off in steps of so many samples."""
    if abs(len(a) - len(b)) > 2 * _MOST_STEPS * step:
        raise ValueError(f"lengths differ, {len(a)} and {len(b)} samples")
    found = []
    for shift in range(-_MOST_STEPS * step, _MOST_STEPS * step + 1, step):
        first, second = a[max(shift, 0):], b[max(-shift, 0):]
        count = min(len(first), len(second))
        if count < WINDOW:
            raise ValueError(f"{min(len(a), len(b))} samples are too few")
        found.append(distance(first[:count], second[:count]))
    return min(found)


def _speak(port: int, model: str, sentence: str) -> tuple[np.ndarray, int]:
    """The samples and their rate."""
    import urllib.request   # takes 8 MiB, which adding a voice does without
    body = json.dumps({"model": model, "input": sentence, "response_format": "wav", "seed": 1}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/audio/speech", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=_START_SECONDS) as reply:
            sound = reply.read()
    except OSError as error:
        raise ConvertError(f"the daemon does not say '{sentence}': {error}") from error
    return np.frombuffer(sound[_WAV_HEADER:], "<i2").astype(np.float32) / 32768, int.from_bytes(sound[24:28], "little")
