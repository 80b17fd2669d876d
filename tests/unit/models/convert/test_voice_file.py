"""A voice's JSON file that is wrong gives one message that names the file and the field."""

import json
import pathlib
import shutil
import tempfile
import unittest

import numpy as np

from models.convert.package import ConvertError
from models.convert.vits_check import phoneme_ids
from models.convert.vits_voice_file import check_speakers, check_symbols, language_of, read_voice_file

GOOD = {"phoneme_id_map": {"^": [1], "_": [0], "$": [2]}, "audio": {"sample_rate": 22050}, "inference": {},
        "espeak": {"voice": "en-us"}, "phoneme_type": "espeak", "phoneme_map": {}, "vowel_clusters": [], "speaker_id_map": {}, "num_speakers": 1}


def without(*fields):
    return {field: value for field, value in GOOD.items() if field not in fields}


class ReadVoiceFile(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "voice.onnx.json"
            path.write_text(text, encoding="utf-8")
            return read_voice_file(path)

    def test_a_good_one_is_read(self):
        self.assertEqual(self.read(json.dumps(GOOD)), GOOD)

    def test_what_an_old_file_lacks_and_writes_otherwise_is_that_of_a_new_one(self):
        old = without("phoneme_type", "phoneme_map", "vowel_clusters", "num_speakers", "inference") | {
            "phoneme_id_map": {"^": 1, "_": 0, "$": [2]}, "speaker_id_map": None}
        self.assertEqual(self.read(json.dumps(old)), GOOD)
        self.assertEqual(self.read(json.dumps(GOOD | {"phoneme_type": "PhonemeType.ESPEAK"})), GOOD)
        self.assertEqual(self.read(json.dumps(without("num_speakers") | {"speaker_id_map": {"a": 0, "b": 1}}))["num_speakers"], 2)

    def test_a_voice_that_reads_letters_needs_no_voice_of_espeak_ng(self):
        voice = self.read(json.dumps(without("espeak") | {"phoneme_type": "text", "language": {"code": "uk_UA"}}))
        self.assertEqual((voice["phoneme_type"], language_of(voice, pathlib.Path("x"))), ("text", "uk-UA"))
        with self.assertRaisesRegex(ConvertError, "language.code is .*without control characters"):
            language_of({"language": {"code": "e\nn"}}, pathlib.Path("a.json"))
        with self.assertRaisesRegex(ConvertError, "language.code is null"):
            language_of(self.read(json.dumps(without("espeak") | {"phoneme_type": "text"})), pathlib.Path("x"))

    def test_a_voice_that_reads_letters_is_checked_by_its_own(self):
        table = {"^": [1], "_": [0], "$": [2], " ": [3], ".": [4], "\u0431": [5, 6], "\u0432": [7]}
        voice = self.read(json.dumps(GOOD | {"phoneme_type": "text", "phoneme_id_map": table}))
        self.assertEqual(phoneme_ids("My a.", voice), [1, 0, 5, 6, 0, 7, 0, 3, 0, 5, 6, 0, 4, 0, 2])

    def test_what_is_wrong_is_named(self):
        cases = {
            "{": "is not JSON",
            "[]": "is not a JSON object",
            "{}": "no object 'phoneme_id_map'",
            "[" * 100_000: "is not JSON",
            "\ud83d".encode("utf-16", "surrogatepass").decode("latin-1"): "is not JSON",
            json.dumps(GOOD | {"inference": [1]}): "no object 'inference'",
            json.dumps(GOOD | {"audio": {"sample_rate": 4000}}): "audio.sample_rate is 4000, allowed are whole numbers of 8000..192000",
            json.dumps(GOOD | {"audio": {}}): "audio.sample_rate is null",
            # The converter refuses the settings that the server would refuse.
            json.dumps(GOOD | {"inference": {"length_scale": 0}}): "inference.length_scale is 0, not a number above 0 and up to 1000",
            json.dumps(GOOD | {"inference": {"noise_w": 1e300}}): "inference.noise_w is 1e+300, not a number of 0..1000",
            json.dumps(GOOD | {"phoneme_id_map": {"^": [1], "_": [0], "$": [True]}}): "phoneme_id_map gives '$' [true], not 0..64 numbers from 0",
            json.dumps(GOOD | {"phoneme_id_map": {"^": [1], "_": [0], "$": [2] * 65}}): "phoneme_id_map gives '$' [2, 2,",
            json.dumps(GOOD | {"inference": {"noise_w": float("nan")}}): "inference.noise_w is NaN",
            json.dumps(GOOD | {"inference": {"length_scale": -1}}): "inference.length_scale is -1",
            json.dumps(GOOD | {"phoneme_id_map": GOOD["phoneme_id_map"] | {"a": [-1]}}): "gives 'a' [-1]",
            json.dumps(GOOD | {"phoneme_id_map": GOOD["phoneme_id_map"] | {"a": "1"}}): "gives 'a' \"1\"",
            json.dumps(GOOD | {"phoneme_map": {"a": "b"}}): "phoneme_map does not",
            json.dumps(GOOD | {"vowel_clusters": ["ai"]}): "vowel_clusters is not",
            json.dumps(GOOD | {"audio": 3}): "no object 'audio'",
            json.dumps(GOOD | {"phoneme_id_map": {"_": [0], "$": [2]}}): "phoneme_id_map has no '^'",
            json.dumps(GOOD | {"phoneme_type": "pinyin"}): "phoneme_type is \"pinyin\"; supported are 'espeak' and 'text'",
            json.dumps(GOOD | {"phoneme_type": 3}): "phoneme_type is 3",
            json.dumps(without("espeak")): "names no espeak.voice",
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
        check_speakers(weights, voice, pathlib.Path("voice.onnx.json"))

    def test_those_of_the_network_are_right(self):
        self.check({}, 1)
        self.check({"num_speakers": 1, "speaker_id_map": {}}, 1)
        self.check({"num_speakers": 2, "speaker_id_map": {"a": 0, "b": 1}}, 2)

    def test_others_are_refused(self):
        for voice, speakers in [({"num_speakers": 4}, 1), ({"num_speakers": 1}, 2), ({"num_speakers": 2, "speaker_id_map": {"a": 2}}, 2),
                                ({"speaker_id_map": {"a": -1}}, 1), ({"speaker_id_map": {"a": "0"}}, 1), ({"speaker_id_map": 3}, 1)]:
            with self.subTest(voice=voice), self.assertRaisesRegex(ConvertError, "both files of one voice"):
                self.check(voice, speakers)


class CheckSymbols(unittest.TestCase):
    def test_the_network_knows_every_symbol(self):
        weights = {"enc_p.emb.weight": np.zeros((8, 4), np.float32)}
        check_symbols(weights, {"phoneme_id_map": {"a": [7], "b": []}}, pathlib.Path("voice.onnx.json"))
        with self.assertRaisesRegex(ConvertError, "gives 'a' 8, the network knows 8 symbols"):
            check_symbols(weights, {"phoneme_id_map": {"a": [1, 8]}}, pathlib.Path("voice.onnx.json"))


if __name__ == "__main__":
    unittest.main()
