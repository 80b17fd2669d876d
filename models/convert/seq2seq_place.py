"""Where an encoder-decoder to convert is: a folder as the hub has them, or Marian's own files."""

import dataclasses
import pathlib
import re

from .package import ConvertError

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


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
        raise ConvertError(f"{given}: no such file or folder; a model of the hub is fetched by: millrace pull hf:{given}")
    raise ConvertError(f"{given}: no such file or folder")


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
