"""A checkout of PyTorch: its release, its files, and what the rules find in them."""

import contextlib
import fcntl
import os
import pathlib
import re

from .errors import PatchError
from .rule import Edit, Rule, State, line_of, rewrite, state_of, why_no_match


class Checkout:
    """Reads each file once: all that a run decides is decided on the same bytes."""

    def __init__(self, root: pathlib.Path, rules: tuple[Rule, ...]):
        self.root = root
        self.rules = rules
        self._texts: dict[str, bytes | None] = {}

    @contextlib.contextmanager
    def lock(self):
        """Keeps other runs from this checkout. The lock ends with the process, however it ends."""
        if not self.root.is_dir():
            raise PatchError(f"{self.root}: not a folder")
        folder = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise PatchError(f"{self.root}: another run is at work here") from None
        finally:
            os.close(folder)

    def release(self) -> str:
        """2.15.0 of version.txt, which says 2.15.0a0 in the source of that release."""
        text = self._text("version.txt")
        match = re.fullmatch(rb"(\d+\.\d+\.\d+)(a0)?(\+\S+)?\s*", text or b"")
        if match is None:
            raise PatchError(f"{self.root}: no checkout of PyTorch: version.txt must hold a version such as 2.15.0a0")
        return match[1].decode()

    def problems(self) -> list[str]:
        """One line for each edit that cannot be recognised."""
        found = []
        for rule in self.rules:
            for edit in rule.edits:
                text = self._text(edit.file)
                if text is None:
                    found.append(f"rule {rule.name}: {edit.file}: no such file")
                elif state_of(edit, text) is State.NO_MATCH:
                    found.append(f"rule {rule.name}: {edit.file}: {why_no_match(edit, text)}")
        return found

    def states(self, rule: Rule) -> set[State]:
        """The states of its edits; there must be no problems."""
        return {state_of(edit, self._bytes(edit.file)) for edit in rule.edits}

    def places(self, rule: Rule) -> list[str]:
        """FILE:LINE of each edit; there must be no problems."""
        return [f"{edit.file}:{line_of(edit, self._bytes(edit.file))}" for edit in rule.edits]

    def changes(self, goal: State) -> dict[str, tuple[bytes, bytes]]:
        """What is to be written so that all edits are applied, or none: file -> (before, after); there must be no problems."""
        edits: dict[str, list[Edit]] = {}
        for rule in self.rules:
            for edit in rule.edits:
                edits.setdefault(edit.file, []).append(edit)
        changed = {}
        for file, those in edits.items():
            before = self._bytes(file)
            after = rewrite(before, those, goal)
            if after != before:
                changed[file] = (before, after)
        return changed

    def _bytes(self, file: str) -> bytes:
        text = self._text(file)
        assert text is not None
        return text

    def _text(self, file: str) -> bytes | None:
        """None where there is no regular file of that name."""
        if file not in self._texts:
            path = self.root / file
            self._texts[file] = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        return self._texts[file]
