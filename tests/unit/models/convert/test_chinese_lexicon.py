import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

from models.convert import chinese_lexicon
from models.convert.package import ConvertError


class ChineseLexiconTest(unittest.TestCase):
    def test_tones_are_arrows(self) -> None:
        for phonemes, symbols in (("a˧˩˧", "a↓"), ("a˧˥", "a↗"), ("a˥˩", "a↘"), ("a˥", "a→"), ("a", "a"), ("ai̯˥˩", "ai↘"), ("ʂɻ̩˥", "ʂɨ→")):
            self.assertEqual(chinese_lexicon.retoned(phonemes), symbols)

    def test_the_three_sounds_that_are_written_i_are_told_apart(self) -> None:
        for initial, final, split in (("n", "i3", ("n", "i", "3")), ("z", "i1", ("z", "ii", "1")), ("sh", "i4", ("sh", "iii", "4")),
                                      ("r", "i4", ("r", "iii", "4")), ("", "er2", ("", "er", "2")), ("sh", "ao3", ("sh", "ao", "3"))):
            self.assertEqual(chinese_lexicon.split_syllable(initial, final), split)

    def test_the_symbols_are_told_by_the_vocabulary(self) -> None:
        self.assertTrue(chinese_lexicon.has_bopomofo({"ㄅ": 1, "a": 2}))
        self.assertFalse(chinese_lexicon.has_bopomofo({"a": 1, "↓": 2}))

    def test_the_kind_of_a_word_is_the_third_field(self) -> None:
        self.assertEqual(chinese_lexicon.read_kinds("你好 725 l\n银行 7684 n\nx 1\n"), {"你好": "l", "银行": "n"})

    def test_frequencies_are_those_of_the_lines(self) -> None:
        self.assertEqual(chinese_lexicon.read_frequencies("你好 725 l\n银行 7684 n\n"), {"你好": 725, "银行": 7684})
        with self.assertRaisesRegex(ConvertError, "line 2 has no frequency: 银行"):
            chinese_lexicon.read_frequencies("你好 725 l\n银行\n")

    def test_only_a_phrase_changes_the_readings_of_its_characters(self) -> None:
        phrases = {"银行": [["yín"], ["háng"]], "行不行": [["xíng"], ["bu"], ["xíng"]], "钱银行": [["qián"], ["yín"], ["xíng"]]}
        numbers = {"yín": "yin2", "háng": "hang2", "xíng": "xing2", "bu": "bu5", "bù": "bu4", "qián": "qian2"}
        pieces = {"银行": ["银行"], "银行钱": ["银行", "钱"], "行不行": ["行不行"], "钱银行": ["钱银行"]}
        modules = {
            "jieba.finalseg": types.SimpleNamespace(start_P=dict.fromkeys("BMES", -1.0), trans_P={state: {} for state in "BMES"},
                                                    emit_P={state: {} for state in "BMES"}),
            "misaki.transcription": types.SimpleNamespace(pinyin_to_ipa=lambda syllable: [[syllable[:-1]]]),
            "pypinyin.constants": types.SimpleNamespace(PHRASES_DICT=phrases, PINYIN_DICT={
                ord("银"): "yín", ord("行"): "xíng,háng", ord("不"): "bù", ord("钱"): "qián"}),
            "pypinyin.contrib.tone_convert": types.SimpleNamespace(tone_to_tone3=lambda tone, neutral_tone_with_five: numbers[tone]),
            "pypinyin.seg": types.SimpleNamespace(mmseg=types.SimpleNamespace(seg=types.SimpleNamespace(cut=pieces.__getitem__))),
        }
        modules["jieba"] = types.SimpleNamespace(finalseg=modules["jieba.finalseg"])
        for package in ("misaki", "pypinyin", "pypinyin.contrib"):
            modules[package] = types.ModuleType(package)
        with mock.patch.dict(sys.modules, modules):
            lines = list(chinese_lexicon._sections({"银行": 9, "银行钱": 4, "银钱": 3, "小姐": 7, "钱银行": 2}, None))
        words = lines[lines.index("[words]") + 1:lines.index("[syllables]")]
        self.assertEqual(sorted(words), sorted(["银\t0\tyin2", "行\t0\txing2", "不\t0\tbu4", "钱\t0\tqian2", "银行\t9\tyin2 hang2",
                                                "银行钱\t4\tyin2 hang2 qian2", "银钱\t3\t", "行不行\t0\txing2 bu5 xing2",
                                                # Its part 银行 is read otherwise.
                                                "钱银行\t2\tqian2 yin2 xing2",
                                                "小姐\t7\t"]))
        self.assertIn("bu5\tbu", lines)

    def test_phrases_that_others_added_stay_out_of_the_lexicon(self) -> None:
        """misaki adds phrases to those of pypinyin, which the lexicon of Kokoro 1.0 must not have, whichever is written first."""
        kept, added = {"银行": [["yín"], ["háng"]]}, {"银行": [["yín"], ["xíng"]], "钱": [["qián"]]}
        constants = types.SimpleNamespace(PHRASES_DICT=dict(added), PINYIN_DICT={1: "a"})
        mmseg = types.SimpleNamespace(seg=types.SimpleNamespace(_prefix_set="theirs"), PrefixSet=lambda: "new", retrain=lambda segmenter: None)
        modules = {name: types.ModuleType(name) for name in ("pypinyin", "pypinyin.seg")}
        modules["pypinyin"].phrases_dict = types.SimpleNamespace(phrases_dict=kept)
        modules["pypinyin"].pinyin_dict = types.SimpleNamespace(pinyin_dict={2: "b"})
        modules["pypinyin.constants"] = constants
        modules["pypinyin.seg"].mmseg = mmseg
        with mock.patch.dict(sys.modules, modules):
            with chinese_lexicon._pinyin(bopomofo=False):
                self.assertEqual((constants.PHRASES_DICT, constants.PINYIN_DICT, mmseg.seg._prefix_set), (kept, {2: "b"}, "new"))
            self.assertEqual((constants.PHRASES_DICT, constants.PINYIN_DICT, mmseg.seg._prefix_set), (added, {1: "a"}, "theirs"))

    @unittest.skipIf(chinese_lexicon.missing_packages(bopomofo=True), "needs misaki[zh]")
    def test_the_same_packages_give_the_same_lexicon(self) -> None:
        """Neither the order of sets, which changes from process to process, nor what was written before shows."""
        command = ("import pathlib, sys; from models.convert.chinese_lexicon import write_chinese_lexicon as write; path = pathlib.Path(sys.argv[1]); "
                   "[write(path, kind == '1') for kind in sys.argv[2:]]")
        with tempfile.TemporaryDirectory() as folder:
            written = []
            for seed, kinds in (("1", "0"), ("2", "10")):
                path = pathlib.Path(folder) / seed
                subprocess.run([sys.executable, "-c", command, str(path), *kinds], check=True, env={**os.environ, "PYTHONHASHSEED": seed})
                written.append(path.read_bytes())
        self.assertEqual(*written)

    def test_a_syllable_without_a_vowel_is_its_nasal(self) -> None:
        modules = {name: types.ModuleType(name) for name in ("misaki", "pypinyin", "pypinyin.contrib")}
        modules["misaki.zh_frontend"] = types.SimpleNamespace(ZH_MAP={"n": "ㄋ", "i": "ㄧ", "2": "2", "3": "3"})
        modules["pypinyin.contrib.tone_convert"] = types.SimpleNamespace(
            to_initials=lambda syllable: "n" if syllable == "ni3" else "",
            to_finals_tone3=lambda syllable, neutral_tone_with_five: {"ni3": "i3"}.get(syllable, ""))
        with mock.patch.dict(sys.modules, modules):
            symbols = chinese_lexicon._bopomofo()
            self.assertEqual(symbols("n2"), "ㄋ2")   # 嗯
            self.assertEqual(symbols("ni3"), "ㄋㄧ3")
            with self.assertRaises(ValueError):
                symbols("hm5")

    def test_packages_that_are_missing_are_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(chinese_lexicon, "missing_packages", return_value=["jieba"]):
            with self.assertRaisesRegex(ConvertError, "Chinese needs the packages jieba"):
                chinese_lexicon.write_chinese_lexicon(pathlib.Path(folder) / "lexicon")


if __name__ == "__main__":
    unittest.main()
