"""The pronunciations of the package misaki, packed into one file that models/text/english/english_lexicon.h maps into memory.

All numbers are little-endian 32-bit words:
  "MRLEXIC1" | dialect (0 en-US, 1 en-GB) | number of words n | bytes of text | CRC-32 of all else | n + 1 offsets into the text | text
The text is one entry a word, sorted by the bytes of the word:
  word NUL (g or s: checked by hand or not) pronunciation { TAB part-of-speech = pronunciation }
A part of speech without a pronunciation is spelled out in letters.
"""

import argparse
import importlib.resources
import importlib.util
import json
import pathlib
import struct
import zlib

from .package import ConvertError

PACKAGE = "misaki"
DIALECTS = {"en-us": ("us", 0), "en-gb": ("gb", 1)}
MAGIC = b"MRLEXIC1"
# The symbols that voices were trained on differ from those of the dictionary in two.
SYMBOLS = str.maketrans({"ɾ": "T", "ʔ": "t"})


def data_folder() -> pathlib.Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ConvertError(f"the package {PACKAGE} is not installed; install it with pip install --no-deps {PACKAGE}==0.9.4")
    return pathlib.Path(spec.submodule_search_locations[0]) / "data"


def _read(path: pathlib.Path) -> dict[str, str | dict[str, str | None]]:
    try:
        words = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ConvertError(f"{path} is not JSON: {error}") from error
    if not isinstance(words, dict) or not words:
        raise ConvertError(f"{path} is not a dictionary of words")
    return words


def _pronunciations(path: pathlib.Path, word: str, value: str | dict[str, str | None]) -> str:
    variants = {"DEFAULT": value} if isinstance(value, str) else dict(value)
    if not isinstance(variants.get("DEFAULT"), str):
        raise ConvertError(f"{path}: the word '{word}' has no pronunciation DEFAULT")
    parts = [variants.pop("DEFAULT")]
    parts += [name if phonemes is None else f"{name}={phonemes}" for name, phonemes in sorted(variants.items())]
    if any(c in part for part in [word, *parts] for c in "\0\t") or not word:
        raise ConvertError(f"{path}: the word '{word}' holds a character that divides entries")
    return "\t".join(parts).translate(SYMBOLS)


def pack(dialect: str, gold: pathlib.Path, silver: pathlib.Path) -> bytes:
    """The bytes of the file. What was checked by hand (gold) wins over what was not."""
    entries: dict[bytes, bytes] = {}
    for mark, path in (("s", silver), ("g", gold)):
        for word, value in _read(path).items():
            entries[word.encode()] = (mark + _pronunciations(path, word, value)).encode()
    offsets, text = [0], bytearray()
    for word in sorted(entries):
        text += word + b"\0" + entries[word]
        offsets.append(len(text))
    body = struct.pack(f"<{len(offsets)}I", *offsets) + bytes(text)
    header = MAGIC + struct.pack("<3I", DIALECTS[dialect][1], len(entries), len(text))
    return header + struct.pack("<I", zlib.crc32(body, zlib.crc32(header))) + body


def write_lexicon(path: pathlib.Path, dialect: str) -> int:
    """Writes the lexicon of "en-us" or "en-gb" for a model package, and says how many words it holds."""
    if dialect not in DIALECTS:
        raise ConvertError(f"dialect is '{dialect}'; allowed are {', '.join(DIALECTS)}")
    prefix = DIALECTS[dialect][0]
    # Packages of millrace_models have them packed already.
    ready = importlib.resources.files(__package__) / "lexicons" / f"{dialect}.lexicon"
    if ready.is_file():
        packed = ready.read_bytes()
    else:
        folder = data_folder()
        packed = pack(dialect, folder / f"{prefix}_gold.json", folder / f"{prefix}_silver.json")
    try:
        path.write_bytes(packed)
    except OSError as error:
        raise ConvertError(f"cannot write {path}: {error.strerror}") from error
    return struct.unpack_from("<I", packed, len(MAGIC) + 4)[0]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dialect", default="en-us", choices=DIALECTS, help="which English (default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the file to write")


def run(args: argparse.Namespace) -> None:
    words = write_lexicon(args.output, args.dialect)
    print(f"{args.output}: {words} words of {args.dialect}")
