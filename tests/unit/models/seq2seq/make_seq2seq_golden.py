"""Makes seq2seq_golden_*.json: what transformers' generate() says of tiny models, whose weights come from a formula.

usage, with transformers 5.23.0 and torch 2.15.0:
  PYTHONPATH=<checkout> python tests/unit/models/seq2seq/make_seq2seq_golden.py [folder for the files]

The C++ tests make the same weights (tiny_seq2seq.cc). Each input is searched in float32 and in float64, and taken only if both agree
in tokens and scores, and no two hypotheses have about the same score: where rounding decides, a search says nothing.
"""

import json
import pathlib
import random
import sys

import numpy as np
import torch
import transformers

from models.convert import seq2seq_layout

INPUTS = 300
APART = 5e-4   # that scores of hypotheses are at least
LONGEST = 20   # tokens of a source, and of a translation
VARIANTS = [
    {"num_beams": 4, "num_return_sequences": 4, "length_penalty": 0.6},
    {"num_beams": 3, "num_return_sequences": 2, "length_penalty": 2.0, "no_repeat_ngram_size": 2},
    {"num_beams": 2, "early_stopping": True, "length_penalty": -0.5},
    {"num_beams": 5, "num_return_sequences": 5, "early_stopping": "never"},
    {"num_beams": 4, "repetition_penalty": 1.4},
    {"num_beams": 4, "min_length": 12},
    {"num_beams": 1, "no_repeat_ngram_size": 3, "repetition_penalty": 1.2},
    {"num_beams": 1, "min_length": 10, "max_length": 14},
    {"num_beams": 16, "num_return_sequences": 3, "max_length": 9},
]


def formula(name: str, count: int) -> np.ndarray:
    """Numbers in -1 .. 1: the top 24 bits of splitmix64 from the FNV-1a hash of the name on."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return (x >> np.uint64(40)).astype(np.float32) / np.float32(2**23) - np.float32(1)


# Of the embeddings, of queries and keys, of the other matrices: such that translations differ from source to source.
SCALES = {"marian": (0.45, 1.5, 0.3), "marian_two": (0.45, 1.5, 0.3), "m2m100": (0.2, 2.5, 0.8)}
END_SCALE = 2   # of the end's embedding, so that some translations end


def scale_of(kind: str, name: str) -> float:
    embeddings, attention, matrices = SCALES[kind]
    if name.endswith("embeddings"):
        return embeddings
    if name.endswith("bias"):
        return 0.02
    if ".norm." in name:
        return 0.2
    return attention if ".query." in name or ".key." in name else matrices


def tensor(kind: str, name: str, shape) -> torch.Tensor:
    values = formula(name, int(np.prod(shape))) * np.float32(scale_of(kind, name))
    if ".norm.weight" in name:
        values += np.float32(1)
    return torch.from_numpy(values.reshape(tuple(shape)))


def tiny_model(kind: str):
    shape = dict(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=2,
                 encoder_ffn_dim=96, decoder_ffn_dim=128, scale_embedding=True, max_position_embeddings=64)
    if kind != "m2m100":
        tokens = 50 if kind == "marian_two" else 61   # of translations
        config = transformers.MarianConfig(
            vocab_size=61, decoder_vocab_size=tokens, pad_token_id=tokens - 1, eos_token_id=0, decoder_start_token_id=tokens - 1,
            forced_eos_token_id=0, activation_function="swish", share_encoder_decoder_embeddings=tokens == 61, **shape)
        model = transformers.MarianMTModel(config)
    else:
        config = transformers.M2M100Config(
            vocab_size=74, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2,
            activation_function="relu", **shape)
        model = transformers.M2M100ForConditionalGeneration(config)
    theirs = dict(model.state_dict())
    names = dict(seq2seq_layout._names(config.to_dict()))
    state = {name: tensor(kind, ours, theirs[name].shape) for ours, name in names.items()}
    tokens = theirs["lm_head.weight"].shape[0]
    embeddings = tensor(kind, "embeddings", (tokens, 64))
    embeddings[config.eos_token_id] *= END_SCALE
    for name in ("model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"):
        if name in theirs:
            state[name] = embeddings
    if kind == "marian_two":
        state["model.encoder.embed_tokens.weight"] = tensor(kind, "source_embeddings", (config.vocab_size, 64))
    if kind != "m2m100":
        state["final_logits_bias"] = tensor(kind, "output.bias", (1, tokens))
        for side in ("encoder", "decoder"):
            name = f"model.{side}.embed_positions.weight"
            state[name] = torch.from_numpy(seq2seq_layout.marian_positions(64, 64))
            torch.testing.assert_close(state[name], theirs[name], rtol=0, atol=1e-6)
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and not [name for name in missing if "embed_positions" not in name], (missing, unexpected)
    return model.eval(), config


def search(model, config, source: list[int], forced: int | None, options: dict) -> tuple[list[list[int]], list[float]]:
    given = {"max_length": LONGEST, "num_beams": 1, "bad_words_ids": [[config.pad_token_id]], "do_sample": False,
             "forced_bos_token_id": forced, **options}
    with torch.no_grad():
        sources = torch.tensor([source])
        # A token of the source may have the number of the target's padding.
        out = model.generate(sources, attention_mask=torch.ones_like(sources), return_dict_in_generate=True, output_scores=True, **given)
    found = []
    for tokens in out.sequences.tolist():
        tokens = tokens[1:]
        found.append(tokens[:tokens.index(config.eos_token_id)] if config.eos_token_id in tokens else
                     [token for token in tokens if token != config.pad_token_id])
    scores = out.sequences_scores.tolist() if given["num_beams"] > 1 else []
    return found, scores


def make(kind: str) -> dict:
    model, config = tiny_model(kind)
    precise = tiny_model(kind)[0].double()
    chance = random.Random(7)
    cases, ties = [], 0
    while len(cases) < INPUTS:
        source = [chance.randrange(3, 60) for _ in range(chance.randrange(1, LONGEST))] + [config.eos_token_id]
        forced = None if kind != "m2m100" else chance.randrange(60, 74)
        options = VARIANTS[len(cases) % len(VARIANTS)]
        case = {"source": source, "prefix": [] if forced is None else [forced], "options": options}
        for name, asked in (("greedy", {}), ("beam", {"num_beams": 4}), ("variant", options)):
            found, scores = search(model, config, source, forced, asked)
            case[name] = found
            if name == "variant":
                case["scores"] = [round(score, 5) for score in scores]
            exact, exact_scores = search(precise, config, source, forced, asked)
            apart = [better - worse for better, worse in zip(scores, scores[1:])]
            if found != exact or not np.allclose(scores, exact_scores, rtol=1e-4, atol=1e-4) or min(apart, default=1) < APART:
                ties += 1
                break
        else:
            cases.append(case)
    lengths = [len(case["beam"][0]) for case in cases]
    print(f"{kind}: {ties} near ties or unstable ones left out; translations of {min(lengths)}..{max(lengths)} tokens, mean {np.mean(lengths):.1f}, "
          f"cut {sum(length >= LONGEST - 2 for length in lengths)}, greedy {np.mean([len(c['greedy'][0]) for c in cases]):.1f}, "
          f"distinct {len({tuple(case['beam'][0]) for case in cases})}")
    return {"transformers": transformers.__version__, "cases": cases}


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    torch.set_num_threads(1)   # the networks are too small for more
    for kind in SCALES:
        text = json.dumps(make(kind), separators=(",", ":")).replace('{"source"', '\n{"source"')
        (folder / f"seq2seq_golden_{kind}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
