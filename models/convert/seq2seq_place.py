"""Where an encoder-decoder to convert is: a folder as the hub has them, Marian's own files, or the name of a model on the hub."""

import dataclasses
import pathlib
import re

from .package import ConvertError

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_HUB_FILES = ["*.json", "*.spm", "*.model", "*.yml", "*.npz", "model.safetensors", "pytorch_model.bin"]


@dataclasses.dataclass(frozen=True)
class Place:
    folder: pathlib.Path
    name: str                         # of the model: it may tell its languages
    checkpoint: pathlib.Path | None   # Marian's own; None: the folder is as the hub has them


def locate(given: str) -> Place:
    path = pathlib.Path(given)
    if path.is_file():
        return Place(path.parent, path.resolve().parent.name, path)
    if path.is_dir():
        return _in_folder(path, path.resolve().name)
    if _HUB_NAME.fullmatch(given):
        return _in_folder(_download(given), given.rpartition("/")[2])
    raise ConvertError(f"{given}: no such file or folder, and no name of a model on the hub, which is <owner>/<model>, "
                       "such as Helsinki-NLP/opus-mt-en-de")


def _in_folder(folder: pathlib.Path, name: str) -> Place:
    if (folder / "config.json").exists():
        return Place(folder, name, None)
    for found in ([folder / "model.npz"], [folder / "model.bin"], sorted(folder.glob("*.npz")), sorted(folder.glob("*.bin"))):
        found = [file for file in found if file.exists()]
        if len(found) == 1:
            return Place(folder, name, found[0])
        if found:
            raise ConvertError(f"{folder}: which of its models? Name the file: {', '.join(file.name for file in found)}")
    raise ConvertError(f"{folder}: has neither config.json nor a model.npz or model.bin of Marian")


def _download(name: str) -> pathlib.Path:
    try:
        import huggingface_hub
    except ImportError as error:
        raise ConvertError(f"{name}: no such folder, and to fetch it from the hub this Python needs huggingface_hub: "
                           "pip install huggingface_hub") from error
    try:
        return pathlib.Path(huggingface_hub.snapshot_download(repo_id=name, allow_patterns=_HUB_FILES))
    except (OSError, ValueError) as error:
        raise ConvertError(f"{name}: cannot be fetched from the hub: {error}") from error
