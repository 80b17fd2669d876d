"""Trains a small Marian model on sentences whose translation is known, for measure_precision.py: weights that mean something.

The language is a cipher: each SentencePiece piece of an English sentence stands for another of its kind, and neighbours change
places. The English is what this Python's packages say of themselves. Writes the folder that `python -m models.convert seq2seq`
reads, test.txt, sentences that were not trained on, and expected.txt, their translations. Needs torch, transformers, sentencepiece.
"""

import argparse
import json
import math
import pathlib
import random
import re
import site
import sysconfig
import time

import numpy as np
import sentencepiece
import torch
import transformers

_SENTENCE = re.compile(r"[A-Z][A-Za-z ,'-]{16,120}\.")


def collect_sentences() -> list[str]:
    """Plain sentences of 4 to 24 words from the comments and docstrings of the installed packages, each once."""
    found = set()
    for folder in [sysconfig.get_path("stdlib"), *site.getsitepackages()]:
        for file in sorted(pathlib.Path(folder).rglob("*.py")):
            text = re.sub(r"[\s#]+", " ", file.read_text(encoding="utf-8", errors="ignore"))
            found.update(sentence for sentence in _SENTENCE.findall(text) if 4 <= sentence.count(" ") + 1 <= 24)
    return sorted(found)


def make_cipher(pieces: list[str], chance: random.Random) -> dict[str, str]:
    """Beginnings of words become others of their kind, as do the rest."""
    cipher = {}
    for kind in (True, False):
        of_kind = [piece for piece in pieces if piece.startswith("\u2581") == kind]
        shuffled = of_kind[:]
        chance.shuffle(shuffled)
        cipher.update(zip(of_kind, shuffled, strict=True))
    return cipher


def encipher(pieces: list[str], cipher: dict[str, str]) -> list[str]:
    swapped = pieces[:]
    for i in range(0, len(pieces) - 1, 2):
        swapped[i], swapped[i + 1] = pieces[i + 1], pieces[i]
    return [cipher[piece] for piece in swapped]


def batches(pairs: list[tuple[list[int], list[int]]], words: int, chance: random.Random):
    """For ever: sentences of like length, so many target words together."""
    while True:
        order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i][1]), chance.random()))
        groups, group = [], []
        for i in order:
            group.append(pairs[i])
            if len(group) * len(pairs[i][1]) >= words:
                groups.append(group)
                group = []
        chance.shuffle(groups)
        yield from groups


def pad(rows: list[list[int]], value: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--vocabulary", type=int, default=1000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1500, help="target words together")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    chance = random.Random(1)
    args.out.mkdir(parents=True, exist_ok=True)

    sentences = collect_sentences()
    chance.shuffle(sentences)
    tests, sentences = sentences[:500], sentences[500:]
    (args.out / "test.txt").write_text("".join(line + "\n" for line in tests))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_prefix=str(args.out / "source"), vocab_size=args.vocabulary,
        character_coverage=1.0, hard_vocab_limit=False, minloglevel=2)
    (args.out / "source.model").replace(args.out / "source.spm")
    splitter = sentencepiece.SentencePieceProcessor(model_file=str(args.out / "source.spm"))
    pieces = [splitter.id_to_piece(i) for i in range(3, splitter.get_piece_size())]
    names = ["</s>", "<unk>", *pieces, "<pad>"]
    ids = {name: i for i, name in enumerate(names)}
    (args.out / "vocab.json").write_text(json.dumps(ids))
    end, start = ids["</s>"], ids["<pad>"]
    cipher = make_cipher(pieces, chance)
    expected = (splitter.decode(encipher([piece for piece in splitter.encode(line, out_type=str) if piece in cipher], cipher))
                for line in tests)
    (args.out / "expected.txt").write_text("".join(line + "\n" for line in expected))
    pairs = []
    for sentence in sentences:
        source = splitter.encode(sentence, out_type=str)
        if all(piece in cipher for piece in source):
            pairs.append(([ids[p] for p in source] + [end], [ids[p] for p in encipher(source, cipher)] + [end]))
    print(f"{len(pairs)} sentences, {np.mean([len(t) for _, t in pairs]):.1f} words each, of {len(names)}", flush=True)

    config = transformers.MarianConfig(
        vocab_size=len(names), d_model=args.dim, encoder_layers=args.layers, decoder_layers=args.layers,
        encoder_attention_heads=args.dim // 64, decoder_attention_heads=args.dim // 64, encoder_ffn_dim=4 * args.dim,
        decoder_ffn_dim=4 * args.dim, activation_function="swish", scale_embedding=True, max_position_embeddings=256,
        pad_token_id=start, eos_token_id=end, decoder_start_token_id=start, forced_eos_token_id=end, dropout=0.0)
    model = transformers.MarianMTModel(config).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=0, betas=(0.9, 0.98), weight_decay=0.01)
    began, step = time.monotonic(), 0
    for group in batches(pairs, args.batch, chance):
        done = (time.monotonic() - began) / (60 * args.minutes)
        if done >= 1:
            break
        for parameters in optimiser.param_groups:
            parameters["lr"] = 1e-3 * min((step + 1) / 300, 1) * (0.5 + 0.5 * math.cos(math.pi * done))
        source = pad([s for s, _ in group], start)
        target = pad([t for _, t in group], -100)
        given = torch.cat([torch.full((len(group), 1), start), target[:, :-1].clamp(min=0)], dim=1)
        with torch.autocast("cpu", torch.bfloat16):
            hidden = model.model(input_ids=source, attention_mask=source != start, decoder_input_ids=given).last_hidden_state
            logits = model.lm_head(hidden[target != -100])
        loss = torch.nn.functional.cross_entropy(logits.float(), target[target != -100])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 100 == 0:
            print(f"{done:4.0%} step {step}: loss {loss.item():.3f}", flush=True)
        step += 1
    model.save_pretrained(args.out)


if __name__ == "__main__":
    main()
