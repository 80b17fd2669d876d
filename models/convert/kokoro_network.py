"""The first half of Kokoro in numpy: phonemes and style to the frames of each phoneme. What a conversion is checked with.

One sentence at a time, so no masks are needed. Arrays are [time, channels]. Weights go by the names of KModel of the package
kokoro (bert.embeddings.word_embeddings.weight), with weight normalisation folded in.
"""

import math

import numpy as np

Array = np.ndarray
Weights = dict[str, Array]

_ALBERT_EPSILON = 1e-12
_EPSILON = 1e-5
_LAYER = "bert.encoder.albert_layer_groups.0.albert_layers.0"


def _linear(weights: Weights, name: str, x: Array) -> Array:
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def _normalize(x: Array, epsilon: float) -> Array:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + epsilon)


def _layer_norm(weights: Weights, name: str, x: Array) -> Array:
    return _normalize(x, _ALBERT_EPSILON) * weights[name + ".weight"] + weights[name + ".bias"]


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _sigmoid(x: Array) -> Array:
    return 0.5 * (np.tanh(0.5 * x) + 1)


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _attend(weights: Weights, x: Array, heads: int) -> Array:
    name = _LAYER + ".attention"

    def split(part: str) -> Array:
        return _linear(weights, f"{name}.{part}", x).reshape(len(x), heads, -1).transpose(1, 0, 2)

    query, key, value = split("query"), split("key"), split("value")
    share = _softmax(query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[2]))
    mixed = (share @ value).transpose(1, 0, 2).reshape(len(x), -1)
    return _layer_norm(weights, name + ".LayerNorm", x + _linear(weights, name + ".dense", mixed))


def albert(weights: Weights, ids: Array, layers: int, heads: int) -> Array:
    x = weights["bert.embeddings.word_embeddings.weight"][ids]
    x = x + weights["bert.embeddings.token_type_embeddings.weight"][0]
    x = x + weights["bert.embeddings.position_embeddings.weight"][: len(ids)]
    x = _layer_norm(weights, "bert.embeddings.LayerNorm", x)
    x = _linear(weights, "bert.encoder.embedding_hidden_mapping_in", x)
    for _ in range(layers):
        x = _attend(weights, x, heads)
        fed = _linear(weights, _LAYER + ".ffn_output", _gelu(_linear(weights, _LAYER + ".ffn", x)))
        x = _layer_norm(weights, _LAYER + ".full_layer_layer_norm", x + fed)
    return x


def lstm(weights: Weights, name: str, x: Array) -> Array:
    """One layer, both directions."""
    results = []
    for suffix, rows in (("", x), ("_reverse", x[::-1])):
        gates = rows @ weights[f"{name}.weight_ih_l0{suffix}"].T + weights[f"{name}.bias_ih_l0{suffix}"]
        gates = gates + weights[f"{name}.bias_hh_l0{suffix}"]
        recurrent = weights[f"{name}.weight_hh_l0{suffix}"].T
        size = len(recurrent)
        hidden, cell, outputs = np.zeros(size, np.float32), np.zeros(size, np.float32), []
        for row in gates:
            i, f, g, o = np.split(row + hidden @ recurrent, 4)
            cell = _sigmoid(f) * cell + _sigmoid(i) * np.tanh(g)
            hidden = _sigmoid(o) * np.tanh(cell)
            outputs.append(hidden)
        results.append(np.array(outputs)[:: -1 if suffix else 1])
    return np.concatenate(results, 1)


def durations(weights: Weights, ids: Array, style: Array, speed: float, layers: int, heads: int) -> Array:
    """Frames of each phoneme before rounding. ids have the marks of both ends; style is the second half of a voice's row."""
    rows = np.broadcast_to(style, (len(ids), len(style)))
    x = _linear(weights, "bert_encoder", albert(weights, ids, layers, heads))
    number = 0
    while f"predictor.text_encoder.lstms.{number}.weight_ih_l0" in weights:
        x = lstm(weights, f"predictor.text_encoder.lstms.{number}", np.concatenate([x, rows], 1))
        scale, shift = np.split(_linear(weights, f"predictor.text_encoder.lstms.{number + 1}.fc", style), 2)
        x = (1 + scale) * _normalize(x, _EPSILON) + shift
        number += 2
    x = lstm(weights, "predictor.lstm", np.concatenate([x, rows], 1))
    return _sigmoid(_linear(weights, "predictor.duration_proj.linear_layer", x)).sum(1) / speed
