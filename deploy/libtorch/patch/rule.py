"""Rules, and what they make of the text of a file.

An edit replaces an anchor by a replacement. Each of them must occur exactly once in the text that has it, and every replacement holds the
word `millrace`, which upstream's sources do not have: so the text itself shows whether an edit has been applied, and an edit can be taken
back without a copy of the original."""

import dataclasses
import enum

from .errors import PatchError


@dataclasses.dataclass(frozen=True)
class Edit:
    file: str
    anchor: str
    replacement: str


@dataclasses.dataclass(frozen=True)
class Rule:
    name: str
    why: str
    upstream: tuple[str, ...]
    edits: tuple[Edit, ...]


class State(enum.Enum):
    PENDING = "not applied"
    APPLIED = "applied"
    NO_MATCH = "does not match"


def state_of(edit: Edit, text: bytes) -> State:
    replacements = text.count(edit.replacement.encode())
    if replacements == 1:
        return State.APPLIED
    if replacements == 0 and text.count(edit.anchor.encode()) == 1:
        return State.PENDING
    return State.NO_MATCH


def why_no_match(edit: Edit, text: bytes) -> str:
    """Says what is wrong with an edit whose state in this text is NO_MATCH."""
    replacements, anchors = text.count(edit.replacement.encode()), text.count(edit.anchor.encode())
    if replacements > 1:
        return f"its replacement occurs {replacements} times instead of once"
    first_line = edit.anchor.strip().splitlines()[0].strip()
    if anchors == 0:
        return f"neither its anchor nor its replacement occurs (other release, or edited by hand): {first_line}"
    return f"its anchor occurs {anchors} times instead of once: {first_line}"


def line_of(edit: Edit, text: bytes) -> int:
    """The line where the edit stands or would stand, counted from 1."""
    wanted = edit.replacement if state_of(edit, text) is State.APPLIED else edit.anchor
    return text[: text.index(wanted.encode())].count(b"\n") + 1


def rewrite(text: bytes, edits: list[Edit], goal: State) -> bytes:
    """Applies the edits that are pending (goal APPLIED), or takes back those that are applied (goal PENDING). The places are found in
    `text`, not in what earlier edits made of it."""
    swaps = []
    for edit in edits:
        old, new = edit.anchor.encode(), edit.replacement.encode()
        if goal is State.PENDING:
            old, new = new, old
        if state_of(edit, text) is not goal:
            swaps.append((text.index(old), old, new))
    result, end = b"", 0
    for begin, old, new in sorted(swaps):
        if begin < end:
            raise PatchError(f"{edits[0].file}: two edits overlap")
        result += text[end:begin] + new
        end = begin + len(old)
    result += text[end:]
    # An edit that is not recognised in its own result could not be reverted.
    if any(state_of(edit, result) is not goal for edit in edits):
        raise PatchError(f"{edits[0].file}: the edits would not be recognised afterwards")
    return result
