"""The names that `pull` takes: how they are written, and which models of a repository they stand for."""

import dataclasses
import difflib
import json
import pathlib
import re
from typing import Any

from .language_tags import tag_of
from .pull_error import NotFound


@dataclasses.dataclass(frozen=True)
class Known:
    """A model with a short name."""
    repository: str
    task: str
    languages: str
    license: str                 # as it is listed; the hub's own counts when it is pulled
    source: str | None = None    # language of requests that name none, where the model has many
    target: str | None = None


KNOWN = {
    "kokoro-82m": Known("hexgrad/Kokoro-82M", "speech", "8", "Apache-2.0"),
    "kokoro-82m-zh": Known("hexgrad/Kokoro-82M-v1.1-zh", "speech", "zh en", "Apache-2.0"),
    "nllb-200-distilled-600m": Known("facebook/nllb-200-distilled-600M", "translation", "200", "CC-BY-NC-4.0", "en", "de"),
    "nllb-200-distilled-1.3b": Known("facebook/nllb-200-distilled-1.3B", "translation", "200", "CC-BY-NC-4.0", "en", "de"),
    "m2m100-418m": Known("facebook/m2m100_418M", "translation", "100", "MIT", "en", "de"),
    "m2m100-1.2b": Known("facebook/m2m100_1.2B", "translation", "100", "MIT", "en", "de"),
}
_FORMS = ("piper/<voice>", "firefox/<language>-<language>", "argos/<language>-<language>", "opus-mt-<language>-<language>", "hf:<owner>/<repository>[@<revision>]", *KNOWN)
_EXAMPLES = ("piper/en_US-lessac-medium", "firefox/en-de", "argos/en-de", "opus-mt-en-de")
_PAIRS = ("firefox", "argos")   # kinds whose names are pairs of languages
_OWNED = r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*{})"
_REPOSITORY = re.compile(_OWNED.format("") + r"(?:@([\w./-]+))?", re.ASCII)
# A page of the hub, or a file of a repository, as people copy them.
_ADDRESS = re.compile(r"(?:hf:)?(?:[a-z]+:)?/*(?:[\w-]+(?:\.[\w-]+)+(?::\d+)?/)?" + _OWNED.format("?") + r"(?:/(?:tree|blob|resolve)/([^/?#]+))?(?:[/?#].*)?", re.ASCII)
_VOICE = re.compile(r"[a-z]{2,3}[-_][a-z]{2}-\w+-(?:x_low|low|medium|high)", re.ASCII | re.IGNORECASE)
_LANGUAGES = re.compile(r"[a-z]{2,3}(?:[-_][a-z]{2,4}){0,3}", re.ASCII | re.IGNORECASE)


def canonical(asked: str) -> str:
    """The spelling that is recorded: short names and kinds are known in any case, and as the hub's repositories write them."""
    asked = asked.strip().rstrip("/")
    kind, slash, rest = asked.partition("/")
    if slash and kind.lower() in ("piper", *_PAIRS):
        return f"{kind.lower()}/{rest}"
    if (known := asked.lower().replace("_", "-")) in KNOWN:
        return known
    opus, hub = "opus-mt-", "hf:"
    prefix = next((prefix for prefix in (opus, hub) if asked.lower().startswith(prefix)), "")
    return prefix + asked[len(prefix):]


def repository_of(asked: str) -> tuple[str, str] | None:
    """The repository and the revision of a name that begins with hf:."""
    found = _REPOSITORY.fullmatch(asked.removeprefix("hf:"))
    return (found[1], found[2] or "main") if found else None


def pair_spelling(pair: str) -> str:
    """What pairs of languages are compared by, whether languages are written as the publisher does or by their tags."""
    return "-".join(map(tag_of, pair.lower().split("-"))).lower().replace("_", "-")


def models_of(asked: str, here: dict[str, list[str]]) -> list[list[str]]:
    """The models that are there of each that a name stands for. here: as `pulled` gives them."""
    def spelling(name: str) -> str:
        kind, _, rest = canonical(name).partition("/")
        return f"{kind}/{pair_spelling(rest)}" if kind in _PAIRS else canonical(name).lower()

    there = {spelling(name): models for name, models in here.items()}
    if (models := there.get(spelling(asked))) is not None:
        return [models]
    kind, _, rest = canonical(asked).partition("/")
    directions = (f"{kind}/{rest}-en", f"{kind}/en-{rest}") if kind in _PAIRS else (asked,)
    return [there.get(spelling(name), []) for name in directions]


def unknown(asked: str) -> NotFound:
    """Of a name of no kind; says how what was probably meant is named."""
    told = f"'{asked}' is no model that is known"
    if _VOICE.fullmatch(asked):
        return NotFound(f"{told}; a voice of Piper is named piper/{asked}")
    if _LANGUAGES.fullmatch(asked):
        return NotFound(f"{told}; a pair of languages is named firefox/{asked} or argos/{asked}")
    if asked and pathlib.Path(asked).exists():
        return NotFound(f"{told}; this machine's file or folder is added by: millrace add {asked}")
    if found := _ADDRESS.fullmatch(asked):
        revision = f"@{found[2]}" if found[2] not in (None, "main") else ""
        return NotFound(f"{told}; a repository of the hub is named hf:{found[1]}{revision}")
    if asked.startswith("hf:"):
        return NotFound(f"'{asked}' is no hf:<owner>/<repository>[@<revision>]")
    return NotFound(f"{told}; {nearest(asked, [*KNOWN, *_EXAMPLES])}; names are {', '.join(_FORMS)}")


def nearest(asked: str, names: list[str]) -> str:
    lower = {name.lower(): name for name in names}
    near = [lower[name] for name in difflib.get_close_matches(asked.lower(), lower, 3, 0)]
    return f"nearest are {', '.join(map(shown, near))}" if near else "there are none"


def shown(value: Any) -> str:
    """What a hub said, for a message of one line."""
    return json.dumps(str(value)[:80])[1:-1]
