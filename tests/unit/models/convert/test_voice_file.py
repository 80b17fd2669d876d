"""A voice's JSON file that is wrong gives one message that names the file and the field."""

import json
import pathlib
import tempfile
import unittest

from models.convert.package import ConvertError
from models.convert.vits import read_voice_file

GOOD = {"phoneme_id_map": {"^": [1], "_": [0], "$": [2]}, "audio": {"sample_rate": 22050}, "inference": {}}


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
        }
        for text, message in cases.items():
            with self.subTest(message), self.assertRaises(ConvertError) as caught:
                self.read(text)
            self.assertIn("voice.onnx.json", str(caught.exception))
            self.assertIn(message, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
