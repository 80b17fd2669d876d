import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

from models.convert.measure_int8 import _copy, measure_new, nearest, run
from models.convert.package import ConvertError
from models.convert.voice_precision import KNOWN_DISTANCES, field_of, precision_fields, with_fields

CONFIG = """license: "CC0-1.0"
vits {
  precision: PRECISION_AUTO
  file: "model.safetensors"
  int8_distance_db: 3
  gain_db: 4.4
}
"""


class Fields(unittest.TestCase):
    def test_they_take_the_place_of_those_before(self):
        self.assertEqual(with_fields(CONFIG, "  precision: PRECISION_INT8\n"), """license: "CC0-1.0"
vits {
  precision: PRECISION_INT8
  file: "model.safetensors"
  gain_db: 4.4
}
""")
        self.assertEqual(field_of(CONFIG, "precision"), "  precision: PRECISION_AUTO\n")
        self.assertEqual(field_of("kokoro {\n}\n", "precision"), "")

    def test_a_new_package_leaves_the_choice_to_the_server_if_its_distance_is_known(self):
        known = next(iter(KNOWN_DISTANCES))
        distance = f"  int8_distance_db: {KNOWN_DISTANCES[known]}\n"
        self.assertEqual(precision_fields(None, known), "  precision: PRECISION_AUTO\n" + distance)
        self.assertEqual(precision_fields("float32", known), "  precision: PRECISION_FLOAT32\n" + distance)
        self.assertEqual(precision_fields("int8", "0" * 64), "  precision: PRECISION_INT8\n")
        self.assertEqual(precision_fields(None, "0" * 64), "")

    def test_only_voices_have_them(self):
        for config in ("", "seq2seq {\n}\n", 'license: "vits {"\n'):
            with self.assertRaisesRegex(ConvertError, "no section kokoro or vits"):
                with_fields(config, "")

    def test_a_model_that_is_missing_is_named(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(ConvertError, "voice/1/model.pbtxt: No such file"):
            run(argparse.Namespace(models=pathlib.Path(folder), name="voice", program=None, sentences=1))


class NewVoices(unittest.TestCase):
    def test_one_that_cannot_be_measured_stays_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            models = pathlib.Path(folder)
            file = models / "voice" / "1" / "model.pbtxt"
            file.parent.mkdir(parents=True)
            file.write_text(unmeasured := CONFIG.replace("  int8_distance_db: 3\n", ""))
            for program, why in ((models / "none", "none is no program"), (pathlib.Path(shutil.which("false")), "does not serve the model")):
                said = measure_new(models, "voice", program)
                self.assertEqual(file.read_text(), unmeasured)
                self.assertIn("voice: what int8 costs it was not measured, so PRECISION_AUTO is float32: ", said)
                self.assertIn(why, said)
            file.write_text(CONFIG)   # is measured already
            said = measure_new(models, "voice", models / "none")
            self.assertEqual((file.read_text(), said), (CONFIG, ""))


class Copies(unittest.TestCase):
    def test_they_share_the_weights_with_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (package := place / "voice" / "1").mkdir(parents=True)
            for name in ("model.safetensors", "model.pbtxt", "packed-avx2"):
                (package / name).write_text(name)
            for name in ("linked", "copied"):
                link = os.link if name == "linked" else unittest.mock.Mock(side_effect=PermissionError)
                with unittest.mock.patch("os.link", link):
                    _copy(package, place / name, CONFIG)
                self.assertEqual({file.name: file.read_text() for file in (place / name).iterdir()}, {"model.safetensors": "model.safetensors", "model.pbtxt": CONFIG})
                self.assertEqual((place / name / "model.safetensors").samefile(package / "model.safetensors"), name == "linked")


class Memory(unittest.TestCase):
    def test_adding_a_voice_takes_none_for_what_measuring_needs(self):
        ran = subprocess.run([sys.executable, "-c", "import sys, models.convert.add, models.convert.vits; print({'ssl', 'hashlib', 'urllib.request'} & {*sys.modules})"],
                             capture_output=True, check=True, text=True)
        self.assertEqual(ran.stdout, "set()\n")


class Nearest(unittest.TestCase):
    sound = np.random.default_rng(1).standard_normal(24000).astype(np.float32) * 0.1

    def test_sounds_that_were_cut_by_a_step_more_are_equal(self):
        for a, b in ((self.sound, self.sound), (self.sound[120:], self.sound), (self.sound, self.sound[240:]), (self.sound[:-120], self.sound[120:])):
            self.assertEqual(nearest(a, b, 120), 0)

    def test_others_are_not(self):
        self.assertGreater(nearest(self.sound, self.sound[60:], 120), 0.3)
        self.assertGreater(nearest(self.sound, self.sound * 1.2, 120), 1)

    def test_lengths_that_no_cut_explains_and_sounds_of_nothing_are_refused(self):
        with self.assertRaisesRegex(ValueError, "lengths differ, 24000 and 23400 samples"):
            nearest(self.sound, self.sound[600:], 120)
        with self.assertRaisesRegex(ValueError, "1100 samples are too few"):
            nearest(self.sound[:1100], self.sound[:1100], 120)


if __name__ == "__main__":
    unittest.main()
