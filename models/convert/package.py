"""Writes one version of a model into a repository so that a reader sees either all of it or nothing."""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Iterator

OLD = ".old"   # ends the name of the version that a new one replaces, for a moment


class ConvertError(Exception):
    """What went wrong, in words for the person who ran the command."""
    status = 1   # of the command


def is_name(name: str) -> bool:
    """As models/repository/model_sources.cc has it."""
    return re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}", name) is not None


def check_place(models: pathlib.Path, name: str, force: bool, version: int = 1) -> None:
    """Refuses, before a long conversion, a name that no daemon loads, and the place of a package that is there."""
    if not is_name(name):
        raise ConvertError(f"--name: '{name}' is no name of a model; allowed are 1..128 letters, digits, '.', '_' and '-', not starting with '.'")
    place = models / name / str(version)
    if place.exists() and not force:
        raise ConvertError(f"{place}: there is a model of this name; --name gives the new one another, --force puts it in the old one's place")


def name_for(text: str) -> str:
    """A name for a package, by that of a file or folder."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-.")[:128] or "model"


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
    try:
        model.mkdir(parents=True, exist_ok=True)
        for left in model.glob(f".{version}-*"):   # by a run that was killed
            _restore_or_remove(left, model / str(version))
        staging = pathlib.Path(tempfile.mkdtemp(prefix=f".{version}-", dir=model))
    except OSError as error:
        raise ConvertError(f"cannot write to {model}: {error.strerror}") from error
    try:
        yield staging
        os.chmod(staging, 0o755)   # mkdtemp makes it private
        for file in staging.iterdir():
            with open(file, "rb") as opened:
                os.fsync(opened.fileno())
        _swap(staging, model / str(version))
    except OSError as error:
        # Of two names the second is the one that was written to.
        where = error.filename2 or error.filename or staging
        if not pathlib.Path(where).is_relative_to(models):
            where = staging
        raise ConvertError(f"cannot write {where}: {error.strerror}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        with contextlib.suppress(OSError):
            model.rmdir()   # only if nothing is in it


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
