"""The part of model.pbtxt that names the published model that a package is from."""

import datetime
import hashlib
import json
import pathlib
import re
import shutil
import tempfile

from .package import hash_of, is_name

_ORIGIN = re.compile(r'^origin \{\n  name: ("(?:[^"\\\n]|\\.)*")\n  revision: ("(?:[^"\\\n]|\\.)*")\n', re.MULTILINE)
# The first packages that were pulled have comments in the place of the field.
_COMMENTS = re.compile(r"# Pulled: (.*)\n# Revision: (.*)\n# Date: (.*)\n((?:# SHA-256 of .*: [0-9a-f]{64}\n)*)")
_FILE = re.compile(r"# SHA-256 of (.*): ([0-9a-f]{64})\n")


def _quoted(text: str) -> str:
    """A string of Protobuf's text format, whatever a hub says."""
    return json.dumps(re.sub(r"[^\x20-\x7e]", "?", text)[:256])


def _field(name: str, revision: str, date: str, files: list[tuple[str, str]]) -> str:
    lines = "".join(f"  files {{ name: {_quoted(file)} sha256: \"{sha256}\" }}\n" for file, sha256 in files)
    return f"origin {{\n  name: {_quoted(name)}\n  revision: {_quoted(revision)}\n  date: {_quoted(date)}\n{lines}}}\n"


def origin_field(name: str, revision: str, folder: pathlib.Path) -> str:
    """The field for a package that is made now, of the files in a folder."""
    files = [(str(path.relative_to(folder)), hash_of(path, hashlib.sha256())) for path in sorted(folder.rglob("*")) if path.is_file()]
    return _field(name, revision, str(datetime.datetime.now(datetime.UTC).date()), files)


def _config(model: pathlib.Path) -> str:
    try:
        return (model / "1" / "model.pbtxt").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def origin_of(model: pathlib.Path) -> tuple[str, str] | None:
    """The name and the revision that a package was pulled by."""
    config = _config(model)
    if found := _ORIGIN.search(config):
        return json.loads(found[1]), json.loads(found[2])
    if found := _COMMENTS.match(config):
        return found[1], found[2]
    return None


def is_of(model: pathlib.Path, name: str, revision: str) -> bool:
    return origin_of(model) == (json.loads(_quoted(name)), json.loads(_quoted(revision)))


def pulled(models: pathlib.Path) -> dict[str, list[str]]:
    """The models that are there by the names that they were pulled by."""
    found: dict[str, list[str]] = {}
    for model in sorted(models.iterdir()) if models.is_dir() else []:
        if is_name(model.name) and (origin := origin_of(model)):
            found.setdefault(origin[0], []).append(model.name)
    return found


def upgrade(models: pathlib.Path) -> None:
    """Writes the field where there are comments, so that the server knows where these packages are from. What may not be written stays as
    it is."""
    for model in sorted(models.iterdir()) if models.is_dir() else []:
        config = _config(model) if is_name(model.name) else ""
        if not (found := _COMMENTS.match(config)):
            continue
        path = model / "1" / "model.pbtxt"
        try:
            with tempfile.TemporaryDirectory(prefix=".1-", dir=model) as staging:
                new = pathlib.Path(staging) / path.name
                new.write_text(_field(found[1], found[2], found[3], _FILE.findall(found[4])) + config[found.end():], encoding="utf-8")
                shutil.copymode(path, new)
                new.replace(path)
        except OSError:
            continue
