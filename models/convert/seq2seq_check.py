"""Runs a package's tensors in numpy, and compares what it finds with transformers' own greedy search of the same folder."""

import math
import pathlib
import random

import numpy as np

from .package import ConvertError
from .seq2seq_layout import Network

_SOURCES, _LONGEST, _STEPS = 4, 24, 16


class Oracle:
    """Greedy search without a cache: slow, and simple enough to be seen to be right."""

    def __init__(self, network: Network):
        self.config, self.tensors = network.config, network.tensors

    def translate(self, source: list[int], prefix: list[int], steps: int) -> list[int]:
        memory, words = self._memory(source), [self.config["start"]]
        for written in range(steps):
            words.append(prefix[written] if written < len(prefix) else int(np.argmax(self._scores(words, memory))))
            if words[-1] == self.config["end"]:
                break
        return words[1:]

    def scores(self, source: list[int], written: list[int]) -> np.ndarray:
        """Of each word, to be the next one."""
        return self._scores([self.config["start"], *written], self._memory(source))

    def _memory(self, source: list[int]) -> np.ndarray:
        return self._run("encoder", self._embed("source_embeddings", source), None)

    def _scores(self, words: list[int], memory: np.ndarray) -> np.ndarray:
        x = self._run("decoder", self._embed("embeddings", words), memory)[-1]
        logits = self.tensors.get("output", self.tensors["embeddings"]) @ x + self.tensors.get("output.bias", np.float32(0))
        logits[self.config["suppressed"]] = -np.inf
        return logits

    def _embed(self, name: str, words: list[int]) -> np.ndarray:
        embeddings = self.tensors.get(name, self.tensors["embeddings"])
        return embeddings[words] * np.float32(self.config["embedding_scale"]) + self.tensors["positions"][: len(words)]

    def _run(self, side: str, x: np.ndarray, memory: np.ndarray | None) -> np.ndarray:
        causal = np.triu(np.full((len(x), len(x)), -np.inf, np.float32), 1) if side == "decoder" else np.float32(0)
        for i in range(self.config[f"{side}_layers"]):
            name = f"{side}.{i}"
            x = self._sublayer(f"{name}.self", x, lambda h: self._attend(f"{name}.self", side, h, h, causal))
            if memory is not None:
                x = self._sublayer(f"{name}.cross", x, lambda h: self._attend(f"{name}.cross", side, h, memory, np.float32(0)))
            x = self._sublayer(f"{name}.ffn", x, lambda h: self._linear(
                f"{name}.ffn.contract", self._activate(self._linear(f"{name}.ffn.expand", h))))
        return self._norm(side, x) if self.config["norm_first"] else x

    def _sublayer(self, name: str, x: np.ndarray, run) -> np.ndarray:
        return x + run(self._norm(name, x)) if self.config["norm_first"] else self._norm(name, x + run(x))

    def _linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def _norm(self, name: str, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + np.float32(self.config["norm_epsilon"]))
        return scaled * self.tensors[f"{name}.norm.weight"] + self.tensors[f"{name}.norm.bias"]

    def _activate(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0) if self.config["activation"] == "relu" else x / (1 + np.exp(-x))

    def _attend(self, name: str, side: str, x: np.ndarray, memory: np.ndarray, mask: np.ndarray) -> np.ndarray:
        heads = self.config[f"{side}_heads"]

        def split(role: str, rows: np.ndarray) -> np.ndarray:
            return self._linear(f"{name}.{role}", rows).reshape(len(rows), heads, -1).transpose(1, 0, 2)

        query, key, value = split("query", x), split("key", memory), split("value", memory)
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(query.shape[-1])) + mask
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (weights / weights.sum(-1, keepdims=True)) @ value
        return self._linear(f"{name}.output", mixed.transpose(1, 0, 2).reshape(len(x), -1))


def run(network: Network) -> None:
    """Refuses weights that give scores which are not numbers. Needs no reference."""
    oracle, chance = Oracle(network), random.Random(1)
    source = [chance.randrange(4, network.source_words) for _ in range(_LONGEST // 2)] + [network.config["end"]]
    with np.errstate(all="ignore"):
        scores = oracle.scores(source, [])
    scores = np.delete(scores, network.config["suppressed"])
    if not np.isfinite(scores).all() or np.ptp(scores) == 0:
        raise ConvertError("the network does not translate: its scores are not finite, or all the same; the weights are damaged")


def check(folder: pathlib.Path, network: Network, languages: list[int], source_end: int | None) -> int:
    """Word for word, over random sources; returns how many. languages: words that a translation may have to begin with.
    source_end: ends a source; None: what ends a translation."""
    try:
        import torch
        import transformers
    except ImportError as error:
        # The environment that converts has libtorch's wheel without the libraries of CUDA, so that torch cannot be imported there.
        raise ConvertError(f"{error}: the check runs in an environment of its own: python3 -m venv var/check && "
                           "var/check/bin/pip install torch transformers sentencepiece, then this command with var/check/bin/python; "
                           "--check none does without") from error
    # Its argument for the type of the weights has another name in each major version.
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True).float().eval()
    oracle, chance = Oracle(network), random.Random(1)
    config = network.config
    end = config["end"] if source_end is None else source_end
    for _ in range(_SOURCES):
        source = [chance.randrange(4, network.source_words) for _ in range(chance.randrange(2, _LONGEST))] + [end]
        prefix = [chance.choice(languages)] if languages else []
        got = oracle.translate(source, prefix, _STEPS)
        given = torch.tensor([source])
        with torch.no_grad():
            out = model.generate(given, attention_mask=torch.ones_like(given), num_beams=1, do_sample=False, max_length=_STEPS + 1,
                                 forced_bos_token_id=prefix[0] if prefix else None, forced_eos_token_id=None,
                                 bad_words_ids=[[word] for word in config["suppressed"]] or None)
        expected = out[0].tolist()[1:]
        if got != expected:
            raise ConvertError(f"the tensors as read do not translate as transformers does; nothing was written\n"
                               f"  source       {source}\n  transformers {expected}\n  here         {got}")
    return _SOURCES
