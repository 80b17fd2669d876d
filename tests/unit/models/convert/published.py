"""Small models with random weights, in the files that their hubs publish."""

import json
import pathlib
import shutil
import struct

import numpy as np

from models.convert.bergamot_marian import SHORTLIST_MAGIC
from models.convert.safetensors import write_safetensors
from tiny_checkpoint import PIECES, config, state
from tiny_marian import write_bin, write_npz
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


def student(folder: pathlib.Path, file: str) -> dict[str, np.ndarray]:
    """Of Marian in float32, model.npz or model.bin; each matrix reaches 127 twentieths, so that its int8 are known. Returns these."""
    folder.mkdir(parents=True)
    whole = bergamot_arrays(128, 256, 1, 2, spread=127, bias=0.3)
    for array in whole.values():
        if array.dtype == np.int8:
            array.flat[0] = 127
    # Marian keeps matrices [inputs][outputs]; in int8 they lie transposed, the embeddings excepted.
    given = {name: array if array.dtype == np.float32 else (array if name == "Wemb" else array.reshape(array.shape[::-1]).T).astype(np.float32) / 20
             for name, array in whole.items() if not name.endswith("_QuantMultA")}
    (write_npz if file.endswith(".npz") else write_bin)(folder / file, given, BERGAMOT_SETTINGS)
    shutil.copy(DATA / "tiny.spm", folder / "vocab.spm")
    return whole


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
           checkpoint: str = "kokoro-v1_0.pth", changed: dict[str, np.ndarray | None] | None = None) -> None:
    """A whole network with a few channels. changed: other tensors, by their names in the package; None: one that is missing."""
    (folder / "voices").mkdir(parents=True)
    chance, style = np.random.default_rng(7), 6
    parts: dict[str, dict[str, Stored]] = {}

    def put(name: str, *shape: int) -> None:
        array = (0.2 * chance.normal(size=shape)).astype(np.float32)
        if (array := (changed or {}).get(name, array)) is not None:
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = Stored(array)

    def linear(name: str, inputs: int, outputs: int) -> None:
        put(name + ".weight", outputs, inputs)
        put(name + ".bias", outputs)

    def lstm(name: str, inputs: int, outputs: int) -> None:
        for suffix in ("", "_reverse"):
            for kind, columns in (("weight_ih", [inputs]), ("weight_hh", [outputs // 2]), ("bias_ih", []), ("bias_hh", [])):
                put(f"{name}.{kind}_l0{suffix}", 2 * outputs, *columns)

    def conv(name: str, inputs: int, outputs: int, taps: int, bias: bool = True) -> None:
        put(name + ".weight", outputs, inputs, taps)
        if bias:
            put(name + ".bias", outputs)

    def style_block(name: str, inputs: int, outputs: int, doubles: bool = False) -> None:
        conv(name + ".conv1", inputs, outputs, 3)
        conv(name + ".conv2", outputs, outputs, 3)
        linear(name + ".norm1.fc", style, 2 * inputs)
        linear(name + ".norm2.fc", style, 2 * outputs)
        if doubles:
            put(name + ".pool.weight", inputs, 1, 3)
            put(name + ".pool.bias", inputs)
        if inputs != outputs:
            conv(name + ".conv1x1", inputs, outputs, 1, bias=False)

    def snake_block(name: str, channels: int, taps: int, layers: int) -> None:
        for i in range(layers):
            for half in (1, 2):
                linear(f"{name}.adain{half}.{i}.fc", style, 2 * channels)
                put(f"{name}.alpha{half}.{i}", 1, channels, 1)
                conv(f"{name}.convs{half}.{i}", channels, channels, taps)

    small, hidden, wide, layer = 8, 12, 8, "bert.encoder.albert_layer_groups.0.albert_layers.0"
    for kind, rows in (("word", 178), ("token_type", 2), ("position", 512)):
        put(f"bert.embeddings.{kind}_embeddings.weight", rows, small)
    for norm, channels in (("bert.embeddings", small), (layer + ".attention", hidden)):
        put(norm + ".LayerNorm.weight", channels)
        put(norm + ".LayerNorm.bias", channels)
    put(layer + ".full_layer_layer_norm.weight", hidden)
    put(layer + ".full_layer_layer_norm.bias", hidden)
    for name, inputs, outputs in (("bert.encoder.embedding_hidden_mapping_in", small, hidden), (layer + ".ffn", hidden, 16), (layer + ".ffn_output", 16, hidden),
                                  *((f"{layer}.attention.{part}", hidden, hidden) for part in ("query", "key", "value", "dense")),
                                  ("bert_encoder", hidden, wide), ("predictor.text_encoder.lstms.1.fc", style, 2 * wide),
                                  ("predictor.duration_proj.linear_layer", wide, 50)):
        linear(name, inputs, outputs)
    for name in ("predictor.text_encoder.lstms.0", "predictor.lstm", "predictor.shared"):
        lstm(name, wide + style, wide)
    for curve in ("F0", "N"):
        for i, (inputs, outputs) in enumerate(((wide, wide), (wide, wide // 2), (wide // 2, wide // 2))):
            style_block(f"predictor.{curve}.{i}", inputs, outputs, doubles=i == 1)
        conv(f"predictor.{curve}_proj", wide // 2, 1, 1)
        conv(f"decoder.{curve}_conv", 1, 1, 3)
    put("text_encoder.embedding.weight", 178, wide)
    conv("text_encoder.cnn.0.0", wide, wide, 5)
    put("text_encoder.cnn.0.1.gamma", wide)
    put("text_encoder.cnn.0.1.beta", wide)
    lstm("text_encoder.lstm", wide, wide)

    again, fft, strides, dilations = 4, 20, [10, 6], [[1, 3, 5]] * 3   # those that kokoro-onnx's files do not say
    conv("decoder.asr_res.0", wide, again, 1)
    style_block("decoder.encode", wide + 2, 16)
    style_block("decoder.decode.0", 16 + again + 2, 16)
    style_block("decoder.decode.1", 16 + again + 2, 8, doubles=True)
    linear("decoder.generator.m_source.l_linear", 9, 1)
    for i, (inputs, outputs, source_taps) in enumerate(((8, 8, 2 * strides[1]), (8, 4, 1))):
        put(f"decoder.generator.ups.{i}.weight", inputs, outputs, 2 * strides[i])
        put(f"decoder.generator.ups.{i}.bias", outputs)
        conv(f"decoder.generator.noise_convs.{i}", fft + 2, outputs, source_taps)
        snake_block(f"decoder.generator.noise_res.{i}", outputs, 7, 3)
        for k, block in enumerate(dilations):
            snake_block(f"decoder.generator.resblocks.{i * len(dilations) + k}", outputs, 3, len(block))
    conv("decoder.generator.conv_post", 4, fft + 2, 7)
    save(folder / checkpoint, parts)
    for voice in voices:
        save(folder / "voices" / f"{voice}.pt", Stored(chance.normal(size=(STYLE_ROWS, 1, 2 * style)).astype(np.float32)))
    (folder / "config.json").write_text(json.dumps({
        "vocab": {symbol: i + 1 for i, symbol in enumerate(symbols)}, "plbert": {"num_hidden_layers": 2, "num_attention_heads": 3},
        "istftnet": {"upsample_rates": strides, "gen_istft_n_fft": fft, "gen_istft_hop_size": 5, "resblock_dilation_sizes": dilations}}))
