"""Small models with random weights, in the files that their hubs publish."""

import json
import pathlib
import shutil

import numpy as np

from models.convert.safetensors import write_safetensors
from tiny_checkpoint import PIECES, config, state
from tiny_marian import write_bin
from torch_file import Stored, save

DATA = pathlib.Path(__file__).parents[3] / "data" / "translation"
BERGAMOT_SETTINGS = {"type": "transformer", "dec-cell": "ssru", "transformer-decoder-autoreg": "rnn", "transformer-heads": "8",
                     "transformer-preprocess": '""', "transformer-postprocess": "dan", "transformer-ffn-activation": "relu",
                     "tied-embeddings-all": "true"}
STYLE_ROWS = 510


def bergamot_arrays(width: int, hidden: int, encoder: int, decoder: int, words: int = PIECES, seed: int = 5) -> dict[str, np.ndarray]:
    """As Mozilla's `base` (512, 2048, 6, 2) and `base-memory` (384, 1536, 6, 4) have them."""
    chance, found = np.random.default_rng(seed), {}

    def linear(name: str, kind: str, rows: int, columns: int) -> None:
        found[f"{name}W{kind}"] = chance.integers(-2, 3, size=(rows, columns)).astype(np.int8)
        found[f"{name}b{kind}"] = chance.normal(size=(1, columns)).astype(np.float32)

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
                found[prefix + "rnn_W"] = chance.integers(-2, 3, size=(width, width)).astype(np.int8)
                norm(prefix + "rnn_ffn")
                attention(prefix + "context_")
            linear(prefix + "ffn_", "1", width, hidden)
            linear(prefix + "ffn_", "2", hidden, width)
            norm(prefix + "ffn_ffn")
    found["Wemb"] = chance.integers(-2, 3, size=(words, width)).astype(np.int8)
    found["Wemb_QuantMultA"] = np.ones((1, 1), np.float32)
    found["decoder_ff_logit_out_b"] = chance.normal(size=(1, words)).astype(np.float32)
    return found


def bergamot(folder: pathlib.Path, languages: str = "ende", settings: dict[str, str] = BERGAMOT_SETTINGS, width: int = 128,
             seed: int = 5) -> None:
    folder.mkdir(parents=True)
    write_bin(folder / f"model.{languages}.intgemm.alphas.bin", bergamot_arrays(width, 2 * width, 1, 2, seed=seed), settings, 20)
    shutil.copy(DATA / "tiny.spm", folder / f"vocab.{languages}.spm")


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


def kokoro(folder: pathlib.Path) -> None:
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
    save(folder / "kokoro-v1_0.pth", {"bert": bert, "bert_encoder": {
        name.strip("."): value for name, value in linear("", inner, dim).items()}, "predictor": predictor,
        "decoder": linear("encode.norm1.fc", style, 4)})
    for voice in ("af_heart", "jf_alpha"):
        save(folder / "voices" / f"{voice}.pt", Stored(chance.normal(size=(STYLE_ROWS, 1, 2 * style)).astype(np.float32)))
    (folder / "config.json").write_text(json.dumps({
        "vocab": {symbol: i + 1 for i, symbol in enumerate("jˈɛs.ɡʊdivnŋ! ")}, "plbert": {"num_hidden_layers": 2, "num_attention_heads": 3},
        "istftnet": {"upsample_rates": [4, 2], "gen_istft_n_fft": 8, "gen_istft_hop_size": 2, "resblock_dilation_sizes": [[1, 3]]}}))
