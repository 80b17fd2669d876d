"""Lists the names that `pull` takes, as the hubs have them now."""

import argparse
import dataclasses
import json
import pathlib
import sys

from . import hubs
from .catalogue import FIREFOX_LICENSE, KNOWN, UNKNOWN_LICENSE, is_release, registry, voice_index
from .http_client import Client
from .package import name_for
from .pull_error import PullError


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    task: str
    languages: str
    bytes: int | None
    license: str
    installed: bool


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("filter", nargs="?", default="", help="a part of the name, or a language (default: all)")
    parser.add_argument("--json", action="store_true", help="write a JSON object a line")


def run(args: argparse.Namespace) -> None:
    client = Client(hubs.hugging_face())
    failed: PullError | None = None
    for entries in (_known, _voices, _pairs):
        try:
            for entry in entries(client, args.models):
                if args.filter.lower() in entry.name.lower() or args.filter.lower() in entry.languages.lower().split():
                    print(_line(entry, args.json))
        except PullError as error:
            print(f"millrace models --available: {error}", file=sys.stderr)
            failed = error
    if failed is not None:
        raise type(failed)("the list is not complete: not every hub answered")


def _line(entry: Entry, as_json: bool) -> str:
    if as_json:
        return json.dumps(dataclasses.asdict(entry))
    size = f"{entry.bytes / 1e6:.0f} MB" if entry.bytes else "-"
    return f"{entry.name:40} {entry.task:12} {entry.languages:10} {size:>8} {entry.license}{' (installed)' if entry.installed else ''}"


def _installed(models: pathlib.Path, name: str) -> bool:
    return (models / name / "1" / "model.pbtxt").exists()


def _known(_: Client, models: pathlib.Path) -> list[Entry]:
    return [Entry(name, known.task, known.languages, None, known.license, _installed(models, name)) for name, known in KNOWN.items()]


def _voices(client: Client, models: pathlib.Path) -> list[Entry]:
    found = []
    for key, entry in sorted(voice_index(client).items()):
        language = entry.get("language")
        files = entry.get("files")
        sizes = [file.get("size_bytes") for file in files.values() if isinstance(file, dict)] if isinstance(files, dict) else []
        code = language.get("code") if isinstance(language, dict) else key.partition("-")[0]
        found.append(Entry(f"piper/{key}", "speech", str(code).replace("_", "-"), sum(size for size in sizes if isinstance(size, int)),
                           UNKNOWN_LICENSE, _installed(models, name_for(key))))
    return found


def _pairs(client: Client, models: pathlib.Path) -> list[Entry]:
    return [Entry(f"firefox/{pair}", "translation", pair.replace("-", " ", 1), None, FIREFOX_LICENSE, _installed(models, name_for(f"firefox-{pair}")))
            for pair, releases in sorted(registry(client).items()) if any(is_release(release) and "vocab" in release["files"] for release in releases)]
