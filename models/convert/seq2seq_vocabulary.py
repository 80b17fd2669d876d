"""The words of a Marian, M2M-100 or NLLB-200 folder, or of Marian's own files: the piece of each, and which are languages."""

import dataclasses
import json
import pathlib
import re
from typing import Any

import sentencepiece

from .package import ConvertError
from .seq2seq_languages import tags
from .seq2seq_yaml import read_numbers

_MARIAN_LANGUAGE = re.compile(r">>[^<>]+<<")
_LANGUAGE = re.compile(r"__[a-z]+__|[a-z]{3}_[A-Z][a-z]{3}")
_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    pieces_file: pathlib.Path     # the SentencePiece model of source text
    lines: list[str]              # by word; empty for what no text has
    unknown: int
    language_tokens: str          # none, target_in_source or source_and_target
    languages: dict[str, int]     # code to word
    tags: dict[str, str]          # code to BCP 47
    end: int | None = None        # ends a sentence; None: the folder's config.json tells it


def read_vocabulary(folder: pathlib.Path, words: int) -> Vocabulary:
    """words: rows of the embeddings; what the folder does not name of them stays empty."""
    if (folder / "source.spm").exists():
        return _marian(folder, words)
    return _fairseq(folder, words)


def read_marian_vocabulary(folder: pathlib.Path, words: int) -> Vocabulary:
    """Of Marian's own files. words: with the one of zeros that begins a translation, which is the last and has no piece."""
    factored = sorted(folder.glob("*.fsv"))
    if factored:
        raise ConvertError(f"{factored[0]}: factored vocabularies are not supported")
    if (folder / "source.spm").exists():
        path = _only(folder, "vocab.yml")
        numbers = read_numbers(path)
        for special in ("</s>", "<unk>"):
            if special not in numbers:
                raise ConvertError(f"{path}: has no {special}")
        _pieces(folder / "source.spm")
        return _with_table(folder / "source.spm", path, numbers, words, words - 1, numbers["</s>"])
    if not list(folder.glob("*.spm")) and (tables := sorted(folder.glob("*vocab*.yml"))):
        raise ConvertError(f"{tables[0]}: without source.spm beside it there is nothing that splits text")
    path = _only(folder, "vocab.spm")
    pieces = _pieces(path)
    if any(pieces.is_byte(i) for i in range(pieces.vocab_size())):
        raise ConvertError(f"{path}: its bytes in the place of rare characters (--byte_fallback) are not supported")
    if pieces.eos_id() < 0:
        raise ConvertError(f"{path}: has no word that ends a sentence")
    numbers = {pieces.id_to_piece(i): i for i in range(pieces.vocab_size())
               if not (pieces.is_control(i) or pieces.is_unknown(i) or pieces.is_unused(i))}
    return _with_table(path, path, {**numbers, "<unk>": pieces.unk_id()}, words, words - 1, pieces.eos_id())


def _only(folder: pathlib.Path, name: str) -> pathlib.Path:
    """The file of that name, else the only one that ends with it, else the only one of its kind."""
    if (folder / name).exists():
        return folder / name
    found = sorted(folder.glob(f"*{name}")) or (sorted(folder.glob("*.spm")) if name.endswith(".spm") else [])
    if len(found) > 1:
        raise ConvertError(f"{folder}: separate vocabularies ({', '.join(file.name for file in found)}) are not supported; "
                           f"of several copies of one, name one {name}")
    if not found:
        raise ConvertError(f"{folder}: has no {name}")
    return found[0]


def _marian(folder: pathlib.Path, words: int) -> Vocabulary:
    if (folder / "target_vocab.json").exists():
        raise ConvertError(f"{folder}: separate vocabularies (target_vocab.json) are not supported")
    numbers = read_json(folder / "vocab.json")
    if "<unk>" not in numbers:
        raise ConvertError(f"{folder / 'vocab.json'}: has no <unk>")
    _pieces(folder / "source.spm")
    return _with_table(folder / "source.spm", folder / "vocab.json", numbers, words, words)


def _with_table(pieces_file: pathlib.Path, table: pathlib.Path, numbers: dict[str, int], words: int, rows: int,
                end: int | None = None) -> Vocabulary:
    """rows: how many of the words the table may name."""
    languages = {piece: word for piece, word in numbers.items() if _MARIAN_LANGUAGE.fullmatch(piece)}
    lines = _lines(table, numbers, rows)
    for piece in ("</s>", "<unk>", "<pad>", *languages):
        if piece in numbers:
            lines[numbers[piece]] = ""
    return Vocabulary(pieces_file, lines + [""] * (words - rows), numbers["<unk>"], "target_in_source" if languages else "none",
                      languages, tags(languages), end)


def _fairseq(folder: pathlib.Path, words: int) -> Vocabulary:
    path = folder / "sentencepiece.bpe.model"
    pieces = _pieces(path)
    if (folder / "vocab.json").exists():   # M2M-100
        numbers = {piece: word for piece, word in read_json(folder / "vocab.json").items()}
        first = max(numbers.values()) + 1
    else:                                  # NLLB: the model's own order, behind four special words
        numbers = {pieces.id_to_piece(i): i + 1 for i in range(3, pieces.vocab_size())}
        first = pieces.vocab_size() + 1
    languages = _languages(folder, first)
    lines = _lines(path, {p: w for p, w in numbers.items() if p not in _FAIRSEQ and p not in languages}, words)
    return Vocabulary(path, lines, 3, "source_and_target", languages, tags(languages))


def _languages(folder: pathlib.Path, first: int) -> dict[str, int]:
    """Where the folder numbers them, so; else in their order from `first` on."""
    numbered = {}
    if (folder / "tokenizer.json").exists():
        numbered = {token["content"]: token["id"] for token in read_json(folder / "tokenizer.json").get("added_tokens", [])}
    named: list[str] = []
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if not (folder / name).exists():
            continue
        read = read_json(folder / name)
        for word, token in (read.get("added_tokens_decoder") or {}).items():
            numbered.setdefault(token["content"], int(word))
        if not named:
            for key in ("additional_special_tokens", "extra_special_tokens"):
                tokens = read.get(key) or []
                named = named or [token["content"] if isinstance(token, dict) else token for token in tokens]
    named = [token for token in named if _LANGUAGE.fullmatch(token)]
    found = {token: numbered.get(token, first + i) for i, token in enumerate(named)}
    found.update({token: word for token, word in numbered.items() if _LANGUAGE.fullmatch(token)})
    if not found:
        raise ConvertError(f"{folder}: neither tokenizer.json nor special_tokens_map.json nor tokenizer_config.json names languages")
    return found


def _lines(path: pathlib.Path, numbers: dict[str, int], words: int) -> list[str]:
    lines = [""] * words
    for piece, word in numbers.items():
        if not 0 <= word < words:
            raise ConvertError(f"{path}: '{piece}' is word {word}, but the model has {words} words")
        if "\n" in piece:
            raise ConvertError(f"{path}: word {word} has a line break")
        lines[word] = piece
    return lines


def _pieces(path: pathlib.Path) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(str(path))
    except (OSError, RuntimeError) as error:
        raise ConvertError(f"{path}: not a SentencePiece model: {error}") from error


def read_json(path: pathlib.Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ConvertError(f"{path}: not JSON: {error}") from error
    if not isinstance(read, dict):
        raise ConvertError(f"{path}: not a JSON object")
    return read
