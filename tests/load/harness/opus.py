"""A model of the shape of OPUS-MT-base with random weights, as the hub has such models and as packages of Millrace, and requests for it whose
translations have lengths that are forced. NumPy and SentencePiece are imported late, as only this needs them."""

import hashlib
import json
import os
import random
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from harness import clients
from harness.models import TRANSLATION_TEXTS

_ROOT = Path(__file__).resolve().parents[3]

NAME = "opus"
PRECISIONS = ("float32", "bfloat16", "int8")
REQUESTS = 512
_WORDS, _DIM, _HIDDEN, _LAYERS, _HEADS, _PLACES = 32001, 512, 2048, 6, 8, 512
_END, _UNKNOWN, _PAD = 0, 1, _WORDS - 1   # as in every OPUS-MT model
_SHORTEST, _LONGEST = 5, 40               # words of a source


@dataclass
class Opus:
    folder: Path       # config.json, model.safetensors, source.spm, vocab.json: what transformers reads
    packages: dict     # by precision, a model repository with the one model NAME
    texts: Path        # a request a line
    lengths: Path      # target tokens of each
    requests: Path     # the same as JSON: {"text", "words": numbers in the vocabulary with the end, "pieces", "length"}

    def tokens(self, count):
        """Of the translations of the first `count` requests."""
        return sum(int(line) for line in self.lengths.read_text().split()[:count])


def prepare(context):
    """Made once in the context's folder, and found there later, until this file changes."""
    root = context.out / "opus"
    opus = Opus(root / "model", {precision: root / precision for precision in PRECISIONS}, root / "texts.txt", root / "lengths.txt",
                root / "requests.json")
    made, stamp = root / "made-by", hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    if not made.exists() or made.read_text() != stamp:
        shutil.rmtree(root, ignore_errors=True)   # also what an interrupted run left
        opus.folder.mkdir(parents=True)
        numbers = _write_vocabulary(opus.folder)
        _write_network(opus.folder)
        _write_requests(opus, numbers)
        _write_packages(opus)
        made.write_text(stamp)
    return opus


def _sentences():
    """One sentence each, 5 to 40 words, of the words of TRANSLATION_TEXTS in any order."""
    words = re.findall(r"[a-z]+", TRANSLATION_TEXTS.read_text().lower())
    chance = random.Random(1)
    return [" ".join(chance.choices(words, k=chance.randint(_SHORTEST, _LONGEST))).capitalize() + "." for _ in range(REQUESTS)]


def _write_vocabulary(folder):
    """The number of each piece. SentencePiece finds as many as these few sentences give; no text has the rest of the words. The vocabulary has all
    characters of the load tests' texts, because the daemon does not translate a sentence word by word in which it must restore one."""
    import sentencepiece
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(_sentences()), model_prefix=str(folder / "source"), vocab_size=_WORDS,
                                             character_coverage=1.0, required_chars=",é", hard_vocab_limit=False, minloglevel=2)
    (folder / "source.model").replace(folder / "source.spm")
    (folder / "source.vocab").unlink()
    (folder / "target.spm").write_bytes((folder / "source.spm").read_bytes())
    splitter = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    names = ["</s>", "<unk>", *(splitter.id_to_piece(i) for i in range(3, splitter.get_piece_size()))]
    names += [f"\u2581w{i}" for i in range(len(names), _WORDS - 1)] + ["<pad>"]
    numbers = {name: i for i, name in enumerate(names)}
    (folder / "vocab.json").write_text(json.dumps(numbers))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de", "separate_vocabs": False}))
    return numbers


def _write_network(folder):
    import numpy as np
    sys.path.insert(0, str(_ROOT))
    from models.convert.safetensors import write_safetensors

    chance = np.random.default_rng(1)

    def matrix(*shape, scale=0.03):
        return chance.standard_normal(shape, np.float32) * np.float32(scale)

    # Neither the unknown word nor the one that begins: they have no text.
    bias = np.zeros((1, _WORDS), np.float32)
    bias[0, [_UNKNOWN, _PAD]] = -1e4
    tensors = {"model.shared.weight": matrix(_WORDS, _DIM, scale=0.1), "final_logits_bias": bias}
    for side, attentions in (("encoder", ("self_attn",)), ("decoder", ("self_attn", "encoder_attn"))):
        for i in range(_LAYERS):
            layer = f"model.{side}.layers.{i}"
            linears = {"fc1": (_HIDDEN, _DIM), "fc2": (_DIM, _HIDDEN),
                       **{f"{a}.{part}_proj": (_DIM, _DIM) for a in attentions for part in ("q", "k", "v", "out")}}
            for name, shape in linears.items():
                tensors[f"{layer}.{name}.weight"] = matrix(*shape)
                tensors[f"{layer}.{name}.bias"] = matrix(shape[0])
            for norm in (*(f"{a}_layer_norm" for a in attentions), "final_layer_norm"):
                # Signs keep a word from being likeliest behind itself, again and again.
                tensors[f"{layer}.{norm}.weight"] = chance.choice(np.float32([-1, 1]), _DIM)
                tensors[f"{layer}.{norm}.bias"] = matrix(_DIM)
    write_safetensors(folder / "model.safetensors", tensors, {"format": "pt"})
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder")
             for name, value in (("layers", _LAYERS), ("attention_heads", _HEADS), ("ffn_dim", _HIDDEN))}
    (folder / "config.json").write_text(json.dumps({
        "model_type": "marian", "architectures": ["MarianMTModel"], "vocab_size": _WORDS, "decoder_vocab_size": _WORDS, "d_model": _DIM,
        **sides, "activation_function": "swish", "scale_embedding": True, "static_position_embeddings": True,
        "max_position_embeddings": _PLACES, "share_encoder_decoder_embeddings": True, "pad_token_id": _PAD, "eos_token_id": _END,
        "decoder_start_token_id": _PAD}))
    (folder / "generation_config.json").write_text(json.dumps(
        {"num_beams": 1, "bad_words_ids": [[_PAD]], "pad_token_id": _PAD, "eos_token_id": _END, "decoder_start_token_id": _PAD}))


def _write_requests(opus, numbers):
    """Translations have 0.8 to 1.4 times the tokens of their sources."""
    import sentencepiece
    splitter = sentencepiece.SentencePieceProcessor(model_file=str(opus.folder / "source.spm"))
    chance, requests = random.Random(2), []
    for text in _sentences():
        pieces = [*splitter.encode(text, out_type=str), "</s>"]
        requests.append({"text": text, "pieces": pieces, "words": [numbers.get(piece, _UNKNOWN) for piece in pieces],
                         "length": round(len(pieces) * chance.uniform(0.8, 1.4))})
    opus.texts.write_text("".join(request["text"] + "\n" for request in requests))
    opus.lengths.write_text("".join(f"{request['length']}\n" for request in requests))
    opus.requests.write_text(json.dumps(requests))


def _write_packages(opus):
    clients.run([sys.executable, "-m", "models.convert", "seq2seq", str(opus.folder), "--models", str(opus.packages["float32"]), "--name", NAME,
                 "--source", "en", "--target", "de", "--check", "none"], 300)
    made = opus.packages["float32"] / NAME / "1"
    for precision in PRECISIONS[1:]:
        folder = opus.packages[precision] / NAME / "1"
        folder.mkdir(parents=True)
        for file in made.iterdir():
            if file.name != "model.pbtxt":
                os.link(file, folder / file.name)
        config = (made / "model.pbtxt").read_text()
        (folder / "model.pbtxt").write_text(config.replace("seq2seq {", f"seq2seq {{\n  precision: PRECISION_{precision.upper()}"))
