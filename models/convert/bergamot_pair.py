"""The files of a Bergamot or Firefox model, told by their names as they are published, and what its own settings say of it."""

import dataclasses
import pathlib
import re

from .bergamot_marian import Int8Matrix, SHARED, SOURCE, TARGET, embeddings
from .bergamot_oracle import HEADS
from .bergamot_student import is_student
from .language_tags import tag_of
from .package import ConvertError
from .seq2seq_yaml import read_settings

WIDTHS, LEAST_HEAD = range(128, 513, 64), 16   # as models/bergamot/bergamot_weights.cc has them
# The engine computes these settings only. A model that leaves one out has Marian's default, which may differ; its tensors are checked then.
_SETTINGS = {"type": "transformer", "dec-cell": "ssru", "transformer-decoder-autoreg": "rnn",
             "transformer-preprocess": "", "transformer-postprocess": "dan", "transformer-postprocess-top": "",
             "transformer-ffn-activation": "relu", "transformer-tied-layers": [], "lemma-dim-emb": "0"}


# Pairs with English may have longer codes, such as model.enzh_hant.
_CODE = r"([a-z]{2,3}(?:_[a-z]{2,4})?)"
_LANGUAGES = re.compile(rf"model\.(?:(en){_CODE}|{_CODE}(en)|([a-z]{{2}})([a-z]{{2}}))\.")


@dataclasses.dataclass(frozen=True)
class Pair:
    model: pathlib.Path
    vocabulary: pathlib.Path
    target_vocabulary: pathlib.Path     # the same file where both languages share it
    shortlist: pathlib.Path | None
    languages: tuple[str, str] | None   # as the model's name tells them


def is_model_name(name: str) -> bool:
    return re.fullmatch(r"model\..+\.bin", name) is not None


def find_pair(folder: pathlib.Path) -> Pair:
    files = sorted(file for file in folder.iterdir() if file.is_file())
    models = [file for file in files if is_model_name(file.name)] or list(filter(is_student, files))
    model = _only(folder, models, "model.*.bin")
    shortlists = [file for file in files if re.fullmatch(r"lex\..*\.bin", file.name)]
    named = _LANGUAGES.match(model.name)
    source, target = filter(None, named.groups()) if named else ("", "")
    return Pair(model, *_vocabularies(folder, files), _only(folder, shortlists, "lex.*.bin") if shortlists else None,
                (tag_of(source), tag_of(target)) if named else None)


def _vocabularies(folder: pathlib.Path, files: list[pathlib.Path]) -> tuple[pathlib.Path, pathlib.Path]:
    found = {side: [file for file in files if re.fullmatch(rf"{side}vocab\..*spm", file.name)] for side in ("", "src", "trg")}
    if not found["src"] and not found["trg"]:
        shared = _only(folder, found[""], "vocab.*spm")
        return shared, shared
    if found[""]:
        raise ConvertError(f"{folder}: has {found[''][0].name} and {(found['src'] + found['trg'])[0].name}: expected one vocabulary, or one of "
                           "each language")
    return _only(folder, found["src"], "srcvocab.*spm"), _only(folder, found["trg"], "trgvocab.*spm")


def check_settings(weights: dict, special: dict[str, bytes], path: pathlib.Path) -> int:
    """Refuses what the engine does not compute, by the settings that Marian stores among the weights, and by the shapes. Returns the heads."""
    settings = read_settings(special.get("special:model.yml", b"").rstrip(b"\0").decode("utf-8", "replace"), f"{path}: special:model.yml")
    for name, needed in _SETTINGS.items():
        if settings.get(name, needed) != needed:
            raise ConvertError(f"{path}: {name} is '{settings[name]}', only '{needed or 'none'}' is supported")
    if "decoder_ff_logit_out_W" in weights:
        raise ConvertError(f"{path}: has an output layer of its own, only one that is tied to the embeddings is supported")
    sides = embeddings(weights)
    if not all(isinstance(side, Int8Matrix) and side.values.ndim == 2 for side in sides):
        raise ConvertError(f"{path}: no int8 embeddings named {SHARED}, or {SOURCE} and {TARGET}: not a Bergamot model")
    for width in (side.values.shape[1] for side in sides):
        if width not in WIDTHS:
            raise ConvertError(f"{path}: is {width} wide, allowed are {', '.join(map(str, WIDTHS))}")
    if sides[0].values.shape[1] != sides[1].values.shape[1]:
        raise ConvertError(f"{path}: {SOURCE} and {TARGET} are of different widths")
    for setting, layers in (("enc-depth", _layers(weights, "encoder_l{}_self_Wq")), ("dec-depth", _layers(weights, "decoder_l{}_rnn_Wf"))):
        if layers == 0 or settings.get(setting, str(layers)) != str(layers):
            raise ConvertError(f"{path}: {setting} is {settings.get(setting)}, but the file has the weights of {layers} layers")
    heads = settings.get("transformer-heads", str(HEADS))
    allowed = [number for number in range(1, width // LEAST_HEAD + 1) if width % number == 0]
    if heads not in map(str, allowed):
        raise ConvertError(f"{path}: transformer-heads is '{heads}', allowed for a width of {width} are {', '.join(map(str, allowed))}")
    return int(heads)


def _layers(weights: dict, pattern: str) -> int:
    number = 0
    while pattern.format(number + 1) in weights:
        number += 1
    return number


def _only(folder: pathlib.Path, files: list[pathlib.Path], pattern: str) -> pathlib.Path:
    if len(files) != 1:
        raise ConvertError(f"{folder}: expected one file {pattern}, found {len(files)}")
    return files[0]
