"""Writes several files of a folder so that a kill, or an error, at any point leaves all of them as they were or is undone by the next run.

The old and the new contents are first written to a folder of their own beside the files. Its rename to JOURNAL begins the transaction: from
there on, and until JOURNAL is renamed away, the files may be of both kinds, and `undo` restores the old ones. Every file is replaced by a
rename and so never half written."""

import hashlib
import json
import os
import pathlib
import shutil

from .errors import PatchError

JOURNAL = ".millrace-patch"
UNBEGUN = JOURNAL + ".new"
ENDED = JOURNAL + ".old"


def is_interrupted(root: pathlib.Path) -> bool:
    """True when an earlier run was killed while it replaced files: undo() must come first."""
    return (root / JOURNAL).is_dir()


def write(root: pathlib.Path, changes: dict[str, tuple[bytes, bytes]]) -> None:
    """Replaces the files, whose names are relative to root: name -> (before, after). On an error they are as before."""
    try:
        _prepare(root, changes)
        for number, name in enumerate(changes):
            os.replace(root / JOURNAL / f"{number}.after", root / name)
        _end(root)
    except OSError as error:
        try:
            undo(root)
        except OSError as second:
            raise PatchError(f"{root}: {error}; some files may be changed and could not be restored: {second}. The next run tries again") from error
        raise


def undo(root: pathlib.Path) -> None:
    """Restores what an interrupted run replaced, and removes what any run left behind."""
    for leftover in (UNBEGUN, ENDED):
        if (root / leftover).is_dir():
            shutil.rmtree(root / leftover)
    if not is_interrupted(root):
        return
    journal = root / JOURNAL
    files = json.loads((journal / "files.json").read_text())
    restore = []
    for number, file in enumerate(files):
        target = root / file["name"]
        now = _digest(target.read_bytes()) if target.is_file() else "no file"
        if now not in (file["before"], file["after"]):
            raise PatchError(f"{target}: edited after a run was interrupted; its original is {journal / f'{number}.before'}. "
                             f"Restore what you need and remove {journal}")
        if now == file["after"]:
            restore.append((journal / f"{number}.before", target))
    for original, target in restore:
        copy = journal / "copy"
        _write_file(copy, original.read_bytes(), target)
        os.replace(copy, target)
    _end(root)


def _prepare(root: pathlib.Path, changes: dict[str, tuple[bytes, bytes]]) -> None:
    folder = root / UNBEGUN
    folder.mkdir()
    for number, (name, (before, after)) in enumerate(changes.items()):
        _write_file(folder / f"{number}.before", before, root / name)
        _write_file(folder / f"{number}.after", after, root / name)
    files = [{"name": name, "before": _digest(before), "after": _digest(after)} for name, (before, after) in changes.items()]
    _write_file(folder / "files.json", json.dumps(files).encode())
    _flush_folder(folder)
    os.rename(folder, root / JOURNAL)
    _flush_folder(root)


def _end(root: pathlib.Path) -> None:
    os.rename(root / JOURNAL, root / ENDED)
    shutil.rmtree(root / ENDED, ignore_errors=True)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_file(path: pathlib.Path, content: bytes, permissions_of: pathlib.Path | None = None) -> None:
    with open(path, "wb") as file:
        file.write(content)
        if permissions_of is not None:
            os.fchmod(file.fileno(), permissions_of.stat().st_mode & 0o7777)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: pathlib.Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
