"""Tells what kind of model lies in a folder or a file, by the names of the files and what is in them, never by the folder's name."""

import dataclasses
import os
import pathlib

from . import archive
from .bergamot_marian import has_int8
from .bergamot_pair import is_model_name
from .bergamot_student import is_student
from .json_file import read_json
from .package import ConvertError
from .unsupported import OTHER_NETWORKS, SUPPORTED, missing, refusal

# The description and the folder of the model in a package of Argos.
METADATA, MODEL = "metadata.json", "model"
_MOST_LOOKED_AT = 10_000   # files and folders, as a folder may be anything
_POINTER, _MOST_POINTER = b"version https://git-lfs", 1024


@dataclasses.dataclass(frozen=True)
class Source:
    kind: str              # of a converter
    place: pathlib.Path    # a folder, or the .onnx file of a voice
    name: str              # as the person who added it named the folder or the file

    def named(self, name: str) -> "Source":
        return dataclasses.replace(self, name=name)


def recognise_all(path: pathlib.Path, scratch: pathlib.Path) -> list[Source]:
    """Every package of a folder as Argos Translate keeps them; else the one source that `path` is."""
    packages = [child for child in sorted(path.iterdir()) if _is_argos(child)] if path.is_dir() and not _is_argos(path) else []
    return [Source("argos", package, package.name) for package in packages] or [recognise(path, scratch)]


def recognise(path: pathlib.Path, scratch: pathlib.Path, asked: pathlib.Path | None = None) -> Source:
    """scratch: an empty folder for what is unpacked; the source may lie there. asked: the file of the folder `path` that a person named."""
    if not path.exists():
        raise missing(path)
    for folder in path.absolute().parents[:2]:   # what lies in a package of Argos stands for that
        if _is_argos(folder):
            return recognise(folder, scratch)
    if path.is_dir():
        inside = list(path.iterdir())
        if len(inside) == 1 and archive.is_archive(inside[0]):
            return recognise(inside[0], scratch)
        return _in_folder(_plain(path, scratch), path.resolve().name, asked)
    _check_file(path)
    if archive.is_archive(path):
        archive.unpack(path, unpacked := scratch / "unpacked")
        return _in_folder(_plain(_innermost(unpacked), scratch), path.name.split(".")[0])
    if path.name.lower().endswith(".onnx.json"):
        return recognise(_beside(path, path.stem) or path.with_suffix(""), scratch)
    if path.suffix.lower() == ".json" and (voice := _beside(path, path.stem + ".onnx")):
        return recognise(voice, scratch)
    if path.suffix.lower() == ".onnx":
        return _voice(path)
    if path.suffix.lower() in (".bin", ".npz", ".gz", ".zst", ".json", ".spm", ".pth", ".safetensors"):
        return recognise(path.absolute().parent, scratch, path)
    raise refusal(path)


def kind_of_config(path: pathlib.Path) -> str:
    """The model_type of a config.json of the hub; empty where there is none."""
    config = read_json(path)
    kind = config.get("model_type") if isinstance(config, dict) else None
    return kind if isinstance(kind, str) else ""


def _innermost(folder: pathlib.Path) -> pathlib.Path:
    """An archive of one folder stands for that folder."""
    while folder.exists() and len(inside := list(folder.iterdir())) == 1 and inside[0].is_dir():
        folder = inside[0]
    return folder


def _plain(folder: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """The folder; where it has gzip or zstd files, one with these unpacked and links to all others."""
    files = [file for file in folder.iterdir() if file.is_file()]
    if not any(file.suffix in (".gz", ".zst") for file in files):
        return folder
    plain = scratch / "plain"
    plain.mkdir()
    for file in files:
        if file.suffix in (".gz", ".zst"):
            archive.decompress(file, plain / file.stem)
    for file in files:
        if file.suffix not in (".gz", ".zst") and not (plain / file.name).exists():
            (plain / file.name).symlink_to(file.resolve())
    return plain


def _in_folder(folder: pathlib.Path, name: str, asked: pathlib.Path | None = None) -> Source:
    names = {file.name for file in folder.iterdir()}
    for file in sorted([*folder.iterdir(), *(folder / "voices").glob("*"), *(folder / MODEL).glob("*")]):
        _check_file(file)
    if _is_argos(folder):
        return Source("argos", folder, name)
    if any(part.endswith(".pth") for part in names) and {"config.json", "voices"} <= names:
        return Source("kokoro", folder, name)
    if any(is_model_name(part) and has_int8(folder / part) or is_student(folder / part) for part in names):
        return Source("bergamot", folder, name)
    exports = sorted(part for part in names if part.lower().endswith(".onnx") and not settings_of(folder / part) and voices_beside(folder / part))
    if len(exports) > 1:
        raise ConvertError(f"{folder}: has {len(exports)} networks of Kokoro; name the file of one: {', '.join(exports[:8])}")
    if exports:
        return _voice(folder / exports[0])
    voices = sorted(part for part in names if part.lower().endswith(".onnx") and settings_of(folder / part))
    if len(voices) > 1:
        raise ConvertError(f"{folder}: has {len(voices)} voices; name the file of one: {', '.join(voices[:8])}"
                           + (" ..." if len(voices) > 8 else ""))
    if voices:
        return _voice(folder / voices[0])
    if "config.json" in names and "model.pbtxt" not in names:
        if (kind := kind_of_config(folder / "config.json")) not in ("marian", "m2m_100"):
            raise ConvertError(f"{folder / 'config.json'}: model_type is '{kind}'; supported are {SUPPORTED}")
        return Source("seq2seq", folder, name)
    if any(part.endswith(".npz") or part == "model.bin" or is_model_name(part) for part in names):
        return Source("seq2seq", folder, name)
    voices = [] if asked else _voices_below(folder)   # as in a clone of the hub's repository, which has a folder for each
    if len(voices) == 1:
        return _voice(folder / voices[0])
    if voices:
        raise ConvertError(f"{folder}: has {len(voices)} voices in its folders; name the file of one: {', '.join(voices[:3])}"
                           + (" ..." if len(voices) > 3 else ""))
    raise refusal(asked or folder)


def _voices_below(folder: pathlib.Path) -> list[str]:
    found, looked_at = [], 0
    for place, _, files in os.walk(folder):
        looked_at += 1 + len(files)
        if looked_at > _MOST_LOOKED_AT:
            break
        found += [path for path in (pathlib.Path(place, file) for file in files if file.lower().endswith(".onnx")) if settings_of(path)]
    return sorted(str(path.relative_to(folder)) for path in found)


def _is_argos(folder: pathlib.Path) -> bool:
    return (folder / METADATA).is_file() and (folder / MODEL / "model.bin").is_file()


def _check_file(path: pathlib.Path) -> None:
    """Refuses what a reader would wait at, and what a clone without Git LFS has in the place of each large file, a few lines."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ConvertError(f"{path}: is neither a file nor a folder, but a device, a FIFO or a socket")
    if path.is_file() and path.stat().st_size < _MOST_POINTER:
        with open(path, "rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                raise ConvertError(f"{path}: is a pointer of Git LFS, not the file itself; `git lfs pull` in its folder fetches that")


def _beside(path: pathlib.Path, name: str) -> pathlib.Path | None:
    """The file of this name in the folder of `path`, also in letters of another case."""
    exact = path.with_name(name)
    if exact.is_file():
        return exact
    found = sorted(file for file in path.absolute().parent.iterdir() if file.name.lower() == name.lower() and file.is_file())
    return found[0] if found else None


def settings_of(onnx: pathlib.Path) -> pathlib.Path | None:
    """The JSON file of a voice: voice.onnx.json as it is published or, as people save it, voice.json."""
    return _beside(onnx, onnx.name + ".json") or _beside(onnx, onnx.stem + ".json")


def voices_beside(onnx: pathlib.Path) -> pathlib.Path | None:
    """The voices of kokoro-v1.0.onnx: voices-v1.0.bin, or the only file of this kind."""
    found = sorted(file for file in onnx.absolute().parent.glob("voices*.bin") if file.is_file())
    version = onnx.name.lower().removeprefix("kokoro-").removesuffix(".onnx")
    named = [file for file in found if version.startswith(file.stem.removeprefix("voices-"))]
    return named[-1] if named else found[0] if len(found) == 1 else None


def _voice(onnx: pathlib.Path) -> Source:
    if settings_of(onnx) is None and onnx.name.lower().startswith("kokoro"):
        if voices_beside(onnx) is None:
            raise ConvertError(f"{onnx}: there is no voices*.bin beside it, which has the voices of Kokoro")
        return Source("kokoro", onnx, onnx.stem)
    if settings_of(onnx) is None:
        raise ConvertError(f"{onnx}: neither {onnx.name}.json nor {onnx.stem}.json is beside it, one of which a Piper voice needs; {OTHER_NETWORKS}")
    return Source("vits", onnx, onnx.stem)
