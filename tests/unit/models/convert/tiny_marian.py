"""A small transformer with random weights, as Marian writes it: model.npz or its binary form."""

import pathlib
import struct

import numpy as np

DIM, HIDDEN, LAYERS = 32, 64, 2
SETTINGS = {"type": "transformer", "dim-emb": str(DIM), "transformer-heads": "2", "enc-depth": str(LAYERS), "dec-depth": str(LAYERS),
            "transformer-dim-ffn": str(HIDDEN), "transformer-ffn-activation": "swish", "transformer-ffn-depth": "2",
            "transformer-preprocess": '""', "transformer-postprocess": "dan", "transformer-postprocess-emb": "d",
            "transformer-tied-layers": "[]", "transformer-decoder-autoreg": "self-attention", "tied-embeddings-all": "true",
            "transformer-guided-alignment-layer": "last", "version": "v1.12.0 65bf82f 2023-02-21 09:56:29 -0800"}
PRE_NORM = {"transformer-preprocess": "n", "transformer-postprocess": "da", "transformer-postprocess-top": "n"}
UNTIED = {"tied-embeddings-all": "false"}


def arrays(words: int, settings: dict[str, str], source_words: int | None = None, seed: int = 3) -> dict[str, np.ndarray]:
    """source_words: where the encoder has others than the decoder."""
    chance, found = np.random.default_rng(seed), {}
    pre = "_pre" if "n" in settings["transformer-preprocess"] else ""

    def matrix(name: str, rows: int, columns: int, scale: float) -> None:
        found[name] = (scale * chance.normal(size=(rows, columns))).astype(np.float32)

    def norm(name: str, suffix: str) -> None:
        found[f"{name}_ln_scale{suffix}"] = (1 + 0.3 * chance.normal(size=(1, DIM))).astype(np.float32)
        matrix(f"{name}_ln_bias{suffix}", 1, DIM, 0.3)

    for side, parts in (("encoder", ("self",)), ("decoder", ("self", "context"))):
        for layer in range(1, LAYERS + 1):
            for part in parts:
                for letter in "qkvo":
                    matrix(f"{side}_l{layer}_{part}_W{letter}", DIM, DIM, DIM ** -0.5)
                    matrix(f"{side}_l{layer}_{part}_b{letter}", 1, DIM, 0.3)
                norm(f"{side}_l{layer}_{part}_Wo", pre)
            for number, rows, columns in ((1, DIM, HIDDEN), (2, HIDDEN, DIM)):
                matrix(f"{side}_l{layer}_ffn_W{number}", rows, columns, rows ** -0.5)
                matrix(f"{side}_l{layer}_ffn_b{number}", 1, columns, 0.3)
            norm(f"{side}_l{layer}_ffn_ffn", pre)
        if pre:
            norm(f"{side}_top", "")
    tied = settings["tied-embeddings-all"] == "true"
    for name in ("Wemb",) if tied else ("encoder_Wemb", "decoder_Wemb"):
        matrix(name, (source_words or words) if name == "encoder_Wemb" else words, DIM, 0.2)
    if not tied:
        matrix("decoder_ff_logit_out_W", DIM, words, 0.5)
    matrix("decoder_ff_logit_out_b", 1, words, 0.5)
    return found


def text(settings: dict[str, str]) -> bytes:
    return "".join(f"{name}: {value}\n" for name, value in settings.items()).encode() + b"\0"


def write_npz(path: pathlib.Path, found: dict[str, np.ndarray], settings: dict[str, str]) -> None:
    np.savez(path, **found, **{"special:model.yml": np.frombuffer(text(settings), np.int8)})


def write_bin(path: pathlib.Path, found: dict[str, np.ndarray], settings: dict[str, str], multiplier: float = 1) -> None:
    """Arrays of int8 get the multiplier."""
    items = [(name, 0x4101, array.shape, array.tobytes() + struct.pack("<f", multiplier)) if array.dtype == np.int8 else
             (name, 0x404, array.shape, array.tobytes()) for name, array in found.items()]
    items.append(("special:model.yml", 0x101, (len(text(settings)),), text(settings)))
    names = [item[0].encode() + b"\0" for item in items]
    body = struct.pack("<2Q", 1, len(items))
    body += b"".join(struct.pack("<4Q", len(name), kind, len(shape), len(data)) for name, (_, kind, shape, data) in zip(names, items))
    body += b"".join(names) + b"".join(struct.pack(f"<{len(shape)}I", *shape) for _, _, shape, _ in items)
    padding = -(len(body) + 8) % 256
    path.write_bytes(body + struct.pack("<Q", padding) + bytes(padding) + b"".join(item[3] for item in items))
