"""Writes one version of a model into a repository so that a reader sees either all of it or nothing."""

import argparse
import contextlib
import fcntl
import math
import mmap
import os
import pathlib
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator


_PIECE = 1 << 18
# The server reads no larger files of these endings: models/core/regular_file.h and models/repository/model_config.h hold its limits.
_MOST_BYTES = {".json": 4 << 20, ".pbtxt": 1 << 20, ".txt": 64 << 20}
OLD = ".old"   # ends the name of the version that a new one replaces, for a moment


def printable(text: str) -> str:
    """Names of strangers may have line breaks or control characters, which a terminal would obey."""
    return "".join(c if c.isprintable() or "\udc80" <= c <= "\udcff" else "?" for c in text)


def mapped(path: pathlib.Path) -> memoryview:
    """The bytes of a file, which take no memory before they are read and stay mapped as long as something refers to them. Raises OSError."""
    with open(path, "rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size else b"")


def read_bounded(path: pathlib.Path, most: int) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > most:
        raise ConvertError(f"{path}: is larger than {most} bytes")
    return data


def hash_of(path: pathlib.Path, digest) -> str:
    """Reads the file into one of hashlib's objects."""
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


class ConvertError(Exception):
    """What went wrong, in words for the person who ran the command."""
    status = 1   # of the command


class UsageError(ConvertError):
    """The command line is wrong."""
    status = 2


class Busy(ConvertError):
    """Another process is at the same model."""
    status = 8


@contextlib.contextmanager
def calling(places: dict[pathlib.Path, object]) -> Iterator[None]:
    """Messages about files in a hidden folder call them as the person does who runs the command."""
    try:
        yield
    except ConvertError as error:
        text = str(error)
        for place, name in places.items():
            text = text.replace(str(place), str(name))
        raise type(error)(text) from error


MOST_TENSORS = 10_000   # of one file; the largest model that is supported has a tenth


def check_tensors(path: pathlib.Path, count: int) -> None:
    """Refuses what would take minutes to read although it has next to no bytes."""
    if count > MOST_TENSORS:
        raise ConvertError(f"{path}: has more than {MOST_TENSORS} tensors")


MOST_WEIGHT = 1e6   # the largest of published networks is below 100, and products of larger ones overflow


def check_weights_of(values, where: str) -> None:
    """Refuses weights with which a network would reckon infinity, though each is a number. values: an array. where: the file and the tensor."""
    if values.size == 0:
        return
    least, most = float(values.min()), float(values.max())
    if not -MOST_WEIGHT <= least <= most <= MOST_WEIGHT:   # a comparison with NaN is false
        what = f"up to {max(-least, most):.3g}, allowed are {MOST_WEIGHT:g}" if math.isfinite(least) and math.isfinite(most) else "that are not finite"
        raise ConvertError(f"{where} has values {what}; the weights are damaged")


def is_name(name: str) -> bool:
    """As models/repository/model_sources.cc has it."""
    return re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}", name) is not None


def check_name(name: str) -> None:
    if not is_name(name) or name.startswith("-"):   # it may be there, but commands would take it for an option
        raise UsageError(f"--as: '{name}' is no name of a model; allowed are 1..128 letters, digits, '.', '_' and '-', not starting with '.' or '-'")


def voice_name_mistake(name: object, mixed: bool = False) -> str:
    """What is wrong with the name of a voice or a speaker, as models/core/voice_name.cc has it. mixed: it may stand in a mix."""
    if isinstance(name, str) and 1 <= len(name.encode("utf-8", "surrogatepass")) <= 128 and not re.search(
            r"[\x00-\x1f\x7f\ud800-\udfff]" + (r"|[+:(]" if mixed else ""), name):
        return ""
    return f"'{str(name)[:64]}' is no name of a voice, allowed are 1..128 bytes without control characters" + (", +, : and (" if mixed else "")


MOST_LANGUAGE = 35   # characters, as the server has it


def is_language(tag: str) -> bool:
    """BCP 47, and what models call groups of languages, such as SCANDINAVIA."""
    return len(tag) <= MOST_LANGUAGE and re.fullmatch(r"[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*", tag) is not None


def check_place(models: pathlib.Path, name: str, force: bool, version: int = 1) -> None:
    """Refuses, before a long conversion, a name that no daemon loads, and the place of a package that is there."""
    check_name(name)
    place = models / name / str(version)
    if place.parent.exists() and not place.parent.is_dir():
        raise ConvertError(f"{place.parent}: is no folder, so that no model can be written there; --as gives the new one another name")
    if place.exists() and not force:
        raise ConvertError(f"{place}: there is a model of this name; --as gives the new one another, --force puts it in the old one's place")


def name_for(text: str) -> str:
    """A name for a package, by that of a file or folder."""
    letters = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9._-]+", "-", letters).strip("-.")[:128] or "model"


_hints = [True]


@contextlib.contextmanager
def without_load_hint(without: bool = True) -> Iterator[None]:
    """For what loads the models itself that are written meanwhile."""
    _hints.append(not without)
    try:
        yield
    finally:
        _hints.pop()


def report_written(models: pathlib.Path, name: str, note: str = "") -> None:
    print(f"{models / name / '1'}: written{note}", flush=True)
    if _hints[-1]:
        print(f"A daemon that serves {models} loads it with: millrace load {name}", flush=True)


def tell_name(args: argparse.Namespace, name: str) -> None:
    """Tells the program that has started this one that a model has come or gone."""
    if args.names_to is not None:
        os.write(args.names_to, f"{name}\n".encode())


@contextlib.contextmanager
def new_version(models: pathlib.Path, name: str, version: int = 1) -> Iterator[pathlib.Path]:
    """Yields an empty folder to fill; on success it becomes models/name/version, on any error it vanishes."""
    model = models / name
    lock = None
    try:
        try:
            model.mkdir(parents=True, exist_ok=True)
            lock = _lock(model)
            for left in model.glob(f".{version}-*"):   # by a run that was killed
                _restore_or_remove(left, model / str(version))
            staging = pathlib.Path(tempfile.mkdtemp(prefix=f".{version}-", dir=model))
        except OSError as error:
            raise ConvertError(f"cannot write to {model}: {error.strerror}") from error
        yield from _filled(staging, models, model / str(version))
    finally:
        if lock is not None:
            os.close(lock)


def _lock(model: pathlib.Path) -> int:
    """Returns the descriptor that keeps others from writing this model until it is closed."""
    lock = os.open(model, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise Busy(f"{model.name}: is being written by another process; wait for it, or name this one with --as") from error
    return lock


def _filled(staging: pathlib.Path, models: pathlib.Path, final: pathlib.Path) -> Iterator[pathlib.Path]:
    try:
        yield staging
        os.chmod(staging, 0o755)   # mkdtemp makes it private
        for file in staging.iterdir():
            if (size := file.stat().st_size) > (most := _MOST_BYTES.get(file.suffix, size)):
                raise ConvertError(f"{final.parent.name}: its {file.name} would have {size} bytes, the server reads at most {most}")
            with open(file, "rb") as opened:
                os.fsync(opened.fileno())
        _swap(staging, final)
    except OSError as error:
        # Of two names the second is the one that was written to.
        where = error.filename2 or error.filename or staging
        if not pathlib.Path(where).is_relative_to(models):
            where = staging
        raise ConvertError(f"cannot write {where}: {error.strerror}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        with contextlib.suppress(OSError):
            final.parent.rmdir()   # only if nothing is in it


def _swap(staging: pathlib.Path, final: pathlib.Path) -> None:
    # A server that still has the old files mapped keeps them: they are unlinked, never overwritten.
    old = staging.with_name(staging.name + OLD)
    if final.exists():
        os.rename(final, old)
    try:
        os.rename(staging, final)
    except BaseException:
        if old.exists():
            os.rename(old, final)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _restore_or_remove(left: pathlib.Path, final: pathlib.Path) -> None:
    if left.name.endswith(OLD) and not final.exists():
        os.rename(left, final)
    else:
        shutil.rmtree(left, ignore_errors=True)
