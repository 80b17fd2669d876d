"""One row a model whose files are whole but which the server would not load or nobody could ask for: as in test_damaged_files.py."""

import copy
import json
import os
import pathlib
import shutil
import unittest
import zipfile
from collections.abc import Callable

import numpy as np

import published
import random_voice
import test_damaged_files
import tiny_argos
import torch_file
from models.convert.kokoro_checkpoint import read_checkpoint
from test_damaged_files import argos, kokoro, m2m, marian, npy, opus, pair, pair_of, safetensors, with_file, with_json

CASES: list[tuple[str, str, Callable[[pathlib.Path], pathlib.Path]]] = []


def cases(message: str, rows: dict[str, Callable[[pathlib.Path], pathlib.Path]]) -> None:
    test_damaged_files.cases(message, rows, CASES)


# Shapes that numpy takes and the server does not, and values that it cannot reckon with.

def opus_with(**changed: np.ndarray) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = opus(folder)
        found = read_checkpoint(place / "pytorch_model.bin") | {name.replace("__", "."): array for name, array in changed.items()}
        torch_file.save(place / "pytorch_model.bin", {name: torch_file.Stored(np.ascontiguousarray(array)) for name, array in found.items()})
        return place
    return made


ONE, ROW = np.ones(1, np.float32), np.ones((1, 32), np.float32)
cases("the shape [1], expected [32]", {
    "a bias of one number": opus_with(model__decoder__layers__0__self_attn__v_proj__bias=ONE), "a scale of one number": opus_with(model__encoder__layers__0__fc2__bias=ONE)})
cases("the shape [1, 32], expected [32]", {"a norm with a dimension more": opus_with(model__decoder__layers__0__self_attn_layer_norm__bias=ROW)})
cases("do not divide its width", {f"{heads} heads": with_json(opus, "config.json", encoder_attention_heads=heads) for heads in (4, 32)})
cases("allowed are 1e+06; the weights are damaged", {
    "Kokoro with biases of 3e38": lambda folder: kokoro_of(folder, "bert.encoder.albert_layer_groups.0.albert_layers.0.ffn.bias", np.full(16, 3e38, np.float32)),
    "a translator with a bias of 1e38": opus_with(model__decoder__layers__0__self_attn__v_proj__bias=np.full(32, 1e38, np.float32)),
    "a pair with biases of -1e38": pair_of({"decoder_ff_logit_out_b": np.full((1, published.PIECES), -1e38, np.float32)})})
cases("allowed are 1e-06..1e+06", {f"a pair with scales of {scale}": pair_of({}, scale) for scale in (1e-38, 1e38)})
cases("model.ende.intgemm.alphas.bin: ", {
    f"a pair with {name} of {array.dtype}{list(array.shape)}": lambda folder, name=name, array=array: pair_of({name: array})(folder) for name, array in (
        ("encoder_l1_ffn_b2", np.ones((1, 256), np.float32)), ("decoder_l2_context_bk", np.ones((1, 1), np.float32)), ("decoder_l1_ffn_ffn_ln_bias", np.ones((1, 256), np.float32)),
        ("encoder_l1_self_Wo", np.ones((1, 128, 128), np.int8)), ("decoder_l1_rnn_Wf", np.ones((128, 128), np.float32)), ("encoder_l1_ffn_W1", np.ones((128, 192), np.int8)))})


def kokoro_of(folder: pathlib.Path, name: str, array: np.ndarray) -> pathlib.Path:
    published.kokoro(folder / "kokoro", changed={name: array})
    return folder / "kokoro"


# More tensors than any model has, each of which is empty, or the same as the others.

def tensors(count: int) -> dict[str, np.ndarray]:
    return {f"t{i}": np.zeros(0, np.float32) for i in range(count)}


def checkpoint_of(states: dict[str, np.ndarray], old: bool = False) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = opus(folder)
        (place / "model.safetensors").unlink(missing_ok=True)
        stored = torch_file.Stored(np.zeros(4, np.float32))
        torch_file.save(place / "pytorch_model.bin", {name: copy.copy(stored) for name in states}, old=old)
        return place
    return made


def argos_of(found: dict[str, np.ndarray]) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = argos(folder)
        tiny_argos.write_model(place / "model" / "model.bin", found)
        return place
    return made


MANY = tensors(10_001)
EMPTY = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
cases("has more than 10000 tensors", {
    "safetensors: many tensors": with_file(opus, "model.safetensors", safetensors(dict.fromkeys(MANY, EMPTY))),
    "a checkpoint with many tensors": checkpoint_of(MANY), "an old checkpoint with many tensors": checkpoint_of(MANY, old=True),
    "an npz file with many tensors": lambda folder: marian_of(folder, MANY), "CTranslate2's model with many tensors": argos_of(MANY),
    "a pair with many tensors": lambda folder: pair_of(MANY)(folder)})


def marian_of(folder: pathlib.Path, found: dict[str, np.ndarray]) -> pathlib.Path:
    place = marian(folder)
    with zipfile.ZipFile(place / "model.npz", "w") as archive:
        for name in found:
            archive.writestr(f"{name}.npy", npy("(0,)"))
    return place


# Files that are larger than what is read, and more than the server reads.

def sparse(make, name: str) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = make(folder)
        [file] = place.glob(name)
        os.truncate(file, 30 << 30)
        return place
    return made


cases("is larger than 67108864 bytes", {f"a vocabulary of 30 GiB, {name}": sparse(make, name) for make, name in (
    (opus, "source.spm"), (m2m, "sentencepiece.bpe.model"), (pair, "vocab.*.spm"), (marian, "vocab.spm"), (argos, "sentencepiece.model"))})


cases("is larger than 262144 bytes", {"a decoder of 30 GiB": lambda folder: sparse(lambda place: with_file(marian, "decoder.yml", "beam-size: 4")(place), "decoder.yml")(folder)})
# They are mapped, which the limit of this process does not allow either.
cases("Cannot allocate memory", {f"a file of 30 GiB, {name}": sparse(make, name) for make, name in ((pair, "model.*.bin"), (argos, "model/model.bin"))})


def kokoro_with_many_voices(folder: pathlib.Path) -> pathlib.Path:
    place = kokoro(folder)
    for i in range(299):
        os.link(place / "voices" / "af_heart.pt", place / "voices" / f"af_{i}.pt")
    return place


cases("there are 301 voices, allowed are 1..256", {"Kokoro with many voices": kokoro_with_many_voices})


# Names of voices.

def kokoro_with(voice: str) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        place = kokoro(folder)
        shutil.copy(place / "voices" / "af_heart.pt", place / "voices" / f"{voice}.pt")
        return place
    return made


def voice_with(**fields) -> Callable[[pathlib.Path], pathlib.Path]:
    def made(folder: pathlib.Path) -> pathlib.Path:
        path = random_voice.write(folder / "voice.onnx", layers=1)
        settings = json.loads((folder / "voice.onnx.json").read_text())
        (folder / "voice.onnx.json").write_text(json.dumps(settings | fields))
        return path
    return made


cases("is no name of a voice, allowed are 1..128 bytes without control characters, +, : and (", {
    f"a voice of Kokoro called {name!r}"[:60]: kokoro_with(name) for name in ("x" * 200, "é" * 65, "a\nb", "a+b", "a:b", "a(2)", "\udcff")})
cases("voice.onnx.json: speaker_id_map: '", {f"a speaker called {name!r}"[:60]: voice_with(speaker_id_map={name: 0}) for name in ("x" * 129, "", "a\tb", "\ud800")})


cases("is not a tensor, as voices of Kokoro are", {f"a voice of Kokoro that is {value!r}": lambda folder, value=value: kokoro_saved(folder, "voices/af_heart.pt", value) for value in ([1], 3, {})})
cases("is not a list of tensors by their names, as Kokoro's are", {
    f"Kokoro's weights that are {value!r}": lambda folder, value=value: kokoro_saved(folder, "kokoro-v1_0.pth", value) for value in ([1], 3, {"bert": 3}, {"bert": {3: 4}}, {3: {}})})


def kokoro_saved(folder: pathlib.Path, name: str, value) -> pathlib.Path:
    place = kokoro(folder)
    torch_file.save(place / name, value)
    return place


cases("names no espeak.voice of 1..128 characters", {"espeak's voice of a long name": voice_with(phoneme_type="espeak", espeak={"voice": "x" * 200_000})})
cases("num_speakers is ", {f"{number!r} speakers": voice_with(num_speakers=number) for number in (True, 1.0, [1], 2**70)})


class Models(test_damaged_files.Rows):
    def test_each_ends_in_one_message(self):
        self.assert_each(CASES)


if __name__ == "__main__":
    unittest.main()
