"""Removes a model from the repository. A server that has it loaded keeps it until it is unloaded."""

import argparse
import json
import os
import pathlib
import shutil

from .hidden_folder import hidden_folder
from .model_names import models_of
from .origin import pulled, upgrade
from .package import ConvertError, is_name, tell_name


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="NAME", help="of a model in the repository, or the one that it was pulled by")
    parser.add_argument("--json", action="store_true", help="write a JSON object a line")


def run(args: argparse.Namespace) -> None:
    upgrade(args.models)
    here = pulled(args.models)
    names = [name for asked in args.names for name in _named(asked, args.models, here)]
    for name in names:
        _check(args.models, name)
    for name in dict.fromkeys(names):
        _remove(args.models, name)
        if args.json:
            print(json.dumps({"event": "removed", "name": name}), flush=True)
        else:
            print(f"{name}: removed from {args.models}", flush=True)
        tell_name(args, name)


def _named(asked: str, models: pathlib.Path, here: dict[str, list[str]]) -> list[str]:
    """The model of this name, or those that were pulled by it."""
    if is_name(asked) and (models / asked).is_dir():
        return [asked]
    found = [names for names in models_of(asked, here) if names]
    for names in found:
        if len(names) > 1:
            raise ConvertError(f"'{asked}': {' and '.join(names)} were pulled by this name; name the one to remove")
    return [names[0] for names in found] or [asked]


def _check(models: pathlib.Path, name: str) -> None:
    if not models.is_dir():
        raise ConvertError(f"--models: {models}: no such folder")
    if not is_name(name) or not (models / name).is_dir():
        there = sorted(path.name for path in models.iterdir() if path.is_dir() and is_name(path.name))
        raise ConvertError(f"{models}: has no model '{name}'; there are {', '.join(there) or 'none'}")
    if (models / name).is_symlink():
        raise ConvertError(f"{models / name}: is a link, which may be removed with rm")


def _remove(models: pathlib.Path, name: str) -> None:
    try:
        # It is gone at once for whoever looks, and no half of it is ever there.
        with hidden_folder(models, ".remove-") as hidden:
            os.rename(models / name, hidden / name)
            shutil.rmtree(hidden / name)
    except OSError as error:
        raise ConvertError(f"cannot remove {models / name}: {error.strerror}") from error
