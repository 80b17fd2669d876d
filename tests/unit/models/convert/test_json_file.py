"""The JSON files of strangers are bounded, and each that is wrong gives one message with its name."""

import pathlib
import tempfile
import unittest
import unittest.mock

from models.convert import json_file
from models.convert.package import ConvertError


class JsonFile(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name) / "config.json"

    def assert_refused(self, message):
        with self.assertRaises(ConvertError) as caught:
            json_file.read_object(self.path)
        self.assertIn(f"{self.path}", str(caught.exception))
        self.assertIn(message, str(caught.exception))

    def test_an_object_is_read(self):
        self.path.write_text('{"a": [1]}')
        self.assertEqual(json_file.read_object(self.path), {"a": [1]})

    def test_each_encoding_of_unicode_is_read(self):
        for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32"):
            self.path.write_bytes('{"ö": 1}'.encode(encoding))
            self.assertEqual(json_file.read_object(self.path), {"ö": 1})

    def test_what_is_no_json_is_refused(self):
        for data, message in ((b"", "is not JSON"), (b"{", "is not JSON"), (b"\xff\xfe", "is not JSON"), (b"[" * 1_000_000, "is not JSON"),
                              (b'{"a":' * 1_000_000, "is not JSON"), (b"[1]", "is not a JSON object"), (b"NaN", "is not a JSON object"),
                              (b"1" * 5_000, "is not JSON")):
            with self.subTest(data=data[:10]):
                self.path.write_bytes(data)
                self.assert_refused(message)

    def test_a_file_that_is_too_large_is_not_read(self):
        with open(self.path, "wb") as file:
            file.truncate(1 << 40)   # without blocks
        with unittest.mock.patch.object(json_file, "MOST_BYTES", 1000):
            self.assert_refused("is larger than 1000 bytes")

    def test_a_file_that_is_not_there_is_named(self):
        self.assert_refused("No such file")


if __name__ == "__main__":
    unittest.main()
