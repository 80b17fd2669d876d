"""Bergamot in plain numpy, one sentence at a time: slow and readable. The converter checks what it read with it.

A transformer encoder with the normalisation after each block; a decoder whose self-attention is an SSRU cell (Kim et al. 2019,
"From Research to Production and Back"); embeddings that both sides share or of each side, scaled by sqrt(dim), those of the target
also in the output layer; sinusoid positions, sines first. The first decoder input is a zero vector; word 0 ends a sentence. Greedy,
over the shortlist's words.
"""

import math

import numpy as np

from .bergamot_marian import Int8Matrix, Shortlist, embeddings

HEADS, END_OF_SENTENCE = 8, 0   # HEADS: where nothing is said of them, as models/bergamot/bergamot_weights.h has it

_ROWS = 4096   # of the output layer, that become float32 at once


def _floats(matrix: Int8Matrix, rows=slice(None)) -> np.ndarray:
    return matrix.values[rows].astype(np.float32) / np.float32(matrix.multiplier)


class Oracle:
    def __init__(self, weights: dict[str, np.ndarray | Int8Matrix], shortlist: Shortlist, heads: int = HEADS):
        self.weights, self.shortlist, self.heads = weights, shortlist, heads
        self.source_embeddings, self.target_embeddings = embeddings(weights)
        self.dim = self.target_embeddings.values.shape[1]
        self.encoder_layers = sum(name.startswith("encoder_") and name.endswith("_self_Wq") for name in weights)
        self.decoder_layers = sum(name.startswith("decoder_") and name.endswith("_context_Wq") for name in weights)

    def _product(self, x, name):
        """One matrix at a time becomes float32: all of them at once would take four times the file."""
        return x @ _floats(self.weights[name]).T

    def _linear(self, x, weight, bias):
        return self._product(x, weight) + self.weights[bias][0]

    def _normalise(self, x, prefix):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-9)
        return scaled * self.weights[prefix + "_ln_scale"][0] + self.weights[prefix + "_ln_bias"][0]

    def _attention(self, x, keys, values, prefix):
        size = self.dim // self.heads
        query = self._linear(x, prefix + "_Wq", prefix + "_bq").reshape(-1, self.heads, size)
        scores = np.einsum("qhd,khd->hqk", query, keys.reshape(-1, self.heads, size)) / math.sqrt(size)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", scores, values.reshape(-1, self.heads, size)).reshape(-1, self.dim)
        return self._normalise(x + self._linear(mixed, prefix + "_Wo", prefix + "_bo"), prefix + "_Wo")

    def _keys_values(self, x, prefix):
        return self._linear(x, prefix + "_Wk", prefix + "_bk"), self._linear(x, prefix + "_Wv", prefix + "_bv")

    def _feed_forward(self, x, prefix):
        hidden = np.maximum(self._linear(x, prefix + "_W1", prefix + "_b1"), 0)
        return self._normalise(x + self._linear(hidden, prefix + "_W2", prefix + "_b2"), prefix + "_ffn")

    def _positions(self, start, count):
        half = self.dim // 2
        rates = np.exp(np.arange(half) * -(math.log(10000) / (half - 1)))
        angles = np.arange(start, start + count)[:, None] * rates
        return np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)

    def _encode(self, ids):
        x = _floats(self.source_embeddings, ids) * np.float32(math.sqrt(self.dim)) + self._positions(0, len(ids))
        for layer in range(1, self.encoder_layers + 1):
            x = self._attention(x, *self._keys_values(x, f"encoder_l{layer}_self"), f"encoder_l{layer}_self")
            x = self._feed_forward(x, f"encoder_l{layer}_ffn")
        return x

    def candidates(self, ids: list[int]) -> np.ndarray:
        """The target words that a sentence may use, ascending."""
        of = [self.shortlist.ids[self.shortlist.offsets[i]:self.shortlist.offsets[i + 1]] for i in set(ids)]
        return np.unique(np.concatenate([np.arange(self.shortlist.first), *of]))

    def translate(self, ids: list[int], max_length_factor: float = 2.5) -> list[int]:
        """Source words in, target words out; the end of sentence is added to the one and left out of the other."""
        ids = [*ids, END_OF_SENTENCE]
        memory = self._encode(ids)
        cross = [self._keys_values(memory, f"decoder_l{i + 1}_context") for i in range(self.decoder_layers)]
        words = self.candidates(ids)
        bias = self.weights["decoder_ff_logit_out_b"][0, words]
        cells = [np.zeros((1, self.dim), np.float32)] * self.decoder_layers
        y = np.zeros((1, self.dim), np.float32)
        out: list[int] = []
        for step in range(int(len(ids) * max_length_factor) + 5):
            x = y + self._positions(step, 1)
            for i in range(self.decoder_layers):
                prefix = f"decoder_l{i + 1}"
                forget = 1 / (1 + np.exp(-self._linear(x, prefix + "_rnn_Wf", prefix + "_rnn_bf")))
                cells[i] = forget * cells[i] + (1 - forget) * self._product(x, prefix + "_rnn_W")
                x = self._normalise(x + np.maximum(cells[i], 0), prefix + "_rnn_ffn")
                x = self._attention(x, *cross[i], prefix + "_context")
                x = self._feed_forward(x, prefix + "_ffn")
            logits = [(x @ _floats(self.target_embeddings, words[at:at + _ROWS]).T)[0] for at in range(0, len(words), _ROWS)]
            best = int(words[(np.concatenate(logits) + bias).argmax()])
            if best == END_OF_SENTENCE:
                break
            out.append(best)
            y = _floats(self.target_embeddings, [best]) * np.float32(math.sqrt(self.dim))
        return out
