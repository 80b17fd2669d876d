"""docs/troubleshooting.md quotes messages that the program and its scripts really have."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
SOURCES = [*ROOT.glob("scripts/*.sh"), *(file for folder in ("server", "models", "mps_runtime") for file in (ROOT / folder).rglob("*.cc"))]


def quoted() -> list[str]:
    """The parts of the messages in the first column. Dots stand for what differs, and so do names and numbers."""
    parts = []
    for line in (ROOT / "docs" / "troubleshooting.md").read_text().splitlines():
        if not line.startswith("| `"):
            continue
        for message in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
            parts += [part.strip() for part in re.split(r"\.\.\.|127\.0\.0\.1:\d+|\b8000\b(?= is)", message) if " " in part.strip()]
    return parts


def test_each_message_exists():
    # Literals that a source joins over several lines are one text.
    text = "\n".join(re.sub(r'"\s*\n?\s*"', "", file.read_text()) for file in SOURCES)
    parts = quoted()
    assert len(parts) > 20
    assert [part for part in parts if part not in text] == []
