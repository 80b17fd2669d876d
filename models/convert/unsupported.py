"""Says of a file or folder that no converter takes what it is, and what can be done with it."""

import itertools
import pathlib
import re
import zipfile
from collections.abc import Iterator

from .package import ConvertError

SUPPORTED = ("a Piper voice (voice.onnx with voice.onnx.json), a Bergamot or Firefox pair (model.*.bin, vocab.*.spm, lex.*.bin), Kokoro "
             "(config.json, *.pth, voices/*.pt; or kokoro-v1.0.onnx with voices-v1.0.bin), a package of Argos (.argosmodel, or metadata.json with model/model.bin), or Marian, M2M-100 or "
             "NLLB-200 (config.json with weights; model.npz or model.bin)")
OTHER_NETWORKS = "other networks are served as TorchScript, of torch.jit.script(m).save(), by a model.pbtxt as docs/models.md shows it"
_MODULE = "does not say what goes in and out: copy it into the repository as NAME/1/model.pt, beside a model.pbtxt as docs/models.md shows it for TorchScript"
_MOST_FILES = 1000   # that are looked at, as a folder may be anything
_PUBLISHED = re.compile(r"(piper|firefox|argos)/[^/]+|hf:.+|opus-mt-[\w-]+|kokoro-82m(-zh)?|(nllb|m2m)-?[\w.-]+", re.IGNORECASE | re.ASCII)


def missing(path: pathlib.Path) -> ConvertError:
    text = re.sub("^([a-z]{3,5}):/+", r"\1://", str(path), flags=re.IGNORECASE)   # of which a path keeps one slash
    if text.lower().startswith("file://"):
        return ConvertError(f"{text}: is an address; PATH is a file or folder of this machine, without file://")
    if re.match("https?://", text, re.IGNORECASE):
        return ConvertError(f"{text}: is an address; PATH is a file or folder of this machine, so fetch it first, or a published model with: millrace pull NAME")
    return ConvertError(f"{text}: no such file or folder" + (f"; a published model is fetched by: millrace pull {text}" if _PUBLISHED.fullmatch(text) else ""))


def refusal(path: pathlib.Path) -> ConvertError:
    """path: an existing file or folder."""
    files = [path] if path.is_file() else sorted(itertools.islice(_files(path), _MOST_FILES), key=lambda file: (len(file.parts), file))
    for recognised in (_package, _triton, _torch, _network, _weights):
        for file in files:
            if said := recognised(file):
                return ConvertError(f"{file}: {said}")
    return ConvertError(f"{path}: {'is' if path.is_file() else 'has'} none of the models that are supported: {SUPPORTED}")


def _files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Those of the folder, and of a repository, whose files lie in NAME/VERSION."""
    return (file for depth in ("*", "*/*", "*/*/*") for file in folder.glob(depth) if file.is_file())


def _package(file: pathlib.Path) -> str:
    if file.name != "model.pbtxt":
        return ""
    return "is of a package of Millrace, which needs no conversion: copy NAME/VERSION with all of its files into the repository, and load it with: millrace load NAME"


def _triton(file: pathlib.Path) -> str:
    return f"is Triton's configuration, which is not read; {OTHER_NETWORKS}" if file.name == "config.pbtxt" else ""


def _torch(file: pathlib.Path) -> str:
    """What torch.jit.save and torch.export.save write."""
    members = _members(file)
    if "constants.pkl" in members and "data.pkl" in members:
        return f"is a TorchScript module, which {_MODULE}"
    if "archive_format" in members:
        return f"is a program of torch.export; {OTHER_NETWORKS}"
    return ""


def _network(file: pathlib.Path) -> str:
    if file.suffix.lower() != ".onnx":
        return ""
    return f"is an ONNX network without the JSON file of a Piper voice; {OTHER_NETWORKS}"


def _weights(file: pathlib.Path) -> str:
    if file.suffix.lower() != ".safetensors" and "data.pkl" not in _members(file) and not (file.suffix.lower() in (".pt", ".pth", ".ckpt", ".bin") and _is_pickle(file)):
        return ""
    return f"has weights without a description of their network beside it that is supported: {SUPPORTED}; {OTHER_NETWORKS}"


def _members(file: pathlib.Path) -> set[str]:
    """The names in a zip file without its first folder; none of other files."""
    try:
        with zipfile.ZipFile(file) as archive:
            return {name.partition("/")[2] for name in archive.namelist()}
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return set()


def _is_pickle(file: pathlib.Path) -> bool:
    try:
        with open(file, "rb") as opened:
            return opened.read(1) == b"\x80"
    except OSError:
        return False
