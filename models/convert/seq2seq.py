"""Marian (OPUS-MT), M2M-100 and NLLB-200 as the hub has them, and Marian's own checkpoints: weights, settings, words make a package."""

import argparse
import dataclasses
import json
import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from . import seq2seq_check, seq2seq_marian, seq2seq_marian_check
from .json_file import read_object
from .kokoro_checkpoint import read_checkpoint
from .package import ConvertError, check_place, is_language, name_for, new_version, report_written
from .safetensors import read_safetensors, write_safetensors
from .seq2seq_languages import code_of
from .seq2seq_layout import Network, read_network
from .seq2seq_place import Place, locate
from .seq2seq_shapes import check_network
from .seq2seq_vocabulary import Pieces, Vocabulary, Words, read_marian_vocabulary, read_vocabulary
from .seq2seq_yaml import read_decoder_settings

PBTXT = """\
license: {license}
seq2seq {{
  file: "weights.safetensors"
  config_file: "config.json"
  pieces_file: "{pieces}"
  words_file: "words.txt"
{target_files}  source_language: "{source}"
  target_language: "{target}"
  beam_size: {beams}
  length_penalty: {length_penalty}
  early_stopping: {early_stopping}
  max_source_tokens: {source_tokens}
{precision}}}
"""

# Source tokens of a sentence that a model manages without losing content: of Bergamot's size, measured; of base size and larger, cautious.
SMALL_SOURCE_TOKENS, SOURCE_TOKENS = 80, 128
MOST_PENALTY = 10                        # as models/seq2seq/seq2seq_kind.cc has it
SMALL_DIMENSION, FEW_LAYERS = 512, 4     # a network with less of either is small


@dataclasses.dataclass(frozen=True)
class Model:
    network: Network
    vocabulary: Vocabulary
    search: dict[str, Any]        # as the hub's generation_config.json names it
    reference: str                # what `check` compares with
    check: Callable[[], int]      # returns how many translations were compared


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="folder with config.json, the weights and the tokenizer's files; or with Marian's model.npz or "
                        "model.bin and its vocabulary; or that file")
    parser.add_argument("--as", "--name", dest="name", help="of the package (default: the folder's name in small letters)")
    parser.add_argument("--source", help="language that requests are in which name none, BCP 47 "
                        "(default: of opus-mt-<source>-<target> by the folder's name)")
    parser.add_argument("--target", help="language into which they are translated")
    parser.set_defaults(called=None, precision=None)   # the name that tells the languages; the precision of the server
    parser.add_argument("--license", default="", help="SPDX expression of the weights' licence")
    parser.add_argument("--max-source-tokens", type=int, metavar="N",
                        help=f"tokens of a sentence that the model manages without losing content, 16..1024; a longer one is cut at a clause "
                        f"(default: {SOURCE_TOKENS}, of small networks {SMALL_SOURCE_TOKENS})")
    parser.add_argument("--check", choices=("none", "run", "quick"), default="quick",
                        help="before writing, run the network alone, or compare it with transformers or Marian's equations (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    place = locate(args.model)
    called = args.called or place.name
    name = args.name or name_for(called)
    check_place(args.models, name, args.force)
    model = read_hub(place.folder) if place.checkpoint is None else read_marian(place)
    write(model, name, default_languages(args, called, model.vocabulary), args)


def write(model: Model, name: str, languages: tuple[str, str], args: argparse.Namespace) -> None:
    """languages: of requests that name none, and into which those are translated."""
    network, vocabulary, search = model.network, model.vocabulary, model.search
    source, target = languages
    for language in languages:
        if not is_language(language):
            raise ConvertError(f"{name}: its files name '{language[:80]}', which is no language tag; --source and --target name others")
    check_network(network, name)
    if args.check == "run":
        seq2seq_check.run(network)
    elif args.check == "quick":
        print(f"{name}: {model.check()} sources give {model.reference} translations, word for word", flush=True)
    given = search.get("length_penalty")
    penalty = 1.0 if given is None else float(given)
    if not -MOST_PENALTY <= penalty <= MOST_PENALTY:
        raise ConvertError(f"{name}: length_penalty is {given}, allowed are -{MOST_PENALTY}..{MOST_PENALTY}")
    pieces, target_pieces = (f"{side}.{'json' if isinstance(file, bytes) else 'spm'}"
                             for side, file in (("source", vocabulary.pieces_file), ("target", vocabulary.target_pieces_file)))
    target_files = ("" if vocabulary.shared else '  target_words_file: "target_words.txt"\n') + \
        (f'  target_pieces_file: "{target_pieces}"\n' if vocabulary.target_pieces_file is not None else "")
    pbtxt = PBTXT.format(license=json.dumps(args.license), pieces=pieces, source=source, target=target, target_files=target_files,
                         beams=max(1, min(int(search.get("num_beams") or 1), 16)), length_penalty=penalty,
                         early_stopping="true" if search.get("early_stopping") is True else "false",
                         source_tokens=source_tokens(network, args.max_source_tokens),
                         precision=f"  precision: PRECISION_{args.precision.upper()}\n" if args.precision else "")
    own = {} if vocabulary.shared else {"source_end": vocabulary.source.end, "target_unknown": vocabulary.target.unknown}
    package = {**network.config, "unknown": vocabulary.source.unknown, **own, "language_tokens": vocabulary.language_tokens,
               "languages": [{"tag": vocabulary.tags[code], "code": code, "word": word} for code, word in vocabulary.languages.items()]}
    with new_version(args.models, name) as staging:
        write_safetensors(staging / "weights.safetensors", network.tensors, {"format": "seq2seq"})
        (staging / "config.json").write_text(json.dumps(package, indent=1) + "\n")
        write_pieces(staging / pieces, vocabulary.pieces_file)
        write_words(staging / "words.txt", vocabulary.source)
        if not vocabulary.shared:
            write_words(staging / "target_words.txt", vocabulary.target)
        if vocabulary.target_pieces_file is not None:
            write_pieces(staging / target_pieces, vocabulary.target_pieces_file)
        (staging / "model.pbtxt").write_text(args.origin + pbtxt)
    report_written(args.models, name)


def source_tokens(network: Network, wanted: int | None) -> int:
    """The longest sentence that the model is given at once."""
    places, dimension = network.tensors["positions"].shape
    if wanted is not None and not 16 <= wanted <= min(places, 1024):
        raise ConvertError(f"--max-source-tokens: {wanted} is out of range, allowed 16..{min(places, 1024)}")
    layers = min(network.config["encoder_layers"], network.config["decoder_layers"])
    small = dimension < SMALL_DIMENSION or layers < FEW_LAYERS
    return wanted or min(SMALL_SOURCE_TOKENS if small else SOURCE_TOKENS, places)


def read_hub(folder: pathlib.Path) -> Model:
    config = read_object(folder / "config.json")
    generation = read_object(folder / "generation_config.json") if (folder / "generation_config.json").exists() else {}
    try:
        network = read_network(config, generation, read_weights(folder))
    except (KeyError, TypeError) as error:
        raise ConvertError(f"{folder / 'config.json'}: {error} is missing or of another type") from error
    vocabulary = read_vocabulary(folder, network.source_words, network.words)
    words = list(vocabulary.languages.values()) if vocabulary.language_tokens == "source_and_target" else []
    return Model(network, vocabulary, {**config, **generation}, "transformers'",
                 lambda: seq2seq_check.check(folder, network, words, vocabulary.source.end))


def read_marian(place: Place) -> Model:
    checkpoint = seq2seq_marian.read_checkpoint(place.checkpoint)
    source, target = checkpoint.embeddings("encoder"), checkpoint.embeddings("decoder")
    vocabulary = read_marian_vocabulary(place.folder, len(source), len(target))
    if source is target and not vocabulary.shared:
        raise ConvertError(f"{place.folder}: has a vocabulary of each language, but the model has only Wemb for both")
    network = seq2seq_marian.read_network(checkpoint, vocabulary)
    return Model(network, vocabulary, _decoder_settings(place.folder / "decoder.yml"), "Marian's",
                 lambda: seq2seq_marian_check.check(checkpoint, network, vocabulary))


def _decoder_settings(path: pathlib.Path) -> dict[str, Any]:
    """How Marian's decoder is told to search, where such a file lies beside the model: without `normalize` it does not."""
    if not path.exists():
        return {"num_beams": 4}
    settings = read_decoder_settings(path)
    try:
        return {"num_beams": int(settings.get("beam-size", 4)), "length_penalty": float(settings.get("normalize", "0") or 1)}
    except (TypeError, ValueError) as error:
        raise ConvertError(f"{path}: beam-size and normalize are to be numbers: {error}") from error


def write_pieces(path: pathlib.Path, pieces: Pieces) -> None:
    path.write_bytes(pieces if isinstance(pieces, bytes) else pieces.read_bytes())


def write_words(path: pathlib.Path, words: Words) -> None:
    path.write_text("".join(line + "\n" for line in words.lines), encoding="utf-8", newline="\n")


def read_weights(folder: pathlib.Path):
    if (folder / "model.safetensors").exists():
        return read_safetensors(folder / "model.safetensors")
    if (path := folder / "pytorch_model.bin").exists():
        state = read_checkpoint(path)
        if not isinstance(state, dict) or not all(isinstance(array, np.ndarray) for array in state.values()):
            raise ConvertError(f"{path}: is not a checkpoint of a translator: it is not a list of tensors by their names")
        return state
    raise ConvertError(f"{folder}: has neither model.safetensors nor pytorch_model.bin")


def default_languages(args: argparse.Namespace, name: str, vocabulary: Vocabulary) -> tuple[str, str]:
    named = re.fullmatch(r"opus-mt(?:-tc)?(?:-[a-z]+)?-([A-Za-z]+)-([A-Za-z]+)", name)
    source, target = args.source or (named and named[1]), args.target or (named and named[2])
    for option, value in (("--source", source), ("--target", target)):
        if not value:
            raise ConvertError(f"{option} is needed: the folder's name does not tell the languages")
    tags = vocabulary.tags
    if vocabulary.language_tokens == "source_and_target":
        source = tags[code_of(tags, source, "--source")]
    if vocabulary.language_tokens != "none":
        target = tags[code_of(tags, target, "--target")]
    return source, target
