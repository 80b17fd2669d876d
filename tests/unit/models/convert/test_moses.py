"""The rules of texts are Moses', by what sacremoses makes of the same (make_moses_golden.py)."""

import json
import pathlib
import re
import unittest

from models.convert.moses import Rule, text_of_words, words_of_text

GOLDEN = json.loads((pathlib.Path(__file__).parents[3] / "data/translation/moses_golden.json").read_text(encoding="utf-8"))


def apply(rules: list[Rule], text: str) -> str:
    """As the server does, which takes RE2."""
    for pattern, replacement in rules:
        text = re.sub(pattern, replacement, text)
    return text


class Rules(unittest.TestCase):
    def test_texts_become_moses_words(self):
        for language, entries in GOLDEN["texts"].items():
            rules = words_of_text(language, GOLDEN["prefixes"][language])
            for entry in entries:
                with self.subTest(entry["text"]):
                    self.assertEqual(apply(rules, entry["text"]), entry["words"])

    def test_words_become_moses_text(self):
        for language, entries in GOLDEN["words"].items():
            rules = text_of_words(language)
            for entry in entries:
                with self.subTest(entry["words"]):
                    self.assertEqual(apply(rules, entry["words"]), entry["text"])

    def test_without_a_list_initials_keep_their_full_stops(self):
        self.assertEqual(apply(words_of_text("en"), "J. Smith of St. Ives"), "J. Smith of St . Ives")

    def test_no_rule_matches_nothing(self):
        """The server would stop there, and Python would not."""
        for language in GOLDEN["texts"]:
            for pattern, _ in words_of_text(language) + text_of_words(language):
                self.assertIsNone(re.search(f"(?:{pattern})\\Z", "") if pattern not in ("^ *(.*?) *$",) else None, pattern)


if __name__ == "__main__":
    unittest.main()
