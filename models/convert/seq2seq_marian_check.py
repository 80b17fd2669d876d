"""Marian's transformer in plain numpy, on the arrays as Marian wrote them: what a package is compared with before it is written.

Written from Marian's equations and its names, a word at a time with what came before kept, and sharing nothing with what made the
package. The norm before a part is applied to the keys and values of self-attention too, as it is in training.
"""

import math
import random

import numpy as np

from .package import ConvertError
from .seq2seq_check import Oracle
from .seq2seq_layout import Network
from .seq2seq_marian import Checkpoint
from .seq2seq_vocabulary import Vocabulary

_SOURCES, _LONGEST, _STEPS, _GIVEN = 8, 24, 16, 6
_APART = 1e-3   # scores may be at most, as a part of the largest


class Reference:
    """Greedy search. end, unknown: words of the vocabulary; the second is never written."""

    def __init__(self, checkpoint: Checkpoint, end: int, unknown: int):
        self.arrays, self.settings = checkpoint.arrays, checkpoint.settings
        self.end, self.unknown = end, unknown
        self.dim, self.heads = int(self.settings["dim-emb"]), int(self.settings["transformer-heads"])
        self.source = self.arrays["encoder_Wemb" if "encoder_Wemb" in self.arrays else "Wemb"]
        self.target = self.arrays["decoder_Wemb" if "decoder_Wemb" in self.arrays else "Wemb"]

    def translate(self, source: list[int], prefix: list[int], steps: int) -> tuple[list[int], np.ndarray]:
        """The words, and the scores that the last of them was chosen from."""
        memory = self._encode(source)
        context = {i: self._keys_values(memory, name) for i, name in self._layers("decoder", "context")}
        before: dict[int, np.ndarray] = {}
        word, out = np.zeros((1, self.dim), np.float32), []
        while len(out) < steps and out[-1:] != [self.end]:
            scores = self._scores(self._decode(word, len(out), before, context))
            scores[self.unknown] = -np.inf
            out.append(prefix[len(out)] if len(out) < len(prefix) else int(scores.argmax()))
            word = self.target[out[-1:]]
        return out, scores

    def _encode(self, source: list[int]) -> np.ndarray:
        x = self._placed(self.source[source], 0)
        for i, name in self._layers("encoder", "self"):
            h = self._before(x, f"{name}_Wo")
            x = self._after(self._attention(h, *self._keys_values(h, name), name), x, f"{name}_Wo")
            x = self._feed_forward(x, f"encoder_l{i}_ffn")
        return self._top(x, "encoder")

    def _decode(self, word: np.ndarray, place: int, before: dict[int, np.ndarray],
                context: dict[int, list[np.ndarray]]) -> np.ndarray:
        x = self._placed(word, place)
        for i, name in self._layers("decoder", "self"):
            h = self._before(x, f"{name}_Wo")
            before[i] = np.concatenate([before[i], h]) if i in before else h
            x = self._after(self._attention(h, *self._keys_values(before[i], name), name), x, f"{name}_Wo")
            name = f"decoder_l{i}_context"
            x = self._after(self._attention(self._before(x, f"{name}_Wo"), *context[i], name), x, f"{name}_Wo")
            x = self._feed_forward(x, f"decoder_l{i}_ffn")
        return self._top(x, "decoder")

    def _scores(self, x: np.ndarray) -> np.ndarray:
        arrays, out = self.arrays, "decoder_ff_logit_out"
        if "true" in (self.settings.get("tied-embeddings"), self.settings.get("tied-embeddings-all")):
            weights = self.target.T
        else:
            weights = arrays[f"{out}_W"] if f"{out}_W" in arrays else arrays[f"{out}_Wt"].T
        return (x @ weights + arrays.get(f"{out}_b", np.float32(0))).reshape(-1)

    def _layers(self, side: str, part: str) -> list[tuple[int, str]]:
        return [(i + 1, f"{side}_l{i + 1}_{part}") for i in range(int(self.settings[f"{side[:3]}-depth"]))]

    def _placed(self, embeddings: np.ndarray, first: int) -> np.ndarray:
        half = self.dim // 2
        table = np.empty((len(embeddings), self.dim), np.float32)
        for row in range(len(embeddings)):
            for i in range(half):
                angle = (first + row) * math.exp(-i * math.log(10000) / (half - 1))
                table[row, i], table[row, half + i] = math.sin(angle), math.cos(angle)
        return embeddings * np.float32(self.dim ** 0.5) + table

    def _keys_values(self, x: np.ndarray, name: str) -> list[np.ndarray]:
        return [x @ self.arrays[f"{name}_W{letter}"] + self.arrays[f"{name}_b{letter}"] for letter in "kv"]

    def _attention(self, x: np.ndarray, keys: np.ndarray, values: np.ndarray, name: str) -> np.ndarray:
        size = self.dim // self.heads
        query = (x @ self.arrays[f"{name}_Wq"] + self.arrays[f"{name}_bq"]).reshape(-1, self.heads, size)
        scores = np.einsum("qhd,khd->hqk", query, keys.reshape(-1, self.heads, size)) / np.float32(math.sqrt(size))
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", shares, values.reshape(-1, self.heads, size)).reshape(-1, self.dim)
        return mixed @ self.arrays[f"{name}_Wo"] + self.arrays[f"{name}_bo"]

    def _feed_forward(self, x: np.ndarray, name: str) -> np.ndarray:
        hidden = self._before(x, f"{name}_ffn") @ self.arrays[f"{name}_W1"] + self.arrays[f"{name}_b1"]
        if self.settings.get("transformer-ffn-activation", "swish") == "relu":
            hidden = np.maximum(hidden, 0)
        else:
            hidden = hidden / (1 + np.exp(-hidden))
        return self._after(hidden @ self.arrays[f"{name}_W2"] + self.arrays[f"{name}_b2"], x, f"{name}_ffn")

    def _before(self, x: np.ndarray, name: str) -> np.ndarray:
        return self._normalised(x, name, "_pre") if "n" in self.settings.get("transformer-preprocess", "") else x

    def _after(self, x: np.ndarray, skipped: np.ndarray, name: str) -> np.ndarray:
        for step in self.settings.get("transformer-postprocess", "dan"):
            x = x + skipped if step == "a" else self._normalised(x, name, "") if step == "n" else x
        return x

    def _top(self, x: np.ndarray, side: str) -> np.ndarray:
        return self._normalised(x, f"{side}_top", "") if "n" in self.settings.get("transformer-postprocess-top", "") else x

    def _normalised(self, x: np.ndarray, name: str, suffix: str) -> np.ndarray:
        mean, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        scaled = (x - mean) / np.sqrt(spread + np.float32(1e-6))
        return scaled * self.arrays[f"{name}_ln_scale{suffix}"] + self.arrays[f"{name}_ln_bias{suffix}"]


def check(checkpoint: Checkpoint, network: Network, vocabulary: Vocabulary) -> int:
    """Word for word and by the scores, over random sources and random beginnings of translations; returns how many."""
    reference, oracle = Reference(checkpoint, vocabulary.target.end, vocabulary.target.unknown), Oracle(network)
    chance = random.Random(1)
    source_words, words = ([word for word in range(len(rows)) if word not in (side.end, side.unknown)]
                           for rows, side in ((reference.source, vocabulary.source), (reference.target, vocabulary.target)))
    for _ in range(_SOURCES):
        source = chance.choices(source_words, k=chance.randrange(2, _LONGEST)) + [vocabulary.source.end]
        prefix = chance.choices(words, k=chance.randrange(_GIVEN))
        expected, wanted = reference.translate(source, prefix, _STEPS)
        got, scores = oracle.translate(source, prefix, _STEPS), oracle.scores(source, expected[:-1])
        wanted = np.append(wanted, -np.inf)   # of the word of zeros
        possible = np.isfinite(wanted)
        apart = np.abs(scores[possible] - wanted[possible]).max() / max(1, np.abs(wanted[possible]).max())
        if got != expected or not np.array_equal(np.isfinite(scores), possible) or not apart < _APART:
            raise ConvertError(f"the tensors as read do not translate as Marian's do; nothing was written\n"
                               f"  source {source}\n  Marian {expected}\n  here   {got}, scores apart by {apart:.2g} of the largest")
    return _SOURCES
