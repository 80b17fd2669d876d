import pathlib
import tempfile
import unittest
from unittest import mock

from models.convert import chinese_lexicon
from models.convert.package import ConvertError


class ChineseLexiconTest(unittest.TestCase):
    def test_tones_are_arrows(self) -> None:
        for phonemes, symbols in (("a˧˩˧", "a↓"), ("a˧˥", "a↗"), ("a˥˩", "a↘"), ("a˥", "a→"), ("a", "a"), ("ai̯˥˩", "ai↘"), ("ʂɻ̩˥", "ʂɨ→")):
            self.assertEqual(chinese_lexicon.retoned(phonemes), symbols)

    def test_frequencies_are_those_of_the_lines(self) -> None:
        self.assertEqual(chinese_lexicon.read_frequencies("你好 725 l\n银行 7684 n\n"), {"你好": 725, "银行": 7684})
        with self.assertRaisesRegex(ConvertError, "line 2 has no frequency: 银行"):
            chinese_lexicon.read_frequencies("你好 725 l\n银行\n")

    def test_packages_that_are_missing_are_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(chinese_lexicon, "missing_packages", return_value=["jieba"]):
            with self.assertRaisesRegex(ConvertError, "Chinese needs the packages jieba"):
                chinese_lexicon.write_chinese_lexicon(pathlib.Path(folder) / "lexicon")


if __name__ == "__main__":
    unittest.main()
