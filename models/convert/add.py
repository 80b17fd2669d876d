"""Makes a package of a model that is there: a folder, a zip or tar file, or one file of it. What it is, its files tell."""

import argparse
import contextlib
import importlib
import json
import pathlib
import sys

import numpy as np

from .hidden_folder import hidden_folder
from .measure_int8 import measure_new
from .package import MOST_LANGUAGE, ConvertError, UsageError, calling, check_name, is_language, name_for, printable, tell_name
from .sources import Source, recognise_all, settings_of
from .voice_precision import PRECISIONS as VOICE_PRECISIONS

VOICES = ("kokoro", "vits")
PRECISIONS = ("float32", "bfloat16", "int8", "auto")
UNKNOWN_LICENSE = "NOASSERTION"
MOST_LICENSE = 256   # bytes, as the server has it


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=_path, help="folder, zip or tar file, .argosmodel, or the .onnx file of a voice; or the folder in which Argos Translate keeps its packages")
    parser.add_argument("--license", default=UNKNOWN_LICENSE, help="SPDX expression of the weights' licence (default: %(default)s)")
    configure_package(parser)


def _path(text: str) -> pathlib.Path:
    if not text:
        raise UsageError("PATH is empty; name a folder or a file")
    return pathlib.Path(text)


def configure_package(parser: argparse.ArgumentParser) -> None:
    """The options that a package is made with, wherever its files come from."""
    parser.add_argument("--as", dest="name", help="name of the model in the repository (default: by its files)")
    parser.add_argument("--source", help="of a translator: the language of requests that name none, BCP 47 (default: by its files)")
    parser.add_argument("--target", help="of a translator: the language into which those are translated")
    parser.add_argument("--load", metavar="URL", help="HTTP address of a server that serves the repository and loads the model at once, such as "
                        "http://localhost:8000")
    parser.add_argument("--json", action="store_true", help="write what happens as a JSON object a line")
    parser.set_defaults(notices=[])   # what a person, or a program, has to be told of what was installed
    parser.add_argument("--precision", choices=PRECISIONS, help="of voices (default: auto if int8 was measured), Marian, M2M-100, NLLB-200 and Argos (default: the server's)")


def check_options(args: argparse.Namespace) -> None:
    """Refuses what the server would refuse, before a transfer or a conversion."""
    if args.name is not None:
        check_name(args.name)
    license_text = getattr(args, "license", None)
    if license_text is not None and not (license_text.isprintable() and 1 <= len(license_text.encode()) <= MOST_LICENSE):
        raise UsageError(f"--license: '{license_text[:80]}' is not allowed, which has to be 1..{MOST_LICENSE} bytes of UTF-8 without control characters")
    for option, language in (("--source", args.source), ("--target", args.target)):
        if language is not None and not is_language(language):
            raise UsageError(f"{option}: '{language[:80]}' is no language tag; allowed are letters, digits, '-' and '_', at most {MOST_LANGUAGE}, such as en or pt-BR")


def check_kind(kind: str, args: argparse.Namespace, name: str) -> None:
    """Refuses options that are not for models of this kind of a converter."""
    precision = args.precision
    for option, language in (("--source", args.source), ("--target", args.target)):
        if language is not None and kind in VOICES:
            raise ConvertError(f"{option}: '{language}' is not for {name}, which is a voice and does not translate")
    allowed = {"seq2seq": PRECISIONS, "argos": PRECISIONS, "vits": VOICE_PRECISIONS, "kokoro": VOICE_PRECISIONS}.get(kind, ())
    if precision and precision not in allowed:
        raise ConvertError(f"--precision: '{precision}' is not for {name}, allowed is {', '.join(allowed) or 'none'}")


def run(args: argparse.Namespace) -> None:
    check_options(args)
    # A converter speaks to a person.
    with unpacked_beside(args.models) as scratch, calling({scratch / "unpacked": args.path, scratch / "plain": args.path}), \
            contextlib.redirect_stdout(sys.stderr) if args.json else contextlib.nullcontext():
        sources = recognise_all(args.path, scratch)
        if len(sources) > 1 and args.name:
            raise ConvertError(f"--as: is the name of one model, but {args.path} has {len(sources)}")
        names, failed = _install_each(sources, args)
    for notice in args.notices:
        print(json.dumps({"event": "unmeasured", "message": notice}) if args.json else notice, flush=True)
    for name in names if args.json else ():
        print(json.dumps({"event": "installed", "name": name, "path": str(args.models / name)}), flush=True)
    for message in failed:
        if args.json:
            print(json.dumps({"event": "notice", "message": message}), flush=True)
        else:
            print(printable(f"millrace add: {message}"), file=sys.stderr)
    if failed:
        raise ConvertError(f"{args.path}: {len(failed)} of its {len(sources)} models were not added")


def _install_each(sources: list[Source], args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The names of those that were installed, and why others were not: of many, one that is not supported does not keep the rest away."""
    names, failed = [], []
    for source in sources:
        try:
            names.append(install(source, args))
        except ConvertError as error:
            if len(sources) == 1:
                raise
            failed.append(str(error))
    return names, failed


@contextlib.contextmanager
def unpacked_beside(models: pathlib.Path):
    """A hidden folder in the repository, so that what is unpacked needs no place elsewhere. It vanishes, and what was made for it."""
    made = [folder for folder in (models, *models.parents) if not folder.exists()]
    try:
        models.mkdir(parents=True, exist_ok=True)
        with hidden_folder(models, ".add-") as scratch:
            yield scratch
    except OSError as error:
        verb = "write to" if error.filename is None or pathlib.Path(error.filename).is_relative_to(models) else "read"
        raise ConvertError(f"cannot {verb} {error.filename or models}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            for folder in made:
                folder.rmdir()   # only where nothing was installed


def install(source: Source, args: argparse.Namespace) -> str:
    """Converts with a check that needs no reference. Returns the name of the model. args: the options of configure_package, models, force, license and origin."""
    try:
        with np.errstate(all="ignore"):   # what is not finite is refused in a message of its own
            return _convert(source, args)
    except MemoryError as error:
        raise ConvertError(f"{source.place}: needs more memory than there is") from error
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # A converter says itself what it expects of its files. A stranger's file may break any other expectation, such as that two shapes fit.
        raise ConvertError(f"{source.place}: is damaged, or differs from what is published as {source.kind}: {type(error).__name__}: "
                           f"{' '.join(str(error).split())[:300]}") from error


def _convert(source: Source, args: argparse.Namespace) -> str:
    check_kind(source.kind, args, source.name)
    common = {"models": args.models, "force": args.force, "origin": args.origin, "license": args.license, "precision": args.precision}
    converter = importlib.import_module(f".{source.kind}", __package__)
    if source.kind == "bergamot":
        name = converter.convert_pair(source.place, argparse.Namespace(**common, name=args.name, source=args.source, target=args.target))
    elif source.kind == "argos":
        name = args.name or converter.default_name(source.place)
        converter.run(source.place, name, argparse.Namespace(**common, source=args.source, target=args.target,
                                                             max_source_tokens=None, check="run"))
    elif source.kind == "vits":
        name = args.name or name_for(source.name)
        converter.run(argparse.Namespace(**common, name=name, onnx=source.place, json=settings_of(source.place), voice=None, alone=True))
    elif source.kind == "kokoro":
        name = args.name or name_for(source.name)
        converter.run(argparse.Namespace(**common, name=name, folder=source.place, language="en-US", voice=None))
    else:
        name = args.name or name_for(source.name)
        converter.run(argparse.Namespace(**common, model=source.place, name=name, called=source.name, source=args.source,
                                         target=args.target, max_source_tokens=None, check="run"))
    # With float32 nobody asks what int8 would cost.
    if source.kind in VOICES and args.started_by is not None and args.precision != "float32" and (
            notice := measure_new(args.models, name, args.started_by)):
        args.notices.append(notice)
    if args.load:
        from .load import load   # imports an HTTP client
        load(args.load, name)
        print(f"{name}: loaded by {args.load}", flush=True)
    tell_name(args, name)
    return name
