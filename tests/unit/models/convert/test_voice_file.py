"""A voice's JSON file that is wrong gives one message that names the file and the field."""

import json
import pathlib
import shutil
import tempfile
import unittest

import numpy as np

from models.convert.package import ConvertError
from models.convert.vits import _check_speakers, read_voice_file

GOOD = {"phoneme_id_map": {"^": [1], "_": [0], "$": [2]}, "audio": {"sample_rate": 22050}, "inference": {},
        "espeak": {"voice": "en-us"}}


class ReadVoiceFile(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "voice.onnx.json"
            path.write_text(text, encoding="utf-8")
            return read_voice_file(path)

    def test_a_good_one_is_read(self):
        self.assertEqual(self.read(json.dumps(GOOD)), GOOD)

    def test_what_is_wrong_is_named(self):
        cases = {
            "{": "is not JSON",
            "[]": "no object 'phoneme_id_map'",
            json.dumps(GOOD | {"audio": 3}): "no object 'audio'",
            json.dumps(GOOD | {"phoneme_id_map": {"_": [0], "$": [2]}}): "phoneme_id_map has no '^'",
            json.dumps(GOOD | {"phoneme_type": "text"}): "phoneme_type is 'text'",
            json.dumps({key: value for key, value in GOOD.items() if key != "espeak"}): "names no espeak.voice",
            json.dumps(GOOD | {"espeak": {"voice": ""}}): "names no espeak.voice",
            json.dumps(GOOD | {"espeak": "en-us"}): "names no espeak.voice",
        }
        for text, message in cases.items():
            with self.subTest(message), self.assertRaises(ConvertError) as caught:
                self.read(text)
            self.assertIn("voice.onnx.json", str(caught.exception))
            self.assertIn(message, str(caught.exception))


    @unittest.skipUnless(shutil.which("espeak-ng"), "needs espeak-ng")
    def test_a_voice_that_espeak_ng_does_not_have_is_named(self):
        with self.assertRaisesRegex(ConvertError, "espeak.voice is 'nobody', which"):
            self.read(json.dumps(GOOD | {"espeak": {"voice": "nobody"}}))


class CheckSpeakers(unittest.TestCase):
    def check(self, voice, speakers):
        weights = {"emb_g.weight": np.zeros((speakers, 4), np.float32)} if speakers > 1 else {}
        _check_speakers(weights, voice, pathlib.Path("voice.onnx.json"))

    def test_those_of_the_network_are_right(self):
        self.check({}, 1)
        self.check({"num_speakers": 1, "speaker_id_map": {}}, 1)
        self.check({"num_speakers": 2, "speaker_id_map": {"a": 0, "b": 1}}, 2)

    def test_others_are_refused(self):
        for voice, speakers in [({"num_speakers": 4}, 1), ({"num_speakers": 1}, 2), ({"num_speakers": 2, "speaker_id_map": {"a": 2}}, 2),
                                ({"speaker_id_map": {"a": -1}}, 1), ({"speaker_id_map": {"a": "0"}}, 1), ({"speaker_id_map": 3}, 1)]:
            with self.subTest(voice=voice), self.assertRaisesRegex(ConvertError, "both files of one voice"):
                self.check(voice, speakers)


if __name__ == "__main__":
    unittest.main()
