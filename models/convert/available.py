"""Lists the names that `pull` takes, as the hubs have them now."""

import argparse
import dataclasses
import json
import pathlib
import sys
from collections.abc import Callable, Iterator

from . import hubs
from .catalogue import (FIREFOX_LICENSE, UNKNOWN_LICENSE, firefox_records, is_non_commercial, is_release, known_model, only_of_firefox, packages, registry,
                        voice_index)
from .http_client import Client
from .language_tags import tag_of
from .model_names import KNOWN, nearest
from .origin import pulled
from .package import name_for, printable
from .pull_error import NotFound, PullError, Unreachable


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    task: str
    languages: str
    bytes: int | None
    license: str
    model: str                    # its name in the repository, unless told otherwise
    non_commercial: bool
    installed: str | None = None  # the name of the model that was pulled by this one


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("filter", nargs="?", default="", help="a part of the name, a language or a task (default: all)")
    parser.add_argument("--json", action="store_true", help="write a JSON object a line")


def run(args: argparse.Namespace) -> None:
    client = Client(hubs.hugging_face())
    installed = _installed(args.models)
    failed: PullError | None = None
    names, found = [], False
    for entries in (_known, _voices, _pairs, _packages):
        try:
            for entry in entries(client):
                names.append(entry.name)
                if args.filter.lower() in entry.name.lower() or args.filter.lower() in (entry.task, *entry.languages.lower().split()):
                    found = True
                    print(_line(dataclasses.replace(entry, installed=installed(entry)), args.json), flush=True)
        except PullError as error:
            if args.json:
                print(json.dumps({"event": "notice", "message": str(error)}))
            else:
                print(f"millrace models --available: {error}", file=sys.stderr)
            failed = error
    if failed is not None:
        raise type(failed)("the list is not complete: not every hub answered")
    if not found:
        raise NotFound(f"'{args.filter}' is no part of a name, no language and no task; {nearest(args.filter, names)}")


def _line(entry: Entry, as_json: bool) -> str:
    if as_json:
        return json.dumps(dataclasses.asdict(entry))
    size = f"{entry.bytes / 1e6:.0f} MB" if entry.bytes else "-"
    notes = [note for note, holds in (("needs --license-ok", entry.non_commercial), ("installed", entry.installed)) if holds]
    suffix = f" ({', '.join(notes)})" if notes else ""
    return printable(f"{entry.name:40} {entry.task:12} {entry.languages:10} {size:>8} {entry.license}{suffix}")


def _installed(models: pathlib.Path) -> Callable[[Entry], str | None]:
    """Finds the model of an entry, by what it was pulled by or, of one that does not say, by its own name."""
    here = pulled(models)
    said = {name for names in here.values() for name in names}
    return lambda entry: here[entry.name][0] if entry.name in here else (
        entry.model if entry.model not in said and (models / entry.model / "1" / "model.pbtxt").exists() else None)


def _entry(name: str, task: str, languages: str, size: int | None, license_text: str, model: str) -> Entry:
    return Entry(name, task, languages, size, license_text, model, is_non_commercial(license_text))


def _known(client: Client) -> Iterator[Entry]:
    failed: PullError | None = None
    for name, known in KNOWN.items():
        size, license_text = None, known.license
        if not isinstance(failed, Unreachable):
            try:
                published = known_model(name, client)
                size, license_text = published.size, published.license
            except NotFound:
                continue   # a mirror need not have all
            except PullError as error:
                failed = error
        yield _entry(name, known.task, known.languages, size, license_text, name)
    if failed is not None:
        raise failed


def _voices(client: Client) -> Iterator[Entry]:
    for key, entry in sorted(voice_index(client).items()):
        language = entry.get("language")
        files = entry.get("files")
        sizes = [file.get("size_bytes") for file in files.values() if isinstance(file, dict)] if isinstance(files, dict) else []
        code = language.get("code") if isinstance(language, dict) else key.partition("-")[0]
        yield _entry(f"piper/{key}", "speech", str(code).replace("_", "-"), sum(size for size in sizes if isinstance(size, int)),
                     UNKNOWN_LICENSE, name_for(key))


def _pairs(client: Client) -> Iterator[Entry]:
    known = registry(client)
    yield from _released(known)
    for pair, record in sorted(only_of_firefox(known, firefox_records(client)).items()):
        languages = " ".join(record[field] for field in ("sourceLanguage", "targetLanguage"))
        size = record["attachment"].get("size")
        yield _entry(f"firefox/{pair}", "translation", languages, size if type(size) is int else None, FIREFOX_LICENSE, name_for(f"firefox-{pair}"))


def _released(known: dict[str, list]) -> Iterator[Entry]:
    for pair, releases in sorted(known.items()):
        usable = list(filter(is_release, releases))
        if not usable:
            continue
        # The registry has the size of the weights, which is nearly all.
        sizes = [file.get("uncompressedSize") for file in usable[-1]["files"].values() if isinstance(file, dict)]
        size = sum(size for size in sizes if isinstance(size, int) and not isinstance(size, bool))
        yield _entry(f"firefox/{pair}", "translation", _languages(pair), size or None, FIREFOX_LICENSE, name_for(f"firefox-{pair}"))


def _packages(client: Client) -> Iterator[Entry]:
    for pair in sorted(packages(client)):
        yield _entry(f"argos/{pair}", "translation", _languages(pair), None, UNKNOWN_LICENSE, name_for(f"argos-{pair}"))


def _languages(pair: str) -> str:
    return " ".join(map(tag_of, pair.split("-")))
