"""Piper voices that read letters or have several speakers, added by their files, are served."""

import contextlib
import io
import unittest.mock

import grpc
import pytest
from wire import daemon as daemons
from wire import mirror
from wire.requests import PATIENCE
from wire.stubs import admin, synthesis

assert mirror   # it has the tests' random voices found
import random_voice  # noqa: E402
from models.convert import vits_check  # noqa: E402
from models.convert.__main__ import main  # noqa: E402

CYRILLIC = "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя\u0301\u0306\u0308"
# Files of different trainers: a voice that reads letters and has no voice of espeak-ng, and one with the fields of the first trainers.
VOICES = {
    "letters": {"letters": CYRILLIC, "language": {"code": "uk_UA"}, "espeak": {}, "dataset": "lada"},
    "speakers": {"speakers": 3, "dataset": "trio"},
    "old": {"phoneme_type": "PhonemeType.ESPEAK", "language": None, "speaker_id_map": None, "num_speakers": None, "inference": None},
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("voices")
    for name, settings in VOICES.items():
        file = random_voice.write(folder / f"{name}.onnx", **settings)
        # The network takes its time in numpy.
        with contextlib.redirect_stdout(io.StringIO()), unittest.mock.patch.object(vits_check, "SHORT", vits_check.SHORT[:1]):
            assert main(["add", str(file), "--models", str(folder / "models")]) == 0
    with daemons.start(folder, models=folder / "models") as running:
        yield running


def speak(daemon, model, text, voice=""):
    request = synthesis.SynthesizeRequest(model=model, text=text, voice=voice, noise_scale=0, noise_w=0)
    return daemon.synthesis.Synthesize(request, timeout=PATIENCE)


def test_speakers_are_voices_of_the_models_voice(daemon):
    listed = {model.name: list(model.voices) for model in daemon.admin.ListModels(admin.ListModelsRequest()).models}
    assert listed == {"letters": ["lada"], "old": ["random"], "speakers": ["trio:p0", "trio:p1", "trio:p2"]}


def test_letters_are_spoken_whatever_their_case_and_form(daemon):
    spoken = speak(daemon, "letters", "Веселка над їхнім гаєм.")
    assert spoken.sample_rate == 16000 and len(spoken.audio) > 10_000
    assert speak(daemon, "letters", "ВЕСЕЛКА НАД I\u0308ХНІМ ГАЄМ.".replace("I\u0308", "Ї")).audio == spoken.audio
    assert speak(daemon, "letters", "веселка над і\u0308хнім гаєм.").audio == spoken.audio
    with pytest.raises(grpc.RpcError) as refused:
        speak(daemon, "letters", "Good morning.")
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT and "nothing in it that the voice can speak" in refused.value.details()


def test_a_speaker_has_two_names(daemon):
    first, second = (speak(daemon, "speakers", "hello there", voice).audio for voice in ("trio:p0", "trio:p1"))
    assert first != second
    assert speak(daemon, "speakers", "hello there", "p1").audio == second
    assert speak(daemon, "speakers", "hello there").audio == first
    with pytest.raises(grpc.RpcError) as refused:
        speak(daemon, "speakers", "hello there", "trio:p3")
    assert "it has: trio:p0, trio:p1, trio:p2" in refused.value.details()


def test_a_voice_of_the_first_trainers_is_read_by_espeak_ng(daemon):
    assert len(speak(daemon, "old", "Good morning.").audio) > 10_000
