"""Packages of Argos Translate: a transformer of OpenNMT as CTranslate2 has it, with the SentencePiece model of both languages, or with BPE."""

import argparse
import math
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import seq2seq, seq2seq_check
from .argos_bpe import goes_on, line_of, pieces_of_side, read_merges
from .language_tags import tag_of
from .ctranslate2_file import Variables, plain, read_model
from .json_file import read_json, read_object
from .package import ConvertError, check_place, name_for
from .piece_model import pieces_of
from .seq2seq_layout import Network
from .seq2seq_vocabulary import Pieces, Vocabulary, Words
from .sources import METADATA, MODEL

_PLACES = 1024
_LEAST_EPSILON, _MOST_EPSILON = 1e-12, 1e-2   # as models/seq2seq/seq2seq_config.cc has them
_ACTIVATIONS = {0: "relu", 2: "swish"}
# As Argos Translate searches.
_SEARCH = {"num_beams": 4, "length_penalty": 0.2}
_ATTENTION = {"self_attention": (("query", "key", "value"), ("output",)), "attention": (("query",), ("key", "value"), ("output",))}
# Numbers that say nothing of what the network computes.
_IGNORED = {"alignment_heads", "alignment_layer", "embeddings_merge", "num_heads", "pre_norm", "activation", "scale_embeddings",
            "with_source_bos", "with_source_eos", "with_target_bos"}
_SPECIAL = ("<unk>", "<blank>", "<s>", "</s>", "<pad>")


def default_name(folder: pathlib.Path) -> str:
    metadata = read_object(folder / METADATA)
    return name_for(f"argos-{metadata.get('from_code')}-{metadata.get('to_code')}")


def run(folder: pathlib.Path, name: str, args: argparse.Namespace) -> None:
    """args: those of seq2seq.write, and source, target and force."""
    metadata = read_object(folder / METADATA)
    check_place(args.models, name, args.force)
    if (kind := metadata.get("type", "translate")) != "translate":
        raise ConvertError(f"{folder / METADATA}: type is '{kind}', only 'translate' is supported")
    if metadata.get("target_prefix"):
        raise ConvertError(f"{folder / METADATA}: target_prefix is '{metadata['target_prefix']}', only packages of one pair are supported")
    codes = [metadata.get(field) for field in ("from_code", "to_code")]
    languages = [given or (tag_of(code) if isinstance(code, str) else None) for given, code in zip((args.source, args.target), codes)]
    if not all(languages):
        raise ConvertError(f"{folder / METADATA}: --source and --target are needed: it does not tell the languages")
    seq2seq.write(read(folder), name, (languages[0], languages[1]), args)


def read(folder: pathlib.Path) -> seq2seq.Model:
    model = folder / MODEL
    variables = read_model(model / "model.bin")
    settings = read_object(model / "config.json") if (model / "config.json").exists() else {}
    source, target = _word_lists(model)
    vocabulary = _vocabulary(folder, source, target, settings)
    network = read_network(variables, settings, vocabulary, {word: i for i, word in enumerate(target) if word in _SPECIAL})
    return seq2seq.Model(network, vocabulary, _SEARCH, "CTranslate2's", lambda: seq2seq_check.run(network) or 0)


def read_network(variables: Variables, settings: dict[str, Any], vocabulary: Vocabulary, special: dict[str, int]) -> Network:
    """settings: of config.json; special: the words of the target that no text has."""
    arrays = _Arrays(variables)
    tensors: dict[str, np.ndarray] = {}
    layers, heads = {}, {}
    for side, attentions in (("encoder", {"self_attention": "self"}), ("decoder", {"self_attention": "self", "attention": "cross"})):
        layers[side] = arrays.layers(side)
        heads[side] = arrays.attribute(side, "num_heads", 16 if variables.specification == "TransformerBig" else 8)
        for i in range(layers[side]):
            ours, theirs = f"{side}.{i}", f"{side}/layer_{i}"
            for their, our in attentions.items():
                for number, roles in enumerate(_ATTENTION[their]):
                    arrays.linears(tensors, [f"{ours}.{our}.{role}" for role in roles], f"{theirs}/{their}/linear_{number}")
                arrays.norm(tensors, f"{ours}.{our}.norm", f"{theirs}/{their}/layer_norm")
            arrays.linears(tensors, [f"{ours}.ffn.expand"], f"{theirs}/ffn/linear_0")
            arrays.linears(tensors, [f"{ours}.ffn.contract"], f"{theirs}/ffn/linear_1")
            arrays.norm(tensors, f"{ours}.ffn.norm", f"{theirs}/ffn/layer_norm")
    norm_first = {side: bool(arrays.attribute(side, "pre_norm", 1)) for side in layers}
    for side in layers if norm_first["encoder"] else ():
        arrays.norm(tensors, f"{side}.norm", f"{side}/layer_norm")
    _read_words(arrays, tensors)
    activations = {side: arrays.attribute(side, "activation", 0) for side in layers}
    for name, both in (("pre_norm", norm_first), ("activation", activations)):
        if both["encoder"] != both["decoder"]:
            raise ConvertError(f"{variables.path}: {name} of the encoder is not that of the decoder, which is not supported")
    if activations["encoder"] not in _ACTIVATIONS:
        raise ConvertError(f"{variables.path}: activation {activations['encoder']} is not supported, allowed are 0 (ReLU) and 2 (Swish)")
    arrays.check_all_taken()
    flag = _flags(variables, settings)
    if flag["add_source_bos"]:
        raise ConvertError(f"{variables.path}: a source that begins with <s> is not supported")
    dim = tensors["embeddings"].shape[1]
    start = settings.get("decoder_start_token", "<s>" if flag["with_target_bos"] else "</s>")
    if start not in special:
        raise ConvertError(f"{variables.path}: a translation begins with '{start}', which its vocabulary lacks")
    embeddings = tensors["embeddings"]
    for rows, words, side in ((embeddings, vocabulary.target, "target"), (tensors.get("source_embeddings", embeddings), vocabulary.source, "source")):
        if len(rows) != len(words.lines):
            raise ConvertError(f"{variables.path}: has {len(rows)} words of the {side}, but the vocabulary beside it {len(words.lines)}")
    epsilon = settings.get("layer_norm_epsilon")
    epsilon = 1e-5 if epsilon is None else float(epsilon)
    if not _LEAST_EPSILON <= epsilon <= _MOST_EPSILON:
        raise ConvertError(f"{variables.path}: layer_norm_epsilon is {epsilon}, allowed are {_LEAST_EPSILON}..{_MOST_EPSILON}")
    return Network({
        "dim": dim,
        "encoder_layers": layers["encoder"],
        "decoder_layers": layers["decoder"],
        "encoder_heads": heads["encoder"],
        "decoder_heads": heads["decoder"],
        "norm_first": norm_first["encoder"],
        "activation": _ACTIVATIONS[activations["encoder"]],
        "embedding_scale": math.sqrt(dim) if arrays.attribute("encoder", "scale_embeddings", 1) else 1.0,
        "norm_epsilon": epsilon,
        "start": special[start],
        "end": vocabulary.target.end,
        "has_source_end": flag["add_source_eos"],
        "forced_end": False,
        "suppressed": sorted({word for piece, word in special.items() if piece != "</s>"}),
    }, tensors)


def _flags(variables: Variables, settings: dict[str, Any]) -> dict[str, bool]:
    """Before version 6 they were variables."""
    def old(name: str, otherwise: int) -> bool:
        return bool(variables.arrays.get(name, np.int8(otherwise)))

    return {"add_source_bos": bool(settings.get("add_source_bos", old("with_source_bos", 0))),
            "add_source_eos": bool(settings.get("add_source_eos", old("with_source_eos", 0))), "with_target_bos": old("with_target_bos", 1)}


def _read_words(arrays: "_Arrays", tensors: dict[str, np.ndarray]) -> None:
    tensors["embeddings"] = arrays.matrix("decoder/embeddings/weight")
    source = next(name for name in ("encoder/embeddings_0/weight", "encoder/embeddings/weight", "") if not name or arrays.has(name))
    tensors["source_embeddings"] = arrays.matrix(source or "encoder/embeddings_0/weight")
    tensors["output"] = arrays.matrix("decoder/projection/weight")
    if arrays.has("decoder/projection/bias"):
        tensors["output.bias"] = arrays.vector("decoder/projection/bias")
    for name in ("source_embeddings", "output"):
        if np.array_equal(tensors[name], tensors["embeddings"]):
            del tensors[name]
    places = {side: arrays.matrix(f"{side}/position_encodings/encodings") for side in ("encoder", "decoder")}
    shortest = min(_PLACES, *map(len, places.values()))
    if not np.array_equal(places["encoder"][:shortest], places["decoder"][:shortest]):
        raise ConvertError(f"{arrays.variables.path}: the positions of the encoder are not those of the decoder, which is not supported")
    tensors["positions"] = places["encoder"][:shortest]


class _Arrays:
    """Takes variables by name, and knows which are left."""

    def __init__(self, variables: Variables):
        self.variables = variables
        self._taken: set[str] = set()

    def has(self, name: str) -> bool:
        return name in self.variables.arrays

    def layers(self, side: str) -> int:
        number = 0
        while self.has(f"{side}/layer_{number}/ffn/linear_0/weight"):
            number += 1
        return number

    def attribute(self, side: str, name: str, otherwise: int) -> int:
        """Of a side or, before revision 5 of the specification, of both."""
        for key in (f"{side}/{name}", name):
            if self.has(key):
                return int(self.variables.arrays[key].reshape(-1)[0])
        return otherwise

    def matrix(self, name: str) -> np.ndarray:
        array = self._take(name)
        if array.ndim == 3 and array.shape[1] == 1:   # positions as OpenNMT has them
            array = array[:, 0]
        if array.ndim != 2:
            raise ConvertError(f"{self.variables.path}: {name} has shape {list(array.shape)}, expected a matrix")
        return array

    def vector(self, name: str) -> np.ndarray:
        return self._take(name).reshape(-1)

    def linears(self, tensors: dict[str, np.ndarray], ours: list[str], theirs: str) -> None:
        """Matrices that lie one below the other."""
        weight, bias = self.matrix(f"{theirs}/weight"), self.vector(f"{theirs}/bias")
        if len(weight) % len(ours) or len(bias) != len(weight):
            raise ConvertError(f"{self.variables.path}: {theirs} has shape {list(weight.shape)} and {len(bias)} biases")
        for name, rows, biases in zip(ours, np.split(weight, len(ours)), np.split(bias, len(ours))):
            tensors[f"{name}.weight"], tensors[f"{name}.bias"] = rows, biases

    def norm(self, tensors: dict[str, np.ndarray], ours: str, theirs: str) -> None:
        tensors[f"{ours}.weight"], tensors[f"{ours}.bias"] = self.vector(f"{theirs}/gamma"), self.vector(f"{theirs}/beta")

    def check_all_taken(self) -> None:
        def counts(name: str, array: np.ndarray) -> bool:
            if name in self._taken or name.removesuffix("_scale") in self._taken:
                return False
            return array.ndim > 0 or (name.rpartition("/")[2] not in _IGNORED and bool(array))   # a flag that is not set says nothing

        left = sorted(name for name, array in self.variables.arrays.items() if counts(name, array))
        if left:
            raise ConvertError(f"{self.variables.path}: {left[0]}" + (f" and {len(left) - 1} more" if len(left) > 1 else "")
                               + " have no place in the network that is served")

    def _take(self, name: str) -> np.ndarray:
        if not self.has(name):
            raise ConvertError(f"{self.variables.path}: has no {name}")
        self._taken.add(name)
        return plain(self.variables, name)


def _vocabulary(folder: pathlib.Path, source: list[str], target: list[str], settings: dict[str, Any]) -> Vocabulary:
    pieces, target_pieces, line = _pieces(folder)
    if line is line_of and not any(map(goes_on, source + target)):
        raise ConvertError(f"{folder / MODEL}: its vocabulary has no part of a word, which ends with @@, so that bpe.model is not of it")
    unknown, end = settings.get("unk_token", "<unk>"), settings.get("eos_token", "</s>")

    def words(of_side: list[str]) -> Words:
        for special in (unknown, end):
            if special not in of_side:
                raise ConvertError(f"{folder / MODEL}: its vocabulary has no {special}")
        return Words(["" if word in _SPECIAL else line(word) for word in of_side], of_side.index(unknown), of_side.index(end))

    words_of_source = words(source)
    return Vocabulary(pieces, words_of_source, words_of_source if target is source else words(target), "none", {}, {}, target_pieces)


def _pieces(folder: pathlib.Path) -> tuple[Pieces, Pieces | None, Callable[[str], str]]:
    """What divides text of the source and, if that is another, of the target; and how the package writes a word of the vocabulary."""
    if (path := folder / "sentencepiece.model").exists():
        pieces = pieces_of(path)
        if any(pieces.is_byte(i) for i in range(pieces.vocab_size())):
            raise ConvertError(f"{path}: its bytes in the place of rare characters (--byte_fallback) are not supported")
        return path, None, str
    if not (path := folder / "bpe.model").exists():
        raise ConvertError(f"{folder}: has neither sentencepiece.model nor bpe.model")
    merges = read_merges(path)
    metadata = read_object(folder / METADATA)
    source, target = (pieces_of_side(*merges, str(metadata.get(field))) for field in ("from_code", "to_code"))
    return source, target, line_of


def _word_lists(model: pathlib.Path) -> tuple[list[str], list[str]]:
    """Of the source and of the target: the same object where they share one."""
    if (shared := _word_list(model, "shared")) is not None:
        return shared, shared
    source, target = _word_list(model, "source"), _word_list(model, "target")
    if source is None or target is None:
        raise ConvertError(f"{model}: has neither shared_vocabulary.json or .txt nor those of source and target")
    return source, target


def _word_list(model: pathlib.Path, side: str) -> list[str] | None:
    path = model / f"{side}_vocabulary.json"
    try:
        if path.exists():
            words = read_json(path)
        elif (path := path.with_suffix(".txt")).exists():
            words = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
        else:
            return None
    except (OSError, ValueError) as error:
        raise ConvertError(f"{path}: is no list of words: {error}") from error
    if not isinstance(words, list) or not all(isinstance(word, str) and "\n" not in word for word in words):
        raise ConvertError(f"{path}: is no list of words")
    return words
