"""A small encoder-decoder with random weights, as a package: it knows the words of tiny.spm, and translates into anything."""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np

from .paths import ROOT

sys.path.insert(0, str(ROOT))
from models.convert import seq2seq_layout  # noqa: E402
from models.convert.safetensors import write_safetensors  # noqa: E402

_PIECES = 72   # of tiny.spm


def _config(words: int) -> dict:
    return {"model_type": "m2m_100", "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
            "decoder_attention_heads": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "activation_function": "relu",
            "scale_embedding": True, "max_position_embeddings": 64, "pad_token_id": 1, "eos_token_id": 2,
            "decoder_start_token_id": 2, "vocab_size": words}


def _weights(config: dict) -> dict[str, np.ndarray]:
    chance, dim, hidden = np.random.default_rng(3), config["d_model"], config["encoder_ffn_dim"]
    arrays = {"model.shared.weight": chance.normal(size=(config["vocab_size"], dim)).astype(np.float32)}
    for _, name in seq2seq_layout._names(config):
        rows = {"fc1": hidden}.get(name.split(".")[-2], dim)
        matrix = name.endswith("weight") and "norm" not in name
        shape = (rows, hidden if ".fc2." in name else dim) if matrix else (rows,)
        arrays[name] = chance.normal(size=shape, scale=0.2).astype(np.float32)
    return arrays


def add(root: pathlib.Path, name: str, source: str, target: str, *codes: str) -> None:
    """Adds a model of the languages with these codes, such as eng_Latn, to a repository. It needs no model named to be reached
    from its source to its target."""
    folder = root.parent / f"{name}.published"
    folder.mkdir()
    config = _config(_PIECES + 2 + len(codes))
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", _weights(config), {})
    shutil.copy(ROOT / "tests" / "data" / "translation" / "tiny.spm", folder / "sentencepiece.bpe.model")
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": codes}))
    subprocess.run([sys.executable, "-m", "models.convert", "seq2seq", "--models", str(root), str(folder), "--check", "none", "--name", name,
                    "--source", source, "--target", target], check=True, cwd=ROOT, capture_output=True)
