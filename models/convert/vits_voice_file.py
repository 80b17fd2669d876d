"""Reads the JSON file of a Piper voice, as its old and new trainers write it, into the one form that packages have."""

import json
import pathlib
import shutil
import subprocess

from .json_file import read_object
from .package import ConvertError, voice_name_mistake
from .vits_network import Weights

ESPEAK, LETTERS = "espeak", "text"   # phoneme_type: by espeak-ng, or the letters of the text
_LENGTH = "length_scale"
_SCALES = ("noise_scale", _LENGTH, "noise_w")
_MOST_SCALE = 1000
# Bytes, as models/vits/vits_kind.cc has it.
_MOST_LANGUAGE, _MOST_ESPEAK = 35, 128
_MOST_ID = 1 << 20
_MOST_IDS = 64   # of one phoneme; published voices have one or two


def read_voice_file(path: pathlib.Path) -> dict:
    voice = read_object(path)
    voice["inference"] = voice.get("inference") or {}
    for field in ("phoneme_id_map", "audio", "inference"):
        if not isinstance(voice.get(field), dict):
            raise ConvertError(f"{path} is not the JSON file of a Piper voice: it has no object '{field}'")
    rate = voice["audio"].get("sample_rate")
    if not isinstance(rate, int) or not 8000 <= rate <= 192_000:
        raise ConvertError(f"{path}: audio.sample_rate is {json.dumps(rate)}, allowed are whole numbers of 8000..192000")
    for name in _SCALES:
        if name in voice["inference"] and not _is_scale(name, voice["inference"][name]):
            raise ConvertError(f"{path}: inference.{name} is {json.dumps(voice['inference'][name])}, not a number "
                               + (f"above 0 and up to {_MOST_SCALE}" if name == _LENGTH else f"of 0..{_MOST_SCALE}"))
    voice["phoneme_id_map"] = {phoneme: _ids(phoneme, ids, path) for phoneme, ids in voice["phoneme_id_map"].items()}
    if missing := [symbol for symbol in "^_$" if not voice["phoneme_id_map"].get(symbol)]:
        raise ConvertError(f"{path}: phoneme_id_map has no '{missing[0]}', which begins, separates or ends a sentence")
    voice["phoneme_map"] = _phoneme_map(voice.get("phoneme_map"), path)
    voice["vowel_clusters"] = _clusters(voice.get("vowel_clusters"), path)
    voice["speaker_id_map"] = voice.get("speaker_id_map") or {}
    if voice.get("num_speakers") is None:
        voice["num_speakers"] = max(1, len(voice["speaker_id_map"])) if isinstance(voice["speaker_id_map"], dict) else 1
    voice["phoneme_type"] = _phoneme_type(voice.get("phoneme_type"), path)
    if voice["phoneme_type"] == ESPEAK:
        _check_espeak(voice.get("espeak"), path)
    try:
        json.dumps(voice, allow_nan=False)
    except ValueError as error:   # in a field that nobody asks for; the server reads the whole file
        raise ConvertError(f"{path}: has a number that is not finite, which JSON does not have") from error
    return voice


def _is_scale(name: str, value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _MOST_SCALE and (value > 0 or name != _LENGTH)


def _ids(phoneme: str, ids: object, path: pathlib.Path) -> list[int]:
    """Old files have a number in the place of a list of one."""
    ids = [ids] if isinstance(ids, int) else ids
    if not isinstance(ids, list) or len(ids) > _MOST_IDS or not all(type(number) is int and 0 <= number <= _MOST_ID for number in ids):
        raise ConvertError(f"{path}: phoneme_id_map gives '{phoneme}' {json.dumps(ids)[:80]}, not 0..{_MOST_IDS} numbers from 0")
    return ids


def _phoneme_map(phonemes: object, path: pathlib.Path) -> dict[str, list[str]]:
    found = phonemes or {}
    if not isinstance(found, dict) or not all(
            isinstance(others, list) and all(isinstance(other, str) for other in others) for others in found.values()):
        raise ConvertError(f"{path}: phoneme_map does not give each phoneme a list of others")
    return found


def _clusters(clusters: object, path: pathlib.Path) -> list[list[str]]:
    found = clusters or []
    if not isinstance(found, list) or not all(
            isinstance(cluster, list) and all(isinstance(vowel, str) for vowel in cluster) for cluster in found):
        raise ConvertError(f"{path}: vowel_clusters is not a list of lists of vowels")
    return found


def _phoneme_type(kind: object, path: pathlib.Path) -> str:
    """A trainer of some voices has written Python's name of the value, PhonemeType.ESPEAK."""
    written = ESPEAK if kind is None else kind
    plain = written.removeprefix("PhonemeType.").lower() if isinstance(written, str) else ""
    if plain not in (ESPEAK, LETTERS):
        raise ConvertError(f"{path}: phoneme_type is {json.dumps(kind)[:80]}; supported are '{ESPEAK}' and '{LETTERS}'")
    return plain


def _check_espeak(espeak: object, path: pathlib.Path) -> None:
    if not isinstance(espeak, dict) or not isinstance(espeak.get("voice"), str) or not 1 <= len(espeak["voice"]) <= _MOST_ESPEAK:
        raise ConvertError(f"{path} names no espeak.voice of 1..{_MOST_ESPEAK} characters, by which espeak-ng reads the voice's language")
    if not _espeak_knows(espeak["voice"]):
        raise ConvertError(f"{path}: espeak.voice is '{espeak['voice']}', which the espeak-ng here does not have; `espeak-ng --voices` lists them")


def _espeak_knows(voice: str) -> bool:
    """Without espeak-ng here, the daemon says so at load."""
    program = shutil.which("espeak-ng")
    if program is None:
        return True
    if "\0" in voice:
        return False
    known = subprocess.run([program, "-q", "-v", voice, "--", "a"], capture_output=True, check=False, text=True)
    # It also fails for other reasons, as on a full disk.
    return known.returncode == 0 or "voice" not in known.stderr


def check_speakers(weights: Weights, voice: dict, path: pathlib.Path) -> None:
    known = len(weights["emb_g.weight"]) if "emb_g.weight" in weights else 1
    ids = voice.get("speaker_id_map") or {}
    if mistake := next(filter(None, map(voice_name_mistake, ids if isinstance(ids, dict) else ())), ""):
        raise ConvertError(f"{path}: speaker_id_map: {mistake}")
    for speaker, number in ids.items() if isinstance(ids, dict) else [("speaker_id_map", None)]:
        if type(number) is not int or not 0 <= number < known:
            raise ConvertError(f"{path}: speaker '{speaker}' has the id {number}, the network knows {known} speakers; are both files of one voice?")
    number = voice.get("num_speakers", 1)
    if type(number) is not int or number not in ([0, 1] if known == 1 else [known]):
        raise ConvertError(f"{path}: num_speakers is {str(number)[:80]}, the network knows {known}; are both files of one voice?")


def check_symbols(weights: Weights, voice: dict, path: pathlib.Path) -> None:
    known = len(weights["enc_p.emb.weight"])
    for phoneme, ids in voice["phoneme_id_map"].items():
        if ids and max(ids) >= known:
            raise ConvertError(f"{path}: phoneme_id_map gives '{phoneme}' {max(ids)}, the network knows {known} symbols; are both files of one voice?")


def dataset_of(voice: dict) -> str:
    """What its trainer called the voice; empty where that is no name of a voice."""
    name = voice.get("dataset")
    return "" if voice_name_mistake(name) else name


def language_of(voice: dict, path: pathlib.Path) -> str:
    language, espeak = voice.get("language"), voice.get("espeak")
    code = language.get("code") if isinstance(language, dict) else None
    code = code or (espeak.get("voice") if isinstance(espeak, dict) else None)
    if not isinstance(code, str) or not (code.isprintable() and 1 <= len(code.encode()) <= _MOST_LANGUAGE):
        raise ConvertError(f"{path}: language.code is {json.dumps(code)[:80]}, not a string of 1..{_MOST_LANGUAGE} bytes without control characters")
    return code.replace("_", "-")
