"""Fetches models by name, verifies them, and makes packages of them as `add` does."""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import sys
import time
from collections.abc import Iterator

from . import hubs
from .add import check_kind, check_options, configure_package, install
from .archive import decompress
from .catalogue import Published, is_non_commercial, resolve
from .http_client import Client, RemoteFile
from .load import load
from .model_names import models_of
from .origin import is_of, origin_field, origin_of, pulled, upgrade
from .package import Busy, UsageError, calling, check_place, hash_of, printable, tell_name
from .pull_error import LicenseNotAccepted, NotGenuine, PullError, Unreachable
from .sources import recognise

_REPORT_SECONDS, _PLAIN_REPORT_SECONDS = 0.5, 5
_SPARE = 64 << 20   # on the disk, beside twice the files


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="NAME", help="such as piper/en_US-lessac-medium, firefox/en-de, firefox/de (both directions), "
                        "kokoro-82m, opus-mt-en-de, nllb-200-distilled-600m, hf:<owner>/<repository>[@<revision>]")
    parser.add_argument("--license-ok", action="store_true", help="accept a licence that allows no commercial use")
    parser.add_argument("--only-missing", action="store_true", help="ask no hub for models of these names that are there, in any revision")
    configure_package(parser)


class Reporter:
    """Tells the person, or a program, how far a transfer is."""

    def __init__(self, as_json: bool):
        self._json, self._line = as_json, False
        self._before, self._size = 0, None   # bytes of the model's files that are there, and of all
        self._terminal = not as_json and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._interval = _REPORT_SECONDS if as_json or self._terminal else _PLAIN_REPORT_SECONDS
        self._next = time.monotonic() + self._interval   # what is done sooner needs no line

    def say(self, event: str, text: str, **fields) -> None:
        if self._json:
            print(json.dumps({"event": event, **fields, "message": text}), flush=True)
        else:
            self.end_line()
            print(printable(text), flush=True)

    def begin(self, published: Published) -> None:
        self._before, self._size = 0, published.size

    def fetched(self, size: int) -> None:
        self._before += size

    def transfer(self, file: RemoteFile, done: int, started: float) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._interval
        if self._json:
            print(json.dumps({"event": "progress", "file": file.name, "bytes": done, "size": file.size,
                              "model_bytes": self._before + done, "model_size": self._size}), flush=True)
            return
        speed = done / max(now - started, 1e-3)
        left = f", {(file.size - done) / max(speed, 1):.0f} s left" if file.size else ""
        line = f"{printable(file.name)}: {done / 1e6:.1f}{f' of {file.size / 1e6:.1f}' if file.size else ''} MB, {speed / 1e6:.1f} MB/s{left}"
        if self._terminal:
            # A line that wraps could not be written over; its end tells how far it is.
            print(f"\r\033[K{line[1 - shutil.get_terminal_size().columns:]}", end="", flush=True)
        else:
            print(line, flush=True)
        self._line = self._terminal

    def end_line(self) -> None:
        if self._line:
            print(flush=True)
            self._line = False


def run(args: argparse.Namespace) -> None:
    check_options(args)
    reporter = Reporter(args.json)
    client = Client(hubs.hugging_face(), lambda text: reporter.say("retry", text, reason=text))
    upgrade(args.models)
    here = pulled(args.models) if args.only_missing else {}
    found: dict[str, Published] = {}
    for asked in (name for names in args.names for name in names.split(",")):   # with commas as `serve --pull` has them
        there = models_of(asked, here)
        try:
            published = [] if all(there) else resolve(asked, client)
        except Unreachable:
            if not any(there):
                raise
            published = []   # the other direction may never have been published
        for name in (models[0] for models in there if models):
            reporter.say("present", f"{name}: is there already", name=name)
        found |= {each.asked: each for each in published if not models_of(each.asked, here)[0]}
    if args.name and len(found) > 1:
        raise UsageError("--as: names one model, but several were asked for")
    for each in found.values():
        _check(each, args)   # before the first one is fetched
    try:
        for each in found.values():
            _pull(each, args, client, reporter)
    finally:
        reporter.end_line()


def _is_there(published: Published, args: argparse.Namespace) -> bool:
    return not args.force and is_of(args.models / (args.name or published.name), published.asked, published.revision)


def _check(published: Published, args: argparse.Namespace) -> None:
    if _is_there(published, args):
        return
    name = args.name or published.name
    if not args.force and (there := origin_of(args.models / name)) and there[0] == published.asked:
        raise PullError(f"{name}: is there in revision {there[1]}, and {published.revision} is published; --force puts it in its place")
    check_place(args.models, name, args.force)
    check_kind(published.kind, args, name)
    if is_non_commercial(published.license) and not args.license_ok:
        raise LicenseNotAccepted(f"{published.asked}: its licence is {published.license}, which allows no commercial use; --license-ok accepts it")


def _pull(published: Published, args: argparse.Namespace, client: Client, reporter: Reporter) -> None:
    name = args.name or published.name
    if _is_there(published, args):
        reporter.say("present", f"{name}: is there already, revision {published.revision}", name=name, revision=published.revision)
        tell_name(args, name)   # the server may not have loaded it
        if args.load:
            load(args.load, name)
        return
    _check(published, args)   # two names may be of one model
    size = f"{published.size / 1e6:.1f} MB, " if published.size is not None else ""
    reporter.say("pull", f"{name}: {size}licence {published.license}, revision {published.revision}", name=name, size=published.size,
                 license=published.license, revision=published.revision)
    if unverified := [file.name for file in published.files if not file.verified]:
        reporter.say("unverified", f"{name}: no hash is published of {', '.join(unverified)}", files=unverified)
    if weak := [file.name for file in published.files if file.md5 and not (file.sha256 or file.git_sha1)]:
        reporter.say("weak", f"{name}: only an MD5 is published of {', '.join(weak)}, which tells damage but no forgery", files=weak)
    try:
        with _staging(args.models, name) as folder:
            _make_room(folder, published)
            _fetch(published, folder / "files", client, reporter)
            reporter.say("converting", f"{name}: fetched; converting", name=name)
            (scratch := folder / "scratch").mkdir()
            options = argparse.Namespace(**vars(args) | {
                "name": name, "license": published.license[:256], "origin": origin_field(published.asked, published.revision, folder / "files"),
                "source": args.source or published.source, "target": args.target or published.target, "notices": (notices := [])})
            # A converter speaks to a person.
            with contextlib.redirect_stdout(sys.stderr) if args.json else contextlib.nullcontext(), \
                    calling({folder / "files": published.asked, scratch / "unpacked": published.asked, scratch / "plain": published.asked}):
                install(recognise(folder / "files", scratch).named(published.name), options)
    except OSError as error:
        raise PullError(f"cannot write to {error.filename or args.models}: {error.strerror or error}; nothing was installed") from error
    for notice in notices:
        reporter.say("unmeasured", notice, name=name)
    reporter.say("installed", f"{name}: installed in {args.models}", name=name, path=str(args.models / name))


def _fetch(published: Published, folder: pathlib.Path, client: Client, reporter: Reporter) -> None:
    reporter.begin(published)
    for file in published.files:
        started = time.monotonic()
        path = folder / file.name
        plain = path.with_suffix("") if file.name.endswith((".gz", ".zst")) else path
        client.download(file, path, lambda done, file=file, started=started: reporter.transfer(file, done, started))
        reporter.fetched(path.stat().st_size)
        if plain != path:
            decompress(path, plain)
            path.unlink()
        _verify_plain(file, plain)


def _verify_plain(file: RemoteFile, path: pathlib.Path) -> None:
    if file.plain_sha256 and (found := hash_of(path, hashlib.sha256())) != file.plain_sha256.lower():
        path.unlink()
        raise NotGenuine(f"{file.url}: holds a file with the SHA-256 {found}, announced was {file.plain_sha256}; nothing was installed")


@contextlib.contextmanager
def _staging(models: pathlib.Path, name: str) -> Iterator[pathlib.Path]:
    """A hidden folder that one process has at a time. It stays only when a transfer was cut, for the next one to go on from."""
    made = [folder for folder in (models, *models.parents) if not folder.exists()]
    folder = models / f".pull-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    keep = False
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            keep = True
            raise Busy(f"{name}: is being pulled by another process; wait for it, or name this one with --as") from error
        shutil.rmtree(folder / "scratch", ignore_errors=True)
        yield folder
    except (Unreachable, KeyboardInterrupt):
        keep = any(file.is_file() for file in folder.rglob("*"))
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
        with contextlib.suppress(OSError):
            for empty in made:
                empty.rmdir()


def _make_room(folder: pathlib.Path, published: Published) -> None:
    needed = 2 * sum(file.plain_size or file.size or 0 for file in published.files) + _SPARE
    if (free := shutil.disk_usage(folder).free) < needed:
        raise PullError(f"{folder.parent}: {needed} bytes are needed, {free} are free; make room, or name another folder with --models")
