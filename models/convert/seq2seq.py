"""Marian (OPUS-MT), M2M-100 and NLLB-200 from a local folder as the hub has them: weights, config and tokenizer become a package."""

import argparse
import json
import pathlib
import re
import shutil

from .kokoro_checkpoint import read_checkpoint
from .package import ConvertError, new_version
from .safetensors import read_safetensors, write_safetensors
from .seq2seq_check import check
from .seq2seq_languages import code_of
from .seq2seq_layout import read_network
from .seq2seq_vocabulary import Vocabulary, read_json, read_vocabulary

PBTXT = """\
license: {license}
seq2seq {{
  file: "weights.safetensors"
  config_file: "config.json"
  pieces_file: "source.spm"
  words_file: "words.txt"
  source_language: "{source}"
  target_language: "{target}"
  beam_size: {beams}
  length_penalty: {length_penalty}
  early_stopping: {early_stopping}
}}
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=pathlib.Path, help="with config.json, the weights and the tokenizer's files")
    parser.add_argument("--name", help="of the package (default: the folder's name in small letters)")
    parser.add_argument("--source", help="language that requests are in which name none, BCP 47 "
                        "(default: of opus-mt-<source>-<target> by the folder's name)")
    parser.add_argument("--target", help="language into which they are translated")
    parser.add_argument("--license", default="", help="SPDX expression of the weights' licence")
    parser.add_argument("--check", choices=("none", "quick"), default="quick",
                        help="compare with transformers before writing (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    folder = args.folder
    name = args.name or folder.resolve().name.lower()
    config = read_json(folder / "config.json")
    generation = read_json(folder / "generation_config.json") if (folder / "generation_config.json").exists() else {}
    try:
        network = read_network(config, generation, read_weights(folder))
    except (KeyError, TypeError) as error:
        raise ConvertError(f"{folder / 'config.json'}: {error} is missing or of another type") from error
    vocabulary = read_vocabulary(folder, len(network.tensors["embeddings"]))
    source, target = default_languages(args, folder, vocabulary)
    if args.check != "none":
        words = list(vocabulary.languages.values()) if vocabulary.language_tokens == "source_and_target" else []
        print(f"{name}: {check(folder, network, words)} sources give transformers' translations, word for word", flush=True)
    settings = {**config, **generation}
    pbtxt = PBTXT.format(license=json.dumps(args.license), source=source, target=target,
                         beams=min(int(settings.get("num_beams") or 1), 16), length_penalty=float(settings.get("length_penalty") or 1),
                         early_stopping="true" if settings.get("early_stopping") is True else "false")
    package = {**network.config, "unknown": vocabulary.unknown, "language_tokens": vocabulary.language_tokens,
               "languages": [{"tag": vocabulary.tags[code], "code": code, "word": word} for code, word in vocabulary.languages.items()]}
    with new_version(args.models, name) as staging:
        write_safetensors(staging / "weights.safetensors", network.tensors, {"format": "seq2seq"})
        (staging / "config.json").write_text(json.dumps(package, indent=1) + "\n")
        shutil.copyfile(vocabulary.pieces_file, staging / "source.spm")
        (staging / "words.txt").write_text("".join(line + "\n" for line in vocabulary.lines), encoding="utf-8", newline="\n")
        (staging / "model.pbtxt").write_text(pbtxt)
    print(f"{args.models / name / '1'}: written", flush=True)


def read_weights(folder: pathlib.Path):
    if (folder / "model.safetensors").exists():
        return read_safetensors(folder / "model.safetensors")
    if (folder / "pytorch_model.bin").exists():
        return read_checkpoint(folder / "pytorch_model.bin")
    raise ConvertError(f"{folder}: has neither model.safetensors nor pytorch_model.bin")


def default_languages(args: argparse.Namespace, folder: pathlib.Path, vocabulary: Vocabulary) -> tuple[str, str]:
    named = re.fullmatch(r"opus-mt(?:-tc)?(?:-[a-z]+)?-([A-Za-z]+)-([A-Za-z]+)", folder.resolve().name)
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
