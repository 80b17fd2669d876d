"""Marian's own checkpoints (model.npz, or its binary form) of a standard transformer, in the names and terms of a package.

Marian keeps matrices [inputs][outputs], and its settings as text beside them. A translation begins with zeros in the place of a
word: here that is one more word, of zeros, which nothing else may write; neither may the unknown word, which Marian's own decoder
does not write either.
"""

import dataclasses
import math
import pathlib
import zipfile
import zlib
from collections.abc import Mapping

import numpy as np

from .bergamot_marian import Int8Matrix, read_binary
from .archive import check_weights
from .package import ConvertError
from .seq2seq_layout import Network, m2m_positions
from .seq2seq_vocabulary import Vocabulary
from .seq2seq_yaml import read_settings

_SETTINGS = "special:model.yml"
_PLACES = 1024
_ATTENTION = {"q": "query", "k": "key", "v": "value", "o": "output"}
_POST_NORM, _PRE_NORM = ("", "an", ""), ("n", "a", "n")   # without dropout
_NORMS = (("preprocess", ""), ("postprocess", "dan"), ("postprocess-top", ""))   # of each part, and after the last

# What our network has, by setting; the first is what an absent one means.
_ALLOWED: dict[str, tuple[str | list[str], ...]] = {
    "type": ("transformer",),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-ffn-activation": ("swish", "relu"),
    "transformer-ffn-depth": ("2",),
    "transformer-decoder-ffn-depth": ("0", "2"),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-no-projection": ("false",),
    "transformer-train-position-embeddings": ("false",),
    "transformer-tied-layers": ([], ""),
    "transformer-pool": ("false",),
    "ulr": ("false",),
    "right-left": ("false",),
    "lemma-dim-emb": ("0",),
}


Settings = Mapping[str, str | list[str]]


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    path: pathlib.Path
    settings: Settings
    arrays: Mapping[str, np.ndarray]   # float32, by Marian's names

    def flag(self, name: str) -> bool:
        return self.settings.get(name, "false") == "true"

    def number(self, name: str) -> int:
        value = self.settings.get(name)
        if not isinstance(value, str) or not value.isdecimal() or int(value) == 0:
            raise ConvertError(f"{self.path}: setting {name} is '{value}', expected a number from 1 on")
        return int(value)

    def embeddings(self, side: str) -> np.ndarray:
        name = f"{side}_Wemb" if f"{side}_Wemb" in self.arrays else "Wemb"
        if name not in self.arrays:
            raise ConvertError(f"{self.path}: has neither {side}_Wemb nor Wemb")
        return self.arrays[name]


def read_checkpoint(path: pathlib.Path) -> Checkpoint:
    """Its settings are those that our network has; anything else is refused by name."""
    arrays, special = read_npz(path) if path.suffix == ".npz" else read_binary(path)
    if _SETTINGS not in special:
        raise ConvertError(f"{path}: has no {_SETTINGS}: not a model of Marian")
    settings = read_settings(special[_SETTINGS].rstrip(b"\0").decode("utf-8", "replace"), f"{path}: {_SETTINGS}")
    _check_settings(path, settings)
    for name, array in arrays.items():
        if isinstance(array, Int8Matrix) or array.dtype not in (np.float32, np.float16):
            raise ConvertError(f"{path}: {name} is not of float32: convert the model as it was before it was made smaller")
    return Checkpoint(path, settings, {name: np.asarray(array, np.float32) for name, array in arrays.items()})


def read_network(checkpoint: Checkpoint, vocabulary: Vocabulary) -> Network:
    arrays = _Arrays(checkpoint)
    dim, heads = checkpoint.number("dim-emb"), checkpoint.number("transformer-heads")
    layers = {side: checkpoint.number(f"{side[:3]}-depth") for side in ("encoder", "decoder")}
    pre_norm = _norms(checkpoint.settings) == _PRE_NORM
    suffix = "_pre" if pre_norm else ""
    tensors: dict[str, np.ndarray] = {}
    for side, attentions in (("encoder", {"self": "self"}), ("decoder", {"self": "self", "context": "cross"})):
        for i in range(layers[side]):
            theirs, ours = f"{side}_l{i + 1}", f"{side}.{i}"
            for their, our in attentions.items():
                for letter, role in _ATTENTION.items():
                    arrays.linear(tensors, f"{ours}.{our}.{role}", f"{theirs}_{their}", letter, dim, dim)
                arrays.norm(tensors, f"{ours}.{our}.norm", f"{theirs}_{their}_Wo_ln", suffix, dim)
            hidden = arrays.columns(f"{theirs}_ffn_W1")
            arrays.linear(tensors, f"{ours}.ffn.expand", f"{theirs}_ffn", "1", dim, hidden)
            arrays.linear(tensors, f"{ours}.ffn.contract", f"{theirs}_ffn", "2", hidden, dim)
            arrays.norm(tensors, f"{ours}.ffn.norm", f"{theirs}_ffn_ffn_ln", suffix, dim)
        if pre_norm:
            arrays.norm(tensors, f"{side}.norm", f"{side}_top_ln", "", dim)
    words = _words(arrays, tensors, dim, vocabulary.shared)
    arrays.check_all_taken()
    tensors["positions"] = m2m_positions(_PLACES, dim, -1)   # the first word stands at 0
    return Network({
        "dim": dim,
        "encoder_layers": layers["encoder"],
        "decoder_layers": layers["decoder"],
        "encoder_heads": heads,
        "decoder_heads": heads,
        "norm_first": pre_norm,
        "activation": checkpoint.settings.get("transformer-ffn-activation", "swish"),
        "embedding_scale": math.sqrt(dim),
        "norm_epsilon": 1e-6,
        "start": words,
        "end": vocabulary.target.end,
        "forced_end": False,
        "suppressed": sorted({vocabulary.target.unknown, words}),
    }, tensors)


def _words(arrays: "_Arrays", tensors: dict[str, np.ndarray], dim: int, shared: bool) -> int:
    """Embeddings and output with one more word, of zeros, which a source that has words of its own needs not. Returns how many words
    the target has without it."""
    checkpoint = arrays.checkpoint
    source, target = checkpoint.embeddings("encoder"), checkpoint.embeddings("decoder")
    words = len(target)
    for side, rows in (("encoder", len(source)), ("decoder", words)):
        arrays.take(f"{side}_Wemb" if f"{side}_Wemb" in checkpoint.arrays else "Wemb", rows, dim)
    tensors["embeddings"] = _and_zeros(target)
    if source is not target:
        tensors["source_embeddings"] = _and_zeros(source) if shared else source
    if not (checkpoint.flag("tied-embeddings") or checkpoint.flag("tied-embeddings-all")):
        name = "decoder_ff_logit_out_W"
        tensors["output"] = _and_zeros(arrays.take(name, dim, words).T if name in checkpoint.arrays
                                       else arrays.take(name + "t", words, dim))
    if not checkpoint.flag("output-omit-bias"):
        tensors["output.bias"] = np.append(arrays.take("decoder_ff_logit_out_b", 1, words)[0], np.float32(0))
    return words


class _Arrays:
    """Takes arrays by name, and knows which are left."""

    def __init__(self, checkpoint: Checkpoint):
        self.checkpoint = checkpoint
        self._taken: set[str] = set()

    def take(self, name: str, rows: int, columns: int) -> np.ndarray:
        array = self._named(name)
        if array.ndim == 1:   # a vector
            array = array[None]
        if array.shape != (rows, columns):
            raise ConvertError(f"{self.checkpoint.path}: {name} has shape {list(array.shape)}, expected [{rows}, {columns}]")
        self._taken.add(name)
        return array

    def columns(self, name: str) -> int:
        return self._named(name).shape[-1] if self._named(name).ndim else 0

    def linear(self, tensors: dict[str, np.ndarray], ours: str, theirs: str, letter: str, inputs: int, outputs: int) -> None:
        tensors[f"{ours}.weight"] = np.ascontiguousarray(self.take(f"{theirs}_W{letter}", inputs, outputs).T)
        tensors[f"{ours}.bias"] = self.take(f"{theirs}_b{letter}", 1, outputs)[0]

    def norm(self, tensors: dict[str, np.ndarray], ours: str, theirs: str, suffix: str, dim: int) -> None:
        tensors[f"{ours}.weight"] = self.take(f"{theirs}_scale{suffix}", 1, dim)[0]
        tensors[f"{ours}.bias"] = self.take(f"{theirs}_bias{suffix}", 1, dim)[0]

    def check_all_taken(self) -> None:
        if left := sorted(set(self.checkpoint.arrays) - self._taken):
            raise ConvertError(f"{self.checkpoint.path}: {left[0]}" + (f" and {len(left) - 1} more" if len(left) > 1 else "")
                               + " have no place in the network that is served")

    def _named(self, name: str) -> np.ndarray:
        if name not in self.checkpoint.arrays:
            raise ConvertError(f"{self.checkpoint.path}: has no {name}")
        return self.checkpoint.arrays[name]


def _check_settings(path: pathlib.Path, settings: Settings) -> None:
    for name, allowed in _ALLOWED.items():
        value = settings.get(name, allowed[0])
        if value not in allowed:
            shown = value if isinstance(value, str) else ", ".join(value)
            choices = " or ".join(f"'{choice}'" for choice in allowed if isinstance(choice, str) and choice) or "none"
            raise ConvertError(f"{path}: {name} '{shown}' is not supported, allowed is {choices}")
    if _norms(settings) not in (_POST_NORM, _PRE_NORM):
        shown = ", ".join(f"transformer-{name} '{settings.get(f'transformer-{name}', otherwise)}'" for name, otherwise in _NORMS)
        raise ConvertError(f"{path}: {shown} together are not supported, allowed are '', 'dan' and '', or 'n', 'da' and 'n'")


def _norms(settings: Settings) -> tuple[str, ...]:
    return tuple(str(settings.get(f"transformer-{name}", otherwise)).replace("d", "") for name, otherwise in _NORMS)


def read_npz(path: pathlib.Path) -> tuple[dict[str, np.ndarray], dict[str, bytes]]:
    try:
        check_weights(path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, KeyError, AttributeError, NotImplementedError, RuntimeError,
            MemoryError) as error:
        raise ConvertError(f"{path}: not an npz file of Marian, or it is damaged: {error}") from error
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror or error}") from error
    special = {name: arrays.pop(name).tobytes() for name in list(arrays) if name.startswith("special:")}
    return arrays, special


def _and_zeros(rows: np.ndarray) -> np.ndarray:
    return np.concatenate([rows, np.zeros((1, rows.shape[1]), np.float32)])
