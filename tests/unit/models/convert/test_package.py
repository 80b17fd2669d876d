"""A version of a model is written whole or not at all, and what it replaces is never lost."""

import errno
import os
import pathlib
import tempfile
import unittest
from unittest import mock

from models.convert.package import Busy, ConvertError, name_for, new_version


class NewVersion(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.models = pathlib.Path(folder.name)
        self.final = self.models / "m" / "1"

    def write(self, text):
        with new_version(self.models, "m") as staging:
            (staging / "weights").write_text(text)

    def read(self):
        return (self.final / "weights").read_text()

    def left(self):
        """What lies beside the version."""
        return sorted(path.name for path in self.final.parent.glob(".*"))

    def test_is_written_and_replaced(self):
        for text in ("first", "second"):
            self.write(text)
            self.assertEqual(self.read(), text)
            self.assertEqual(self.left(), [])

    def test_two_processes_do_not_write_one_model_at_once(self):
        with new_version(self.models, "m") as staging:
            with self.assertRaises(Busy) as refused:
                self.write("second")
            self.assertIn("m: is being written by another process", str(refused.exception))
            (staging / "weights").write_text("first")
        self.assertEqual(self.read(), "first")
        self.write("third")
        self.assertEqual(self.read(), "third")

    def test_an_error_leaves_nothing_and_keeps_what_was_there(self):
        with self.assertRaises(ValueError), new_version(self.models, "m") as staging:
            (staging / "weights").write_text("half")
            raise ValueError
        self.assertFalse(self.final.parent.exists())
        self.write("first")
        with self.assertRaises(ValueError), new_version(self.models, "m"):
            raise ValueError
        self.assertEqual(self.read(), "first")
        self.assertEqual(self.left(), [])

    def test_a_file_that_the_server_would_not_read_is_named(self):
        with self.assertRaisesRegex(ConvertError, "m: its voice.json would have 4194305 bytes, the server reads at most 4194304"), new_version(self.models, "m") as staging:
            (staging / "voice.json").write_bytes(bytes((4 << 20) + 1))
        self.assertFalse(self.final.parent.exists())

    def test_the_old_version_comes_back_when_the_new_one_cannot_take_its_place(self):
        self.write("first")
        rename = os.rename

        def fail_into_place(source, target):
            if target == self.final and not str(source).endswith(".old"):
                raise OSError(errno.EIO, "input/output error", str(source), None, str(target))
            rename(source, target)

        with mock.patch("os.rename", fail_into_place), self.assertRaises(ConvertError) as caught:
            self.write("second")
        self.assertIn(str(self.final), str(caught.exception))
        self.assertEqual(self.read(), "first")
        self.assertEqual(self.left(), [])

    def test_what_a_killed_run_left_is_cleared_or_restored(self):
        self.write("first")
        (self.final.parent / ".1-killed").mkdir()
        self.write("second")
        self.assertEqual(self.left(), [])
        os.rename(self.final, self.final.parent / ".1-killed.old")   # killed between the two renames
        with self.assertRaises(ValueError), new_version(self.models, "m"):
            raise ValueError
        self.assertEqual(self.read(), "second")

    def test_a_full_disk_is_said_of_the_file_that_was_written(self):
        with self.assertRaises(ConvertError) as caught, new_version(self.models, "m"):
            # As shutil.copyfile reports it: with the name of what it copied.
            raise OSError(errno.ENOSPC, "No space left on device", "/elsewhere/vocab.spm")
        self.assertIn(str(self.models), str(caught.exception))
        self.assertNotIn("elsewhere", str(caught.exception))
        self.assertIn("No space left", str(caught.exception))


class Names(unittest.TestCase):
    def test_letters_keep_their_base(self):
        for text, name in (("Stimme für Öl", "stimme-fur-ol"), ("de_DE-Thorsten", "de_de-thorsten"), ("голос", "model"), ("..x", "x")):
            self.assertEqual(name_for(text), name)


if __name__ == "__main__":
    unittest.main()
