"""Small models with random weights, in the files that their hubs publish."""

import json
import pathlib
import shutil
import struct

import numpy as np

from models.convert.bergamot_marian import SHORTLIST_MAGIC
from models.convert.safetensors import write_safetensors
from tiny_checkpoint import PIECES, config, state
from tiny_marian import write_bin
from torch_file import Stored, save

DATA = pathlib.Path(__file__).parents[3] / "data" / "translation"
BERGAMOT_SETTINGS = {"type": "transformer", "dec-cell": "ssru", "transformer-decoder-autoreg": "rnn", "transformer-heads": "8",
                     "transformer-preprocess": '""', "transformer-postprocess": "dan", "transformer-ffn-activation": "relu",
                     "tied-embeddings-all": "true"}
STYLE_ROWS = 510
CHINESE_PIECES = 81   # of tiny-zh.spm


def bergamot_arrays(width: int, hidden: int, encoder: int, decoder: int, words: int = PIECES, seed: int = 5,
                    source_words: int | None = None, spread: int = 2, bias: float = 1) -> dict[str, np.ndarray]:
    """As Mozilla's `base` (512, 2048, 6, 2) and `base-memory` (384, 1536, 6, 4) have them. source_words: where the source has embeddings of
    its own; spread: the greatest value of a matrix; bias: the deviation of biases."""
    chance, found = np.random.default_rng(seed), {}

    def matrix(rows: int, columns: int) -> np.ndarray:
        return chance.integers(-spread, spread + 1, size=(rows, columns)).astype(np.int8)

    def linear(name: str, kind: str, rows: int, columns: int) -> None:
        found[f"{name}W{kind}"] = matrix(rows, columns)
        found[f"{name}b{kind}"] = (bias * chance.normal(size=(1, columns))).astype(np.float32)

    def norm(name: str) -> None:
        found[f"{name}_ln_scale"] = np.ones((1, width), np.float32)
        found[f"{name}_ln_bias"] = (0.1 * chance.normal(size=(1, width))).astype(np.float32)

    def attention(name: str) -> None:
        for letter in "qkvo":
            linear(name, letter, width, width)
        norm(name + "Wo")

    for side, layers in (("encoder", encoder), ("decoder", decoder)):
        for layer in range(1, layers + 1):
            prefix = f"{side}_l{layer}_"
            if side == "encoder":
                attention(prefix + "self_")
            else:
                linear(prefix + "rnn_", "f", width, width)
                found[prefix + "rnn_W"] = matrix(width, width)
                norm(prefix + "rnn_ffn")
                attention(prefix + "context_")
            linear(prefix + "ffn_", "1", width, hidden)
            linear(prefix + "ffn_", "2", hidden, width)
            norm(prefix + "ffn_ffn")
    for name, rows in (("Wemb", words),) if source_words is None else (("encoder_Wemb", source_words), ("decoder_Wemb", words)):
        found[name] = matrix(rows, width)
        # Marian quantises what has such a name, even where it is a scalar.
        found[f"{name}_QuantMultA"] = np.ones((1, 1), np.float32 if source_words is None else np.int8)
    found["decoder_ff_logit_out_b"] = (bias * chance.normal(size=(1, words))).astype(np.float32)
    return found


def bergamot(folder: pathlib.Path, languages: str = "ende", settings: dict[str, str] = BERGAMOT_SETTINGS, width: int = 128,
             seed: int = 5) -> None:
    folder.mkdir(parents=True)
    write_bin(folder / f"model.{languages}.intgemm.alphas.bin", bergamot_arrays(width, 2 * width, 1, 2, seed=seed), settings, 20)
    shutil.copy(DATA / "tiny.spm", folder / f"vocab.{languages}.spm")


def bergamot_of_two(folder: pathlib.Path, languages: str = "enzh", shortlist: bool = True) -> None:
    """A pair whose languages have a vocabulary each, in the files that Mozilla names so."""
    folder.mkdir(parents=True)
    settings = BERGAMOT_SETTINGS | {"tied-embeddings-all": "false", "tied-embeddings": "true"}
    write_bin(folder / f"model.{languages}.intgemm.alphas.bin",
              bergamot_arrays(128, 256, 1, 2, words=CHINESE_PIECES, source_words=PIECES, spread=127, bias=0.3), settings, 300)
    shutil.copy(DATA / "tiny.spm", folder / f"srcvocab.{languages}.spm")
    shutil.copy(DATA / "tiny-zh.spm", folder / f"trgvocab.{languages}.spm")
    if shortlist:
        write_shortlist(folder / f"lex.50.50.{languages}.s2t.bin", PIECES, CHINESE_PIECES)


def write_shortlist(path: pathlib.Path, source_words: int, words: int, each: int = 12, first: int = 4) -> None:
    """Random words of the target for each of the source."""
    chance = np.random.default_rng(11)
    ids = np.concatenate([np.sort(chance.choice(words, each, replace=False)) for _ in range(source_words)]).astype("<u4")
    offsets = np.arange(0, len(ids) + 1, each, dtype="<u8")
    path.write_bytes(struct.pack("<6Q", SHORTLIST_MAGIC, 0, first, each, len(offsets), len(ids)) + offsets.tobytes() + ids.tobytes())


def m2m(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True)
    given = config("m2m_100", PIECES + 4)
    (folder / "config.json").write_text(json.dumps(given))
    write_safetensors(folder / "model.safetensors", state(given, 0.3), {})
    shutil.copy(DATA / "tiny.spm", folder / "sentencepiece.bpe.model")
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": ["eng_Latn", "deu_Latn"]}))


def marian(folder: pathlib.Path, old: bool = False) -> None:
    folder.mkdir(parents=True)
    given = {**config("marian", PIECES), "pad_token_id": PIECES - 1, "eos_token_id": 0, "decoder_start_token_id": PIECES - 1}
    (folder / "config.json").write_text(json.dumps(given))
    save(folder / "pytorch_model.bin", {name: Stored(array) for name, array in state(given, 0.3).items()}, old=old)
    shutil.copy(DATA / "tiny.spm", folder / "source.spm")
    words = {"</s>": 0, "<unk>": 1} | {f"w{i}": i for i in range(2, PIECES - 1)} | {"<pad>": PIECES - 1}
    (folder / "vocab.json").write_text(json.dumps(words))


def kokoro(folder: pathlib.Path, voices: tuple[str, ...] = ("af_heart", "jf_alpha"), symbols: str = "jˈɛs.ɡʊdivnŋ! ",
           checkpoint: str = "kokoro-v1_0.pth") -> None:
    """Only what says how long phonemes are, which is what the converter runs."""
    (folder / "voices").mkdir(parents=True)
    chance, dim, style, inner = np.random.default_rng(7), 8, 6, 12

    def array(*shape: int) -> Stored:
        return Stored((0.2 * chance.normal(size=shape)).astype(np.float32))

    def linear(name: str, inputs: int, outputs: int) -> dict[str, Stored]:
        return {name + ".weight": array(outputs, inputs), name + ".bias": array(outputs)}

    def lstm(name: str, inputs: int, hidden: int) -> dict[str, Stored]:
        return {f"{name}.{part}_l0{suffix}": array(4 * hidden, *columns) for suffix in ("", "_reverse")
                for part, columns in (("weight_ih", [inputs]), ("weight_hh", [hidden]), ("bias_ih", []), ("bias_hh", []))}

    layer = "encoder.albert_layer_groups.0.albert_layers.0"
    bert = {"embeddings.word_embeddings.weight": array(178, dim), "embeddings.token_type_embeddings.weight": array(2, dim),
            "embeddings.position_embeddings.weight": array(512, dim), **linear("embeddings.LayerNorm", 1, dim),
            **linear("encoder.embedding_hidden_mapping_in", dim, inner), **linear(layer + ".ffn", inner, 16),
            **linear(layer + ".ffn_output", 16, inner)}
    for part in ("query", "key", "value", "dense"):
        bert |= linear(f"{layer}.attention.{part}", inner, inner)
    for norm in ("embeddings.LayerNorm", layer + ".attention.LayerNorm", layer + ".full_layer_layer_norm"):
        bert |= {norm + ".weight": array(dim if norm.startswith("emb") else inner), norm + ".bias": array(dim if norm.startswith("emb") else inner)}
    predictor = lstm("text_encoder.lstms.0", dim + style, dim // 2) | linear("text_encoder.lstms.1.fc", style, 2 * dim) \
        | lstm("lstm", dim + style, dim // 2) | linear("duration_proj.linear_layer", dim, 50)
    save(folder / checkpoint, {"bert": bert, "bert_encoder": {
        name.strip("."): value for name, value in linear("", inner, dim).items()}, "predictor": predictor,
        "decoder": linear("encode.norm1.fc", style, 4)})
    for voice in voices:
        save(folder / "voices" / f"{voice}.pt", Stored(chance.normal(size=(STYLE_ROWS, 1, 2 * style)).astype(np.float32)))
    (folder / "config.json").write_text(json.dumps({
        "vocab": {symbol: i + 1 for i, symbol in enumerate(symbols)}, "plbert": {"num_hidden_layers": 2, "num_attention_heads": 3},
        "istftnet": {"upsample_rates": [4, 2], "gen_istft_n_fft": 8, "gen_istft_hop_size": 2, "resblock_dilation_sizes": [[1, 3]]}}))
