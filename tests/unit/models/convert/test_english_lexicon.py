"""The packed lexicon of English words."""

import json
import pathlib
import struct
import tempfile
import unittest
import zlib

from models.convert import english_lexicon
from models.convert.package import ConvertError


def entries(packed: bytes) -> dict[str, str]:
    dialect, count, size, crc = struct.unpack_from("<4I", packed, 8)
    offsets = struct.unpack_from(f"<{count + 1}I", packed, 24)
    text = packed[24 + 4 * (count + 1):]
    assert len(text) == size and crc == zlib.crc32(packed[24:], zlib.crc32(packed[:20]))
    pairs = [text[begin:end].split(b"\0") for begin, end in zip(offsets, offsets[1:])]
    assert [word for word, _ in pairs] == sorted(word for word, _ in pairs)
    return {word.decode(): value.decode() for word, value in pairs}


class PackTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def pack(self, gold: object, silver: object) -> bytes:
        for name, words in (("gold", gold), ("silver", silver)):
            (self.folder / name).write_text(json.dumps(words), encoding="utf-8")
        return english_lexicon.pack("en-gb", self.folder / "gold", self.folder / "silver")

    def test_checked_words_win_and_symbols_are_those_of_the_voices(self) -> None:
        packed = self.pack({"city": "sˈɪɾi"}, {"city": "x", "zoo": "zˈuʔ"})
        self.assertEqual(entries(packed), {"city": "gsˈɪTi", "zoo": "szˈut"})
        self.assertEqual(struct.unpack_from("<I", packed, 8)[0], 1)

    def test_parts_of_speech_follow_the_default(self) -> None:
        packed = self.pack({"US": {"NOUN": None, "DEFAULT": "ˌʌs"}, "live": {"DEFAULT": "a", "VERB": "b"}}, {"x": "y"})
        self.assertEqual(entries(packed), {"US": "gˌʌs\tNOUN", "live": "ga\tVERB=b", "x": "sy"})

    def test_what_cannot_be_packed_is_refused_by_name(self) -> None:
        for words in ({"live": {"VERB": "b"}}, {"a\tlive": "x"}, {"live": "x\ty"}):
            with self.assertRaisesRegex(ConvertError, "gold: the word '.*live'"):
                self.pack(words, {"x": "y"})
        with self.assertRaisesRegex(ConvertError, "silver is not a dictionary"):
            self.pack({"x": "y"}, [])

    def test_an_unknown_dialect_is_refused(self) -> None:
        with self.assertRaisesRegex(ConvertError, "'en-au'; allowed are en-us, en-gb"):
            english_lexicon.write_lexicon(self.folder / "lexicon", "en-au")


if __name__ == "__main__":
    unittest.main()
