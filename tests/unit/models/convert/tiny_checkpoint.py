"""A small encoder-decoder with random weights, as it is published."""

import numpy as np

from models.convert import seq2seq_layout

PIECES = 72   # of tests/data/translation/tiny.spm


def config(kind: str, words: int) -> dict:
    return {"model_type": kind, "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
            "decoder_attention_heads": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "activation_function": "relu",
            "scale_embedding": True, "max_position_embeddings": 32, "pad_token_id": 1, "eos_token_id": 2,
            "decoder_start_token_id": 2, "vocab_size": words}


def state(given: dict, scale: float = 1) -> dict[str, np.ndarray]:
    chance, dim, hidden = np.random.default_rng(3), given["d_model"], given["encoder_ffn_dim"]
    arrays = {"model.shared.weight": chance.normal(size=(given["vocab_size"], dim)).astype(np.float32)}
    if not given.get("share_encoder_decoder_embeddings", True):
        arrays = {f"model.{side}.embed_tokens.weight": chance.normal(size=(given[words], dim)).astype(np.float32)
                  for side, words in (("encoder", "vocab_size"), ("decoder", "decoder_vocab_size"))}
        arrays["final_logits_bias"] = chance.normal(size=(1, given["decoder_vocab_size"])).astype(np.float32)
    for _, theirs in seq2seq_layout._names(given):
        rows = {"fc1": hidden}.get(theirs.split(".")[-2], dim)
        matrix = theirs.endswith("weight") and "norm" not in theirs
        shape = (rows, hidden if ".fc2." in theirs else dim) if matrix else (rows,)
        arrays[theirs] = (scale * chance.normal(size=shape)).astype(np.float32)
    return arrays
