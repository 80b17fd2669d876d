import pathlib
import tempfile
import unittest
from unittest import mock

from models.convert import japanese_words
from models.convert.package import ConvertError


class JapaneseWordsTest(unittest.TestCase):
    def test_words_are_sorted_by_their_bytes_and_once_there(self) -> None:
        self.assertEqual(japanese_words.sort_words("学校\n\nました\n 学校 \nア\n"), "ました\nア\n学校\n".encode())

    def test_words_of_misaki_are_written(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "japanese.words"
            japanese_words.write_words(path)
            lines = path.read_bytes().splitlines()
        self.assertGreater(len(lines), 100_000)
        self.assertEqual(lines, sorted(set(lines)))

    def test_a_list_that_is_missing_or_no_text_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            with mock.patch.object(japanese_words, "data_folder", return_value=folder):
                with self.assertRaisesRegex(ConvertError, "ja_words.txt: No such file"):
                    japanese_words.write_words(folder / "out")
                (folder / "ja_words.txt").write_bytes(b"\xff")
                with self.assertRaisesRegex(ConvertError, "ja_words.txt is not UTF-8"):
                    japanese_words.write_words(folder / "out")


if __name__ == "__main__":
    unittest.main()
