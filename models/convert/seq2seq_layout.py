"""Encoder-decoder transformers of the hub in the names and terms of a package: Marian, M2M-100 and NLLB-200."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .package import ConvertError

_ATTENTION = {"q_proj": "query", "k_proj": "key", "v_proj": "value", "out_proj": "output"}
_ACTIVATIONS = {"relu": "relu", "swish": "swish", "silu": "swish"}
MARIAN, M2M_100 = "marian", "m2m_100"
# The most of each number of config.json that the engine takes. Others would also take any time and memory here.
_MOST = {"d_model": 8192, "encoder_layers": 64, "decoder_layers": 64, "encoder_attention_heads": 8192, "decoder_attention_heads": 8192,
         "max_position_embeddings": 1 << 16}
_SWITCHES = ("normalize_embedding", "normalize_before", "scale_embedding", "tie_word_embeddings")


@dataclasses.dataclass(frozen=True)
class Network:
    """The package's config without languages, and its tensors."""
    config: dict[str, Any]
    tensors: dict[str, np.ndarray]

    @property
    def words(self) -> int:
        """Of translations."""
        return len(self.tensors["embeddings"])

    @property
    def source_words(self) -> int:
        return len(self.tensors.get("source_embeddings", self.tensors["embeddings"]))


def read_network(config: Mapping[str, Any], generation: Mapping[str, Any], state: Mapping[str, np.ndarray]) -> Network:
    """config and generation: the hub's config.json and generation_config.json; state: the checkpoint's arrays by name."""
    kind = config.get("model_type")
    if kind not in (MARIAN, M2M_100):
        raise ConvertError(f"config.json: model_type '{kind}' is not supported, allowed are {MARIAN}, {M2M_100}")
    settings = {**config, **{key: value for key, value in generation.items() if value is not None}}
    activation = _ACTIVATIONS.get(config["activation_function"])
    if activation is None:
        raise ConvertError(f"config.json: activation_function '{config['activation_function']}' is not supported, "
                           f"allowed are {', '.join(sorted(_ACTIVATIONS))}")
    for name in _SWITCHES:
        if (value := config.get(name)) is not None and type(value) is not bool:
            raise ConvertError(f"config.json: {name} is {str(value)[:80]!r}, allowed are true and false")
    if config.get("normalize_embedding") or (kind == MARIAN and config.get("normalize_before")):
        raise ConvertError("config.json: normalize_embedding and normalize_before are not supported")
    for name, most in _MOST.items():
        if type(config[name]) is not int or not 1 <= config[name] <= most:
            raise ConvertError(f"config.json: {name} is {config[name]!r}, allowed are 1..{most}")
    names = dict(_names(config))
    tensors = {ours: _array(state, theirs) for ours, theirs in names.items()}
    dim = int(config["d_model"])
    tensors["embeddings"] = _first(state, "model.decoder.embed_tokens.weight", "model.shared.weight", "lm_head.weight")
    if tensors["embeddings"] is None or tensors["embeddings"].shape[1:] != (dim,):
        raise ConvertError(f"config.json: d_model is {dim}, which is not the width of the checkpoint's embeddings")
    source = _first(state, "model.encoder.embed_tokens.weight", "model.shared.weight")
    if source is not None and not np.array_equal(source, tensors["embeddings"]):
        tensors["source_embeddings"] = source
    output = _first(state, "lm_head.weight")
    if not config.get("tie_word_embeddings", True) and output is not None and not np.array_equal(output, tensors["embeddings"]):
        tensors["output"] = output
    if kind == MARIAN and "final_logits_bias" in state:
        tensors["output.bias"] = np.asarray(state["final_logits_bias"], np.float32).reshape(-1)
    places = int(config["max_position_embeddings"])
    tensors["positions"] = marian_positions(places, dim) if kind == MARIAN else m2m_positions(places, dim, int(config["pad_token_id"]))
    pad, end, start = config["pad_token_id"], config["eos_token_id"], settings["decoder_start_token_id"]
    for name, word in (("pad_token_id", pad), ("eos_token_id", end), ("decoder_start_token_id", start)):
        if type(word) is not int or not 0 <= word < len(tensors["embeddings"]):
            raise ConvertError(f"config.json: {name} {word} is not a word, allowed 0..{len(tensors['embeddings']) - 1}")
    suppressed = {pad, *(words[0] for words in settings.get("bad_words_ids") or [] if len(words) == 1)} - {end}
    if not all(type(word) is int and 0 <= word < len(tensors["embeddings"]) for word in suppressed):
        raise ConvertError(f"config.json: bad_words_ids has {str(sorted(suppressed, key=str))[:80]}, allowed are 0..{len(tensors['embeddings']) - 1}")
    return Network({
        "dim": dim,
        "encoder_layers": int(config["encoder_layers"]),
        "decoder_layers": int(config["decoder_layers"]),
        "encoder_heads": int(config["encoder_attention_heads"]),
        "decoder_heads": int(config["decoder_attention_heads"]),
        "norm_first": kind == M2M_100,
        "activation": activation,
        "embedding_scale": math.sqrt(dim) if config.get("scale_embedding") else 1.0,
        "norm_epsilon": 1e-5,
        "start": start,
        "end": end,
        "forced_end": settings.get("forced_eos_token_id") == end,
        "suppressed": sorted(suppressed),
    }, tensors)


def _names(config: Mapping[str, Any]):
    """Pairs of our name and the checkpoint's."""
    for side, attentions in (("encoder", {"self_attn": "self"}), ("decoder", {"self_attn": "self", "encoder_attn": "cross"})):
        for i in range(int(config[f"{side}_layers"])):
            ours, theirs = f"{side}.{i}", f"model.{side}.layers.{i}"
            for suffix in ("weight", "bias"):
                for attention, name in attentions.items():
                    for part, role in _ATTENTION.items():
                        yield f"{ours}.{name}.{role}.{suffix}", f"{theirs}.{attention}.{part}.{suffix}"
                    yield f"{ours}.{name}.norm.{suffix}", f"{theirs}.{attention}_layer_norm.{suffix}"
                yield f"{ours}.ffn.expand.{suffix}", f"{theirs}.fc1.{suffix}"
                yield f"{ours}.ffn.contract.{suffix}", f"{theirs}.fc2.{suffix}"
                yield f"{ours}.ffn.norm.{suffix}", f"{theirs}.final_layer_norm.{suffix}"
        if config["model_type"] == M2M_100:
            for suffix in ("weight", "bias"):
                yield f"{side}.norm.{suffix}", f"model.{side}.layer_norm.{suffix}"


def marian_positions(places: int, dim: int) -> np.ndarray:
    """Sines in the first half, cosines in the second; a row a place."""
    half = (dim + 1) // 2
    angles = np.arange(places)[:, None] / np.power(10000, 2 * np.arange(half) / dim)
    return np.concatenate([np.sin(angles), np.cos(angles[:, : dim // 2])], axis=1).astype(np.float32)


def m2m_positions(places: int, dim: int, padding: int) -> np.ndarray:
    """The first word stands behind `padding`, and the last of the sines' rates is exactly 1 in 10000."""
    half = dim // 2
    rates = np.exp(np.arange(half, dtype=np.float32) * np.float32(-math.log(10000) / (half - 1)))
    angles = np.arange(padding + 1, padding + 1 + places, dtype=np.float32)[:, None] * rates[None, :]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def _array(state: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    if name not in state:
        raise ConvertError(f"the checkpoint has no tensor '{name}'")
    return np.asarray(state[name], np.float32)


def _first(state: Mapping[str, np.ndarray], *names: str) -> np.ndarray | None:
    for name in names:
        if name in state:
            return np.asarray(state[name], np.float32)
    return None
