"""One row a damaged or hostile file: each ends in one message with the status 1, and leaves no trace in the repository."""

import bz2
import gzip
import json
import lzma
import os
import pathlib
import pickle
import shutil
import struct
import tarfile
import unittest
import zipfile
from collections.abc import Callable

import numpy as np

import published
import random_voice
import tiny_argos
from models.convert.safetensors import read_safetensors, write_safetensors
from test_hostile import Hostile
from tiny_marian import SETTINGS, arrays, write_bin, write_npz

# A row: what is wrong, a part of the message, and how a path to add is made in an empty folder.
CASES: list[tuple[str, str, Callable[[pathlib.Path], pathlib.Path]]] = []


def case(message: str):
    def add(make):
        CASES.append((make.__name__, message, make))
        return make
    return add


def cases(message: str, rows: dict[str, Callable[[pathlib.Path], pathlib.Path]], to=CASES) -> None:
    to.extend((name, message, make) for name, make in rows.items())


# Each row damages one of these, a whole model of each kind.

def opus(folder: pathlib.Path) -> pathlib.Path:
    published.marian(folder / "opus-mt-en-de")
    return folder / "opus-mt-en-de"


def m2m(folder: pathlib.Path) -> pathlib.Path:
    published.m2m(folder / "opus-mt-en-de")   # so that its name tells the languages
    return folder / "opus-mt-en-de"


def pair(folder: pathlib.Path, settings: dict[str, str] = published.BERGAMOT_SETTINGS) -> pathlib.Path:
    published.bergamot(folder / "pair", settings=settings)
    return folder / "pair"


def marian(folder: pathlib.Path, settings: dict[str, str] = SETTINGS) -> pathlib.Path:
    place = folder / "opus-mt-en-de"
    place.mkdir()
    write_npz(place / "model.npz", arrays(published.PIECES, settings), settings)
    shutil.copy(published.DATA / "tiny.spm", place / "vocab.spm")
    return place


def argos(folder: pathlib.Path) -> pathlib.Path:
    tiny_argos.package(folder / "en_de")
    return folder / "en_de"


def kokoro(folder: pathlib.Path) -> pathlib.Path:
    published.kokoro(folder / "kokoro")
    return folder / "kokoro"


def with_file(make, name: str, data: bytes | str | None) -> Callable[[pathlib.Path], pathlib.Path]:
    """None: a FIFO, at which a reader would wait without end."""
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = make(folder)
        for file in place.glob(name):
            file.unlink()
        path = place / name.replace("*", "x")
        os.mkfifo(path) if data is None else path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return place
    return made


def with_json(make, name: str, **fields) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = make(folder)
        read = json.loads((place / name).read_text()) if (place / name).exists() else {}
        (place / name).write_text(json.dumps(read | fields))
        return place
    return made


# Weights: safetensors

def safetensors(header, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


TENSOR = {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]}
cases("not a safetensors file", {
    f"safetensors: {what}": with_file(opus, "model.safetensors", data) for what, data in (
        ("an empty file", b""),
        ("a file that ends in its length", b"\1\0\0"),
        ("a header of 2^64 - 1 bytes", safetensors({}, length=2**64 - 1)),
        ("two tensors that share bytes", safetensors({"a": TENSOR, "b": TENSOR, "c": TENSOR | {"data_offsets": [64, 128]}}, bytes(256))),
        ("a header in UTF-16 that is cut", safetensors('{"a": 1}'.encode("utf-16")[:-1])),
        ("a type that is a list", safetensors({"a": TENSOR | {"dtype": ["F32"]}}, bytes(64))),
        ("numbers in the place of offsets", safetensors({"a": TENSOR | {"data_offsets": [0.0, 64.0]}}, bytes(64))),
        ("a shape that is no list", safetensors({"a": TENSOR | {"shape": 16}}, bytes(64))),
        ("names that are deep", safetensors(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}")))})


@case("decoder.0.ffn.expand.bias has values that are not finite; the weights are damaged")
def a_weight_that_is_no_number(folder):
    place = m2m(folder)
    tensors = {name: array.copy() for name, array in read_safetensors(place / "model.safetensors").items()}
    tensors["model.decoder.layers.0.fc1.bias"][3] = np.nan
    write_safetensors(place / "model.safetensors", tensors, {})
    return place


# Files that are none, or that may not be read.

cases("is neither a file nor a folder", {f"{what} that is a FIFO": with_file(make, name, None) for what, make, name in (
    ("config.json", opus, "config.json"), ("a checkpoint", opus, "pytorch_model.bin"), ("source.spm", opus, "source.spm"), ("Marian's model", pair, "model.*.bin"),
    ("a vocabulary", pair, "vocab.*.spm"), ("metadata of Argos", argos, "metadata.json"), ("CTranslate2's model", argos, "model/model.bin"),
    ("a voice of Kokoro", kokoro, "voices/af_heart.pt"))})


@case("is neither a file nor a folder")
def a_voice_that_is_a_fifo(folder):
    random_voice.write(folder / "voice.onnx").unlink()
    os.mkfifo(folder / "voice.onnx")
    return folder / "voice.onnx"


@case("is neither a file nor a folder")
def an_archive_that_is_a_fifo(folder):
    os.mkfifo(folder / "model.zip")
    return folder / "model.zip"


@case("is neither a file nor a folder")
def a_checkpoint_that_is_a_device(folder):
    place = opus(folder)
    (place / "pytorch_model.bin").unlink()
    (place / "pytorch_model.bin").symlink_to("/dev/zero")
    return place


@case("Is a directory")
def weights_that_are_a_folder(folder):
    place = opus(folder)
    (place / "model.safetensors").mkdir()
    return place


@case("no such file or folder")
def a_link_to_itself(folder):
    (folder / "voice.onnx").symlink_to(folder / "voice.onnx")
    return folder / "voice.onnx"


# Checkpoints of torch and npz files.

def checkpoint(pickled: bytes, **members: bytes) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = opus(folder)
        with zipfile.ZipFile(place / "pytorch_model.bin", "w") as archive:
            for name, data in {"archive/data.pkl": pickled, **members}.items():
                archive.writestr(name, data)
        return place
    return made


cases("is not a file of torch.save, or it is damaged", {
    f"a pickle {what}": checkpoint(data) for what, data in (
        ("of a terabyte of nothing", b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"."),
        ("of a number with a million digits", b"\x80\x02L" + b"9" * 1_000_000 + b"L\n."),
        ("that is empty", b""),
        ("that stops at once", b"\x80\x02."),
        ("that ends in a number", b"\x80\x02K"))})
cases("is not a checkpoint of a translator", {f"a checkpoint of {what}": checkpoint(data) for what, data in (
    ("two thousand million places", b"\x80\x02Nr" + struct.pack("<I", 2**31 - 1) + b"."), ("one list that holds itself", b"\x80\x02]q\0h\0a."))})
cases("is not a checkpoint of a translator", {f"a state of the kind {type(state).__name__}": checkpoint(pickle.dumps(state, 2)) for state in ([], 3, "text")})


@case("Object arrays cannot be loaded")
def an_npz_file_with_a_pickle(folder):
    place = marian(folder)
    np.savez(place / "model.npz", Wemb=np.array([{"a": print}], object))
    return place


def npz(member: bytes) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = marian(folder)
        with zipfile.ZipFile(place / "model.npz", "w") as archive:
            archive.writestr("Wemb.npy", member)
        return place
    return made


def npy(shape: str) -> bytes:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


cases("not an npz file of Marian, or it is damaged", {
    f"an npz file: {what}": with_file(marian, "model.npz", data) if isinstance(data, bytes) else npz(data[0]) for what, data in (
        ("empty", b""), ("a member of ten million million numbers", [npy("(10000000000000,)")]), ("a member of a negative size", [npy("(-1, 4)")]),
        ("a member whose shape is code", [npy("__import__('os').getpid()")]))})


# Archives.

def zipped(folder: pathlib.Path, *members: tuple[str, bytes]) -> pathlib.Path:
    with zipfile.ZipFile(folder / "x.zip", "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return folder / "x.zip"


def patched(find: bytes, put: bytes):
    def made(folder: pathlib.Path) -> pathlib.Path:
        path = zipped(folder, ("model.onnx", b"0123456789"))
        path.write_bytes(path.read_bytes().replace(find, put))
        return path
    return made


cases("is no zip or tar file, or it is damaged", {
    "a zip file whose method nobody knows": patched(b"\x14\0\0\0\0\0", b"\x14\0\0\0\x63\0"),
    "a zip file with another sum": patched(b"0123", b"3210"),
    })
cases("the member 'model.onnx' is encrypted", {"a zip file with a password": patched(b"\x14\0\0\0", b"\x14\0\1\0")})
cases("x.zip: Invalid argument", {"a zip file whose directory is beyond its end": lambda folder: _cut(zipped(folder, ("a", b"x" * 1000)), 200, 900)})


def _cut(path: pathlib.Path, begin: int, end: int) -> pathlib.Path:
    data = path.read_bytes()
    path.write_bytes(data[:begin] + data[end:])
    return path


@case("are allowed of a file of this size")
def a_zip64_file_that_lies(folder):
    path = zipped(folder)
    name, extra = b"model.onnx", struct.pack("<2H2Q", 1, 16, 1 << 62, 1 << 62)
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 45, 0, 0, 0, 0, 0, 2**32 - 1, 2**32 - 1, len(name), len(extra)) + name + extra
    central = struct.pack("<4s6H3I5H2I", b"PK\1\2", 45, 45, 0, 0, 0, 0, 0, 2**32 - 1, 2**32 - 1, len(name), len(extra), 0, 0, 0, 0, 0) + name + extra
    path.write_bytes(local + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local), 0))
    return path


@case("has none of the models that are supported")
def a_zip_file_whose_names_have_line_breaks(folder):
    return zipped(folder, ("a\nb\x1b[2J", b"x"))


@case("cannot unpack")
def a_zip_file_with_a_name_that_is_too_long(folder):
    return zipped(folder, ("a" * 300, b"x"))


def tar(folder: pathlib.Path, data: bytes, opened=gzip.open, name: str = "x.tar.gz") -> pathlib.Path:
    with opened(folder / name, "wb") as file:
        file.write(data)
    return folder / name


def header(name: str, size: int, kind: bytes, **fields) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    for field, value in fields.items():
        setattr(member, field, value)
    return member.tobuf(tarfile.GNU_FORMAT)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


LONG = 64 << 20
cases("headers", {
    "a tar file with a header of 64 MB": lambda folder: tar(folder, header("././@PaxHeader", LONG, tarfile.XHDTYPE) + bytes(LONG)),
    "a tar file with a name of 64 MB": lambda folder: tar(folder, header("././@LongLink", LONG, tarfile.GNUTYPE_LONGNAME) + b"a" * LONG)})


@case("are allowed of a file of this size")
def a_sparse_tar_file_of_a_terabyte(folder):
    fields = b"".join(f"{len(text) + 4} {text}\n".encode() for text in (
        "GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=model.onnx", f"GNU.sparse.realsize={1 << 40}"))
    places = padded(b"1\n0\n512\n")
    return tar(folder, header("PaxHeader", len(fields), tarfile.XHDTYPE) + padded(fields) + header("x", len(places) + 512, tarfile.REGTYPE) +
               places + bytes(512) + bytes(1024))


@case("is a link or no file")
def a_tar_file_with_a_disk(folder):
    return tar(folder, header("model.onnx", 0, tarfile.BLKTYPE, devmajor=8) + bytes(1024))


def whole_tar() -> bytes:
    return header("model.onnx", 5000, tarfile.REGTYPE) + os.urandom(5000) + bytes(120) + bytes(1024)


for suffix, opener in (("tar", open), ("tar.gz", gzip.open), ("tar.bz2", bz2.open), ("tar.xz", lzma.open)):
    cases("x." + suffix, {f"a {suffix} file that is cut": lambda folder, suffix=suffix, opener=opener: _cut(
        tar(folder, whole_tar(), opener, f"x.{suffix}"), 3000, 1 << 20)})


@case("is no gzip file, or it is damaged")
def a_gzip_file_that_is_empty(folder):
    place = pair(folder)
    (place / "lex.50.50.ende.s2t.bin.gz").write_bytes(b"\x1f\x8b")
    return place


# Vocabularies and settings.

PIECES = (published.DATA / "tiny.spm").read_bytes()
cases("not a SentencePiece model", {f"a vocabulary of which {i} tenths are there": with_file(opus, "source.spm", PIECES[:len(PIECES) * i // 10 - 1]) for i in (1, 4, 7, 9)})
cases("not a SentencePiece model", {"a vocabulary with a piece twice": with_file(opus, "source.spm", PIECES + b"\x0a\x09\x0a\x02zz\x15\0\0\0\0" * 2),
                                    "a vocabulary of zeros": with_file(opus, "source.spm", bytes(1000)),
                                    "a vocabulary that is empty": with_file(pair, "vocab.*.spm", b"")})
cases("is not JSON", {f"settings {what}": with_file(opus, "config.json", data) for what, data in (
    ("that are empty", b""), ("in Latin-1", '{"a": "ä"}'.encode("latin-1")), ("of two objects", "{}{}"), ("with a number of 5,000 digits", '{"d_model": ' + "9" * 5000 + "}"),
    ("in UTF-16 without a mark, of odd length", '{"a": 1}'.encode("utf-16-le") + b"x"))})
cases("is not JSON", {"tokenizer.json that is deep": with_file(m2m, "tokenizer.json", '{"a":' * 100_000),
                      "vocab.json that is cut": with_file(opus, "vocab.json", '{"</s>": 0, "<unk>"')})
cases("", {f"{name} with {fields}"[:100]: with_json(make, name, **fields) for make, name, fields in (
    (opus, "config.json", {"activation_function": ["swish"]}), (opus, "config.json", {"model_type": ["marian"]}), (opus, "config.json", {"d_model": True}),
    (opus, "config.json", {"bad_words_ids": [[{}]]}), (opus, "config.json", {"bad_words_ids": 7}), (opus, "config.json", {"bad_words_ids": [[1e300]]}),
    (opus, "config.json", {"bad_words_ids": [[-1]]}), (opus, "config.json", {"bad_words_ids": [[10**9]]}),
    (opus, "generation_config.json", {"length_penalty": float("nan")}), (opus, "generation_config.json", {"length_penalty": "much"}),
    (opus, "generation_config.json", {"length_penalty": -1e308}),
    (opus, "generation_config.json", {"num_beams": float("inf")}), (opus, "generation_config.json", {"num_beams": [4]}),
    (opus, "vocab.json", {"w5": "5"}), (opus, "vocab.json", {"w5": -1}), (opus, "vocab.json", {"w5": 1e30}), (opus, "vocab.json", {"w5": 5.5}), (opus, "vocab.json", {"w5": True}),
    (opus, "vocab.json", {"<unk>": None}), (opus, "vocab.json", {"a\nb": 5}),
    (opus, "config.json", {"eos_token_id": 0.0}), (opus, "config.json", {"eos_token_id": [0]}), (opus, "config.json", {"decoder_start_token_id": "3"}),
    (m2m, "special_tokens_map.json", {"additional_special_tokens": [3]}), (m2m, "special_tokens_map.json", {"additional_special_tokens": "eng_Latn"}),
    (m2m, "tokenizer.json", {"added_tokens": {"eng_Latn": 3}}), (m2m, "tokenizer_config.json", {"added_tokens_decoder": {"x": {"content": "eng_Latn"}}}))})
cases("allowed are true and false", {f"{name} that is {value!r}": with_json(make, "config.json", **{name: value}) for make, name, value in (
    (opus, "scale_embedding", "no"), (opus, "tie_word_embeddings", "false"), (m2m, "normalize_embedding", []), (m2m, "scale_embedding", 2))})
BOMB = {"x": "&a0 [" + ", ".join("y" * 9) + "]"} | {f"x{i}": f"&a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]" for i in range(1, 20)}
cases("has an alias", {"settings of Marian that repeat themselves": lambda folder: marian(folder, BOMB | SETTINGS | {"type": "*a19"}),
                       "settings of a pair that repeat themselves": lambda folder: pair(folder, BOMB | published.BERGAMOT_SETTINGS | {"type": "*a19"})})
cases("length_penalty is nan", {"a decoder whose penalty is no number": with_file(marian, "decoder.yml", "normalize: nan")})
cases("decoder.yml", {f"a decoder with {text[:20]}": with_file(marian, "decoder.yml", text) for text in (
    "beam-size: [4]", "beam-size: 1e999", "normalize: [", "- 3", "beam-size: " + "9" * 5000)})


# Marian's binary files.

def damaged(find: str, put: bytes, skip: int = 0):
    """A pair whose model has other bytes behind a text."""
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = pair(folder)
        [model] = place.glob("model.*")
        data = bytearray(model.read_bytes())
        at = data.index(find.encode()) + len(find) + skip
        data[at:at + len(put)] = put
        model.write_bytes(data)
        return place
    return made


def pair_of(found: dict[str, np.ndarray], multiplier: float = 20):
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = pair(folder)
        [model] = place.glob("model.*")
        write_bin(model, published.bergamot_arrays(128, 256, 1, 2) | found, published.BERGAMOT_SETTINGS, multiplier)
        return place
    return made


cases("model.ende.intgemm.alphas.bin", {
    "a pair whose scales are no numbers": pair_of({}, float("nan")), "a pair whose scales are negative": pair_of({}, -1),
    "a pair whose biases are infinite": pair_of({"decoder_ff_logit_out_b": np.full((1, published.PIECES), np.inf, np.float32)}),
    "a pair with a matrix of no rows": pair_of({"encoder_l1_self_Wq": np.zeros((0, 128), np.int8)}),
    "a pair with a matrix of one dimension": pair_of({"encoder_l1_ffn_W1": np.zeros(128 * 256, np.int8)}),
    "a pair with biases of another width": pair_of({"encoder_l1_ffn_b1": np.zeros((1, 255), np.float32)})})


def shortlist(*numbers: int) -> Callable[[pathlib.Path], pathlib.Path]:
    return with_file(pair, "lex.50.50.ende.s2t.bin", struct.pack(f"<{len(numbers)}Q", *numbers))


MAGIC, ROWS = published.SHORTLIST_MAGIC, published.PIECES
cases("lex.50.50.ende.s2t.bin: corrupt at byte", {
    "a shortlist of more offsets than there are numbers": shortlist(MAGIC, 0, 4, 4, 2**61, 4), "a shortlist that ends in its head": shortlist(MAGIC, 0),
    "a shortlist whose offsets fall": shortlist(MAGIC, 0, 4, 4, ROWS + 1, 0, 0, 9, *[5] * (ROWS - 1)),
    "a shortlist that begins with more words than there are": shortlist(MAGIC, 0, 2**40, 4, ROWS + 1, 0, *[0] * (ROWS + 1))})


# Voices.

ONNX_LENGTH = b"\x3a" + b"\xff" * 9 + b"\x01"
cases("is not an ONNX file, or it is damaged", {f"a voice: {what}": lambda folder, data=data: _voice(folder, data) for what, data in (
    ("an empty file", b""), ("a field of 2^64 - 1 bytes", ONNX_LENGTH + bytes(64)), ("a number that does not end", b"\x08" + b"\x80" * 64), ("a text", b"<html>"),
    ("a group", b"\x3b\x3c"), ("zeros", bytes(100)), ("a graph that is a number", b"\x38\x01"))})


def _voice(folder: pathlib.Path, data: bytes) -> pathlib.Path:
    path = random_voice.write(folder / "voice.onnx", layers=1)
    path.write_bytes(data)
    return path


@case("voice.onnx.json: has a number that is not finite, which JSON does not have")
def a_voice_whose_settings_have_a_number_of_no_json(folder):
    path = random_voice.write(folder / "voice.onnx", layers=1)
    settings = json.loads((folder / "voice.onnx.json").read_text())
    (folder / "voice.onnx.json").write_text(json.dumps(settings | {"piper_version": float("nan")}))
    return path


cases("kokoro", {f"Kokoro with {name} {value}"[:80]: with_json(kokoro, "config.json", **{name: value}) for name, value in (
    ("vocab", []), ("vocab", {"a": 1.5}), ("vocab", {"a": 10**9}), ("vocab", {"ab": 1}), ("istftnet", []), ("plbert", None), ("plbert", {"num_hidden_layers": 10**9, "num_attention_heads": 3}),
    ("plbert", {"num_hidden_layers": 2, "num_attention_heads": 0}), ("plbert", {"num_hidden_layers": "2", "num_attention_heads": 3}),
    ("istftnet", {"upsample_rates": "abc", "gen_istft_n_fft": 8, "gen_istft_hop_size": 2, "resblock_dilation_sizes": [[1, 3]]}),
    ("istftnet", {"upsample_rates": [4, 2], "gen_istft_n_fft": -8, "gen_istft_hop_size": 2, "resblock_dilation_sizes": [[1, 3]]}),
    ("istftnet", {"upsample_rates": [4, 2], "gen_istft_n_fft": 8, "gen_istft_hop_size": 0, "resblock_dilation_sizes": [1]}))})


# Packages of Argos.

cases("metadata.json", {f"Argos with {fields}": with_json(argos, "metadata.json", **fields) for fields in (
    {"type": ["translate"]}, {"type": "sbd"}, {"from_code": {"a": 1}}, {"from_code": ""}, {"target_prefix": "__de__"})})
cases("which is no language tag", {f"Argos for the language {code}"[:40]: with_json(argos, "metadata.json", to_code=code) for code in ("../../x", "d\ne", "x" * 36)})
cases("en_de", {
    "Argos whose model is empty": with_file(argos, "model/model.bin", b""), "Argos whose words are no list": with_file(argos, "model/shared_vocabulary.json", "{}"),
    "Argos whose words are numbers": with_file(argos, "model/shared_vocabulary.json", "[1, 2]"), "Argos without SentencePiece": with_file(argos, "sentencepiece.model", b"x"),
    "Argos whose settings are a list": with_file(argos, "model/config.json", "[]"),
    "Argos whose start is a list": with_json(argos, "model/config.json", decoder_start_token=["<s>"]),
    "Argos whose end is no text": with_json(argos, "model/config.json", eos_token={"a": 1}),
    "Argos whose norms are not finite": with_json(argos, "model/config.json", layer_norm_epsilon="nan"),
    "Argos whose norms are negative": with_json(argos, "model/config.json", layer_norm_epsilon=-1)})


@case("has none of the models that are supported")
def an_argosmodel_without_metadata(folder):
    place = argos(folder)
    (place / "metadata.json").unlink()
    (folder / "x.argosmodel").write_bytes(tiny_argos.archive(place))
    return folder / "x.argosmodel"


class Rows(Hostile):
    def assert_each(self, rows):
        for number, (name, message, make) in enumerate(rows):
            with self.subTest(name):
                (folder := self.root / str(number)).mkdir()
                self.models = folder / "models"
                self.assert_refused(make(folder), message)


class Files(Rows):
    def test_each_ends_in_one_message(self):
        self.assert_each(CASES)


if __name__ == "__main__":
    unittest.main()
