import argparse
import contextlib
import io
import pathlib
import shutil
import tempfile
import unittest

import numpy as np

from models.convert.measure_int8 import measure_new, nearest, precision_of, run, with_fields
from models.convert.package import ConvertError

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
        self.assertEqual(precision_of(CONFIG), "  precision: PRECISION_AUTO\n")
        self.assertEqual(precision_of("kokoro {\n}\n"), "")

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
            file.write_text(CONFIG)
            for program, why in ((models / "none", "none is no program"), (pathlib.Path(shutil.which("false")), "does not serve the model")):
                with contextlib.redirect_stdout(io.StringIO()) as said:
                    measure_new(models, "voice", program)
                self.assertEqual(file.read_text(), CONFIG)
                self.assertIn("voice: what int8 costs it was not measured, so PRECISION_AUTO is float32: ", said.getvalue())
                self.assertIn(why, said.getvalue())


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
