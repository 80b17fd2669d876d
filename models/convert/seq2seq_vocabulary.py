"""The words of a Marian, M2M-100 or NLLB-200 folder, or of Marian's own files: the piece of each, and which are languages."""

import dataclasses
import pathlib
import re

from .json_file import read_object
from .package import ConvertError
from .piece_model import pieces_of
from .seq2seq_languages import tags
from .seq2seq_yaml import read_decoder_settings, read_numbers

_MARIAN_LANGUAGE = re.compile(r">>[^<>]+<<")
_LANGUAGE = re.compile(r"__[a-z]+__|[a-z]{3}_[A-Z][a-z]{3}")
_SIDES = ({"src", "source", "srcvocab"}, {"trg", "tgt", "target", "trgvocab"})   # parts of files' names
_FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")


@dataclasses.dataclass(frozen=True)
class Words:
    lines: list[str]              # by word; empty for what no text has
    unknown: int
    end: int | None = None        # ends a sentence; None: the folder's config.json tells it


Pieces = pathlib.Path | bytes     # a SentencePiece model, or the JSON of argos_bpe.py


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    pieces_file: Pieces           # divides source text
    source: Words
    target: Words                 # the same object where both languages share it
    language_tokens: str          # none, target_in_source or source_and_target
    languages: dict[str, int]     # code to word
    tags: dict[str, str]          # code to BCP 47
    target_pieces_file: Pieces | None = None   # of translations; None: pieces_file

    @property
    def shared(self) -> bool:
        return self.target is self.source


def read_vocabulary(folder: pathlib.Path, source_words: int, words: int) -> Vocabulary:
    """source_words, words: rows of the embeddings of either side; what the folder does not name of them stays empty."""
    if (folder / "source.spm").exists():
        return _marian(folder, source_words, words)
    return _fairseq(folder, words)


def read_marian_vocabulary(folder: pathlib.Path, source_words: int, words: int) -> Vocabulary:
    """Of Marian's own files. source_words, words: rows of the embeddings of either side. Behind the target's, and behind those that
    both share, comes the one of zeros that begins a translation, which has no piece."""
    factored = sorted(folder.glob("*.fsv"))
    if factored:
        raise ConvertError(f"{factored[0]}: factored vocabularies are not supported")
    tables = (folder / "source.spm").exists()
    if not tables and not list(folder.glob("*.spm")) and (found := sorted(folder.glob("*vocab*.yml"))):
        raise ConvertError(f"{found[0]}: without source.spm beside it there is nothing that splits text")
    files = _files(folder, "vocab.yml" if tables else "vocab.spm")
    numbers, end = _numbers(files[0])
    if len(files) == 1:
        if source_words != words:
            raise ConvertError(f"{files[0]}: is the only vocabulary, but the model has {source_words} words of the source and {words} "
                               "of the target")
        source = target = _words(files[0], numbers, words, words + 1, end)
    else:
        target_numbers, target_end = _numbers(files[1])
        source = _words(files[0], numbers, source_words, source_words, end)
        target = _words(files[1], target_numbers, words, words + 1, target_end)
    pieces_file, target_pieces_file = _pieces_files(folder) if tables else (files[0], files[1] if len(files) > 1 else None)
    return _with_languages(pieces_file, source, target, numbers, target_pieces_file)


def _files(folder: pathlib.Path, name: str) -> list[pathlib.Path]:
    """The file of that name, else those that end with it, else those of its kind: one, or the source's and the target's."""
    if (folder / name).exists():
        return [folder / name]
    found = sorted(folder.glob(f"*{name}")) or (sorted(folder.glob("*.spm")) if name.endswith(".spm") else [])
    if not found:
        raise ConvertError(f"{folder}: has no {name}")
    if len({file.read_bytes() for file in found}) == 1:
        return found[:1]
    named = [folder / pathlib.PurePath(file).name for file in _vocabularies_of_decoder(folder)]
    if len(set(named)) == 2 and set(named) <= set(found):
        return named
    parts = {file: set(re.split(r"[^a-z]+", file.name.lower())) for file in found}
    sides = [[file for file in found if parts[file] & side] for side in _SIDES]
    if len(found) == 2 and all(len(side) == 1 for side in sides):
        return [side[0] for side in sides]
    raise ConvertError(f"{folder}: which of {', '.join(file.name for file in found)} is the source's vocabulary, and which the "
                       f"target's? Name them src.{name} and trg.{name}, or the only one {name}")


def _vocabularies_of_decoder(folder: pathlib.Path) -> list[str]:
    path = folder / "decoder.yml"
    if not path.exists():
        return []
    named = read_decoder_settings(path).get("vocabs", [])
    return named if isinstance(named, list) else []


def _numbers(path: pathlib.Path) -> tuple[dict[str, int], int]:
    """Of a table, or of the pieces of a model; and the word that ends a sentence."""
    if path.suffix == ".yml":
        numbers = read_numbers(path)
        for special in ("</s>", "<unk>"):
            if special not in numbers:
                raise ConvertError(f"{path}: has no {special}")
        return numbers, numbers["</s>"]
    pieces = pieces_of(path)
    if any(pieces.is_byte(i) for i in range(pieces.vocab_size())):
        raise ConvertError(f"{path}: its bytes in the place of rare characters (--byte_fallback) are not supported")
    if pieces.eos_id() < 0:
        raise ConvertError(f"{path}: has no word that ends a sentence")
    numbers = {pieces.id_to_piece(i): i for i in range(pieces.vocab_size())
               if not (pieces.is_control(i) or pieces.is_unknown(i) or pieces.is_unused(i))}
    return {**numbers, "<unk>": pieces.unk_id()}, pieces.eos_id()


def _marian(folder: pathlib.Path, source_words: int, words: int) -> Vocabulary:
    path, target_path = folder / "vocab.json", folder / "target_vocab.json"
    if target_path.exists():
        numbers = _hub_numbers(path, "</s>", "<unk>")
        source = _words(path, numbers, source_words, source_words, numbers["</s>"])
        target = _words(target_path, _hub_numbers(target_path, "<unk>"), words, words)
    elif source_words == words:
        numbers = _hub_numbers(path, "<unk>")
        source = target = _words(path, numbers, words, words)
    else:
        raise ConvertError(f"{folder}: has no target_vocab.json, but the model has {source_words} words of the source and {words} of "
                           "the target")
    pieces_file, target_pieces_file = _pieces_files(folder)
    return _with_languages(pieces_file, source, target, numbers, target_pieces_file)


def _hub_numbers(path: pathlib.Path, *needed: str) -> dict[str, int]:
    numbers = read_object(path)
    for special in needed:
        if special not in numbers:
            raise ConvertError(f"{path}: has no {special}")
    return numbers


def _pieces_files(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path | None]:
    """Of source text; and of translations, where there is one."""
    pieces_of(folder / "source.spm")
    if not (folder / "target.spm").exists():
        return folder / "source.spm", None
    pieces_of(folder / "target.spm")
    return folder / "source.spm", folder / "target.spm"


def _words(table: pathlib.Path, numbers: dict[str, int], rows: int, words: int, end: int | None = None) -> Words:
    """rows: how many of the words the table may name."""
    lines = _lines(table, numbers, rows)
    for piece, word in numbers.items():
        if piece in ("</s>", "<unk>", "<pad>") or _MARIAN_LANGUAGE.fullmatch(piece):
            lines[word] = ""
    return Words(lines + [""] * (words - rows), numbers["<unk>"], end)


def _with_languages(pieces_file: pathlib.Path, source: Words, target: Words, numbers: dict[str, int],
                    target_pieces_file: pathlib.Path | None) -> Vocabulary:
    """numbers: of the source."""
    languages = {piece: word for piece, word in numbers.items() if _MARIAN_LANGUAGE.fullmatch(piece)}
    return Vocabulary(pieces_file, source, target, "target_in_source" if languages else "none", languages, tags(languages),
                      target_pieces_file)


def _fairseq(folder: pathlib.Path, words: int) -> Vocabulary:
    path = folder / "sentencepiece.bpe.model"
    pieces = pieces_of(path)
    if (folder / "vocab.json").exists():   # M2M-100
        numbers = {piece: word for piece, word in read_object(folder / "vocab.json").items()}
        first = max(numbers.values()) + 1
    else:                                  # NLLB: the model's own order, behind four special words
        numbers = {pieces.id_to_piece(i): i + 1 for i in range(3, pieces.vocab_size())}
        first = pieces.vocab_size() + 1
    languages = _languages(folder, first)
    lines = _lines(path, {p: w for p, w in numbers.items() if p not in _FAIRSEQ and p not in languages}, words)
    words_of_both = Words(lines, 3)
    return Vocabulary(path, words_of_both, words_of_both, "source_and_target", languages, tags(languages))


def _languages(folder: pathlib.Path, first: int) -> dict[str, int]:
    """Where the folder numbers them, so; else in their order from `first` on."""
    numbered = {}
    if (folder / "tokenizer.json").exists():
        numbered = {token["content"]: token["id"] for token in read_object(folder / "tokenizer.json").get("added_tokens", [])}
    named: list[str] = []
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if not (folder / name).exists():
            continue
        read = read_object(folder / name)
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
        if type(word) is not int or not 0 <= word < words:
            raise ConvertError(f"{path}: '{piece}' is word {word!r}, but the model has {words} words")
        if "\n" in piece:
            raise ConvertError(f"{path}: word {word} has a line break")
        lines[word] = piece
    return lines
