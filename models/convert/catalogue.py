"""Names of published models: which files they have, where these are, and what they must hash to."""

import dataclasses
import json
import pathlib
import re
import urllib.parse
import zlib
from collections.abc import Iterable
from typing import Any

from . import hubs
from .http_client import MOST_JSON, Client, RemoteFile
from .language_tags import tag_of
from .model_names import KNOWN, canonical, nearest, pair_spelling, repository_of, shown, unknown
from .package import name_for
from .pull_error import NotFound, NotGenuine, PullError

PIPER_REPOSITORY = "rhasspy/piper-voices"
FIREFOX_LICENSE = "MPL-2.0"
UNKNOWN_LICENSE = "NOASSERTION"
MOST_CARD = 1 << 20
MOST_PACKAGE = 4 << 30   # of Argos, whose sizes are not published
_TRANSLATOR_FILES = re.compile(r"[^/]+\.(json|spm|model)")
_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z]{2,4})?", re.ASCII)
_CODE = re.compile(r"[A-Za-z][A-Za-z_]{1,15}", re.ASCII)
_SHA256, _SHA1, _MD5 = (re.compile(rf"[0-9a-fA-F]{{{length}}}") for length in (64, 40, 32))


@dataclasses.dataclass(frozen=True)
class Published:
    asked: str                   # as the person named it
    name: str                    # in the repository, unless told otherwise
    files: list[RemoteFile]
    license: str
    revision: str
    kind: str                    # of a converter
    source: str | None = None    # language of requests that name none
    target: str | None = None

    @property
    def size(self) -> int | None:
        """Of the transfer; None where it is not announced."""
        return sum(file.size for file in self.files) if all(file.size is not None for file in self.files) else None


def resolve(asked: str, client: Client) -> list[Published]:
    """One model, or both directions of `firefox/<language>` and `argos/<language>`."""
    asked = canonical(asked)
    kind, slash, rest = asked.partition("/")
    if asked.startswith("hf:"):
        if (repository := repository_of(asked)) is None:
            raise unknown(asked)
        return [_of_repository(asked, client, *repository)]
    if slash and kind == "piper":
        return [_voice(asked, client, rest)]
    if slash and kind == "firefox":
        return _pairs(asked, client, rest)
    if slash and kind == "argos":
        return _packages(asked, client, rest)
    if asked in KNOWN:
        return [known_model(asked, client)]
    if re.fullmatch(r"opus-mt(-tc-big)?-[A-Za-z_]+-[A-Za-z_]+", asked):
        return [_of_repository(asked, client, f"Helsinki-NLP/{asked}", "main")]
    raise unknown(asked)


def known_model(name: str, client: Client) -> Published:
    known = KNOWN[name]
    return dataclasses.replace(_of_repository(name, client, known.repository, "main"), name=name, source=known.source, target=known.target)


def _in_any_case(wanted: str, names: Iterable[str]) -> str:
    """The one of the names that differs in its case alone, or what was given."""
    found = [name for name in names if name.lower() == wanted.lower()]
    return found[0] if len(found) == 1 else wanted


def _object(value: Any, where: str) -> dict:
    if not isinstance(value, dict):
        raise NotGenuine(f"{where}: the answer is not what a hub says; is it the right hub or mirror?")
    return value


def _text(value: Any, form: re.Pattern, where: str) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise NotGenuine(f"{where}: '{shown(value)}' is not what a hub says; is it the right hub or mirror?")
    return value


def _size(value: Any, where: str) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 40):
        raise NotGenuine(f"{where}: the size {shown(value)} is not what a hub says")
    return value


def _inside(name: Any, where: str) -> str:
    """A path below a folder."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\x00-\x1f\\]{1,512}", name) or name.startswith("/") or \
            {"", ".", ".."} & set(name.split("/")):
        raise NotGenuine(f"{where}: the file name '{shown(name)}' would lie outside the folder")
    return name


@dataclasses.dataclass(frozen=True)
class _Repository:
    name: str
    revision: str
    files: dict[str, dict]
    license: str

    def file(self, path: str, local: str | None = None, md5: str | None = None, size: int | None = None) -> RemoteFile:
        given = self.files.get(path, {})
        where = f"{self.name}: {path}"
        url = f"{hubs.hugging_face()}/{self.name}/resolve/{self.revision}/{urllib.parse.quote(path)}"
        large = given.get("lfs") if isinstance(given.get("lfs"), dict) else None
        sha256 = _text(large.get("sha256") or large.get("oid"), _SHA256, where) if large else None
        blob = _text(given["blobId"], _SHA1, where) if not large and given.get("blobId") else None
        stated = _size((large or given).get("size", given.get("size")), where)
        return RemoteFile(url, _inside(local or path, where), size if stated is None else stated, sha256=sha256, git_sha1=blob, md5=md5)


def _repository(client: Client, name: str, revision: str) -> _Repository:
    url = f"{hubs.hugging_face()}/api/models/{name}/revision/{urllib.parse.quote(revision, safe='')}?blobs=true"
    try:
        answer = _object(client.json(url), url)
    except NotFound as error:
        others = _repositories(client, name.partition("/")[0])
        near = f"; {nearest(name, others)}" if others else ""
        raise NotFound(f"{name}@{revision}: there is no such model or revision at {hubs.hugging_face()}{near}{_private(error)}") from error
    siblings = answer.get("siblings")
    if not isinstance(siblings, list):
        raise NotGenuine(f"{url}: has no list of files; is it the right hub or mirror?")
    files = {_inside(_object(entry, url).get("rfilename"), url): entry for entry in siblings}
    card = answer.get("cardData")
    return _Repository(name, _text(answer.get("sha"), _SHA1, url), files, _license(card.get("license") if isinstance(card, dict) else None))


def _private(error: NotFound) -> str:
    return "; HF_TOKEN may be needed, because the hub does not tell strangers which are private" if "HF_TOKEN" in str(error) else ""


def _repositories(client: Client, owner: str) -> list[str]:
    """The hub's models of an owner, as many as it lists at once; none where it does not say."""
    try:
        listed = client.json(f"{hubs.hugging_face()}/api/models?{urllib.parse.urlencode({'author': owner, 'limit': 5000})}")
    except PullError:
        return []
    return [entry["id"] for entry in listed if isinstance(entry, dict) and isinstance(entry.get("id"), str)] if isinstance(listed, list) else []


def _license(text: Any) -> str:
    """As SPDX writes the identifiers that the hub has in small letters."""
    if not isinstance(text, str) or not re.fullmatch(r"[\w.+-]{1,64}", text, re.ASCII) or text in ("other", "unknown"):
        return UNKNOWN_LICENSE
    return {"apache-2.0": "Apache-2.0", "mit": "MIT"}.get(text, text.upper())


def is_non_commercial(license_text: str) -> bool:
    return re.search(r"\bnc\b|non-?\s?commercial", license_text, re.IGNORECASE) is not None


def _of_repository(asked: str, client: Client, name: str, revision: str) -> Published:
    repository = _repository(client, name, revision)
    kind, paths = _choose(repository)
    # A voice may lie in a folder of its own.
    files = [repository.file(path, pathlib.PurePosixPath(path).name if ".onnx" in path else None) for path in paths]
    return Published(asked, name_for(name.partition("/")[2]), files, repository.license, repository.revision, kind)


def _choose(repository: _Repository) -> tuple[str, list[str]]:
    """The kind and the files that a converter reads, told by their names as models/convert/sources.py does."""
    names = sorted(repository.files)
    styles = [name for name in names if re.fullmatch(r"voices/[^/]+\.pt", name)]
    checkpoints = [name for name in names if re.fullmatch(r"[^/]+\.pth", name)]
    if styles and len(checkpoints) == 1 and "config.json" in names:
        return "kokoro", ["config.json", *checkpoints, *styles]
    voices = [name for name in names if name.endswith(".onnx") and name + ".json" in names]
    if len(voices) == 1:
        return "vits", [voices[0] + ".json", voices[0]]
    if voices:
        raise PullError(f"{repository.name}: has {len(voices)} voices; pull one by its name, piper/<voice>, or download it and use add")
    weights = next((name for name in ("model.safetensors", "pytorch_model.bin") if name in names), None)
    if "config.json" in names and weights:
        return "seq2seq", [*(name for name in names if _TRANSLATOR_FILES.fullmatch(name) and not name.endswith(".index.json")), weights]
    raise PullError(f"{repository.name}: has no files of a model that is supported: a Piper voice, Kokoro, or Marian, M2M-100 or NLLB-200 with "
                    "model.safetensors or pytorch_model.bin in one piece")


def voice_index(client: Client) -> dict[str, dict]:
    """Piper's voices by their keys."""
    return _voices(client, _repository(client, PIPER_REPOSITORY, "main"))


def _voices(client: Client, repository: _Repository) -> dict[str, dict]:
    url = repository.file("voices.json").url
    return {key: entry for key, entry in _object(client.json(url), url).items() if isinstance(entry, dict)}


def _voice(asked: str, client: Client, wanted: str) -> Published:
    repository = _repository(client, PIPER_REPOSITORY, "main")
    index = _voices(client, repository)
    aliases = {alias: key for key, entry in index.items() if isinstance(entry.get("aliases"), list) for alias in entry["aliases"] if isinstance(alias, str)}
    if wanted not in index and wanted not in aliases:
        wanted = _in_any_case(wanted, index)
        asked = f"piper/{wanted}"
    key = wanted if wanted in index else aliases.get(wanted)
    if key is None:
        raise NotFound(f"'{asked}' is no voice of {PIPER_REPOSITORY}; {nearest(asked, ['piper/' + name for name in index])}")
    files, card = [], None
    for path, entry in _object(index[key].get("files"), key).items():
        entry = _object(entry, path)
        local = pathlib.PurePosixPath(_inside(path, key)).name
        if local == "MODEL_CARD":
            card = repository.file(path)
        elif local.endswith((".onnx", ".onnx.json")):
            files.append(repository.file(path, local, _text(entry.get("md5_digest"), _MD5, path), _size(entry.get("size_bytes"), path)))
    if sorted(pathlib.PurePosixPath(file.name).suffix for file in files) != [".json", ".onnx"]:
        raise NotGenuine(f"{PIPER_REPOSITORY}: {key} has not one .onnx and one .json file")
    text = client.text(card.url, MOST_CARD).decode("utf-8", "replace") if card else ""
    found = re.search(r"^\W*licen[sc]e\W*:\s*(\S.{0,200})$", text, re.IGNORECASE | re.MULTILINE)
    return Published(asked, name_for(key), sorted(files, key=lambda file: file.size or 0), shown(found[1].strip()) if found else UNKNOWN_LICENSE,
                     repository.revision, "vits")


def registry(client: Client) -> dict[str, list]:
    """Mozilla's releases by pair."""
    url = f"{hubs.firefox_registry()}/db/models.json"
    body = client.text(url, MOST_JSON)
    if body[:2] == b"\x1f\x8b":
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            body = unpacking.decompress(body, MOST_JSON)
        except zlib.error as error:
            raise NotGenuine(f"{url}: is damaged: {error}") from error
    try:
        models = _object(_object(json.loads(body), url).get("models"), url)
    except (ValueError, RecursionError) as error:
        raise NotGenuine(f"{url}: the answer is not JSON; is it the right hub or mirror?") from error
    return {pair: [release for release in releases if isinstance(release, dict) and isinstance(release.get("files"), dict)]
            for pair, releases in models.items() if isinstance(releases, list)}


def _pairs(asked: str, client: Client, wanted: str) -> list[Published]:
    releases, records = registry(client), firefox_records(client)
    only = only_of_firefox(releases, records)
    return [_attached(f"firefox/{pair}", only[pair], records) if pair in only else _pair(f"firefox/{pair}", records, pair, releases[pair])
            for pair in _directions(asked, wanted, releases | only, "Mozilla's")]


def _directions(asked: str, wanted: str, known: Iterable[str], whose: str) -> list[str]:
    """The pair, or those of a language with English in both directions."""
    spellings = {pair_spelling(pair): pair for pair in known}
    given = [wanted] if pair_spelling(wanted) in spellings else [f"{wanted}-en", f"en-{wanted}"]
    pairs = [spellings[name] for name in map(pair_spelling, given) if name in spellings]
    if not pairs:
        kind = asked.partition("/")[0]
        raise NotFound(f"'{asked}' is no pair of {whose}; {nearest(asked, [f'{kind}/{pair}' for pair in known])}")
    return pairs


def packages(client: Client) -> dict[str, list[dict]]:
    """Those of Argos by pair, as their index has them."""
    url = f"{hubs.argos_index()}/index.json"
    index = client.json(url)
    if not isinstance(index, list):
        raise NotGenuine(f"{url}: has no list of packages; is it the right index or mirror?")
    found: dict[str, list[dict]] = {}
    for package in index:
        codes = [package.get(field) for field in ("from_code", "to_code")] if isinstance(package, dict) else []
        if codes and package.get("type", "translate") == "translate" and all(isinstance(code, str) and _CODE.fullmatch(code) for code in codes):
            found.setdefault("-".join(codes), []).append(package)
    return found


def _packages(asked: str, client: Client, wanted: str) -> list[Published]:
    known = packages(client)
    return [_package(pair, max(known[pair], key=_package_version)) for pair in _directions(asked, wanted, known, "Argos'")]


def _package_version(package: dict) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,9}", str(package.get("package_version", "")))]


def _package(pair: str, package: dict) -> Published:
    links = package.get("links")
    # No hash is published, so what is fetched over https is not fetched over less.
    schemes = ("https://", "http://") if hubs.argos_index().startswith("http://") else ("https://",)
    link = next((link for link in links if isinstance(link, str) and link.startswith(schemes)), None) if isinstance(links, list) else None
    if link is None:
        raise NotGenuine(f"argos/{pair}: the index names no https address of its package")
    return Published(f"argos/{pair}", name_for(f"argos-{pair}"), [RemoteFile(link, f"{pair}.argosmodel", most=MOST_PACKAGE)], UNKNOWN_LICENSE,
                     str(package.get("package_version") or "unknown"), "argos")


# Mozilla's names of a release's files, with those of Firefox's records.
_KINDS_OF_FILES = {"vocab": "vocab", "srcVocab": "srcvocab", "trgVocab": "trgvocab", "lexicalShortlist": "lex", "model": "model"}


def is_release(release: dict) -> bool:
    return str(release.get("releaseStatus", "")).startswith("Release")


def only_of_firefox(releases: dict[str, list], records: list[dict]) -> dict[str, dict]:
    """The newest record of the model of each pair that Firefox translates and the registry has no release of."""
    known = {pair_spelling(pair) for pair, found in releases.items() if any(map(is_release, found))}
    found: dict[str, dict] = {}
    for record in records:
        codes = [record.get(field) for field in _OF_ONE_RELEASE[:2]]
        # A filter says that only some of Firefox's users are to have it.
        if record.get("fileType") != "model" or record.get("filter_expression") or not isinstance(record.get("attachment"), dict) or \
                not all(isinstance(code, str) and _TAG.fullmatch(code) for code in codes):
            continue
        pair = "-".join(codes)
        if pair_spelling(pair).replace("zh-hans", "zh") not in known and _version(record) > _version(found.get(pair)):
            found[pair] = record
    return found


def _attached(asked: str, record: dict, records: list[dict]) -> Published:
    """A pair whose files are Firefox's own."""
    files = []
    for entry in _of_release(records, record).values():
        attachment = _object(entry.get("attachment"), asked)
        location, name = (_inside(attachment.get(field), asked) for field in ("location", "filename"))
        files.append(RemoteFile(f"{hubs.firefox_attachments()}/{urllib.parse.quote(location)}", pathlib.PurePosixPath(name).name,
                                _size(attachment.get("size"), asked), sha256=_text(attachment.get("hash"), _SHA256, asked),
                                plain_sha256=_text(entry.get("decompressedHash"), _SHA256, asked), plain_size=_size(entry.get("decompressedSize"), asked)))
    languages = [record[field] for field in _OF_ONE_RELEASE[:2]]
    return Published(asked, name_for(asked.replace("/", "-")), files, FIREFOX_LICENSE, str(record.get("version")), "bergamot", *languages)


def _of_release(records: list[dict], record: dict) -> dict[str, dict]:
    """The records of the same release by the kinds of their files."""
    return {entry["fileType"]: entry for entry in records if entry.get("fileType") in _KINDS_OF_FILES.values() and
            all(entry.get(field) == record.get(field) for field in _OF_ONE_RELEASE)}


def _pair(asked: str, records: list[dict], pair: str, releases: list[dict]) -> Published:
    released = [release for release in releases if is_release(release)]
    if not released:
        raise NotFound(f"'{asked}': Mozilla has no release of this pair yet")
    languages = [tag_of(code) for code in pair.split("-", 1)]
    found = []
    for release in released:
        stated = _object(release["files"].get("model"), asked).get("uncompressedHash")
        # By the weights, because Firefox writes some languages otherwise: zh-Hans where the registry has zh.
        known = [record for record in records if record.get("fileType") == "model" and record.get("decompressedHash") == stated is not None]
        known.sort(key=lambda record: [record.get("sourceLanguage"), record.get("targetLanguage")] != languages)
        found.append((known[0] if known else None, release))
    record, best = max(found, key=lambda candidate: _version(candidate[0]))
    same = _of_release(records, record) if record else {}
    files = []
    for theirs, kind in _KINDS_OF_FILES.items():
        if theirs not in best["files"]:
            continue
        entry = _object(best["files"][theirs], asked)
        path = _inside(entry.get("path"), asked)
        # Mozilla's own hash, or the one that Firefox verifies the same file with.
        stated = entry.get("uncompressedHash") or same.get(kind, {}).get("decompressedHash")
        size = entry.get("uncompressedSize") or same.get(kind, {}).get("decompressedSize")
        files.append(RemoteFile(f"{hubs.firefox_registry()}/{urllib.parse.quote(path)}", pathlib.PurePosixPath(path).name,
                                plain_sha256=_text(stated, _SHA256, asked) if stated else None, plain_size=_size(size, asked)))
    if not any(file.name.startswith("model.") for file in files):
        raise NotGenuine(f"{asked}: the registry names no model.* file")
    if "vocab" not in best["files"] and not {"srcVocab", "trgVocab"} <= best["files"].keys():
        raise NotGenuine(f"{asked}: the registry names no vocabulary, or that of one language only")
    version = record.get("version") if record else best.get("architecture")
    return Published(asked, name_for(f"firefox-{pair}"), files, FIREFOX_LICENSE, str(version or "unknown"), "bergamot", *languages)


_OF_ONE_RELEASE = ("sourceLanguage", "targetLanguage", "version", "architecture")


def firefox_records(client: Client) -> list[dict]:
    """Those of all files of all pairs."""
    url = f"{hubs.firefox_settings()}/buckets/main/collections/translations-models-v2/records"
    data = _object(client.json(url), url).get("data")
    if not isinstance(data, list):
        raise NotGenuine(f"{url}: has no list of records; is it the right hub or mirror?")
    return [record for record in data if isinstance(record, dict)]


def _version(record: dict | None) -> tuple:
    """Later releases are greater; previews are less than any release, and what Firefox does not have is least."""
    found = re.fullmatch(r"(\d+)\.(\d+)(\w*)", str(record.get("version"))) if record else None
    return (not found[3], int(found[1]), int(found[2]), found[3]) if found else (False, -1, -1, "")
