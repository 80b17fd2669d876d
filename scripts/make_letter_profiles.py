#!/usr/bin/env python3
"""Writes models/text/letter_profiles.cc from the letter statistics of the Python package langdetect and the lists of words of the package
mnemonic.

Usage: python3 -m pip install langdetect mnemonic && scripts/make_letter_profiles.py > models/text/letter_profiles.cc
"""

import json
import math
import os
import unicodedata

import langdetect
import mnemonic

LANGUAGES = "en pt es fr de it nl pl sv da no fi cs tr ro hu ru bg uk".split()
MOST = {1: 100, 2: 400, 3: 1500}  # sequences of each length
# The lists of 2,048 common words by which people write down keys (BIP 39).
WORD_LISTS = {"en": "english", "pt": "portuguese", "es": "spanish", "fr": "french", "it": "italian", "cs": "czech", "tr": "turkish",
              "ru": "russian"}
LEVELS_PER_NAT = 4
WIDTH = 96


def profile(language):
    folder = os.path.join(os.path.dirname(langdetect.__file__), "profiles")
    with open(os.path.join(folder, language), encoding="utf-8") as file:
        counts = json.load(file)
    levels = {}
    for length, most in MOST.items():
        total = counts["n_words"][length - 1]
        found = [(n, gram) for gram, n in counts["freq"].items() if len(gram) == length and gram == gram.lower()]
        for n, gram in sorted(found, reverse=True)[:most]:
            level = round(-math.log(n / total) * LEVELS_PER_NAT)
            levels.setdefault(level, []).append(gram.replace(" ", "_"))
    return " ".join(f"{level} " + " ".join(sorted(grams)) for level, grams in sorted(levels.items()))


def words(language):
    if language not in WORD_LISTS:
        return ""
    with open(os.path.join(os.path.dirname(mnemonic.__file__), "wordlist", WORD_LISTS[language] + ".txt"), encoding="utf-8") as file:
        return unicodedata.normalize("NFC", " ".join(file.read().split()))


def print_literal(text, ending):
    while len(text) > WIDTH:
        end = text.rindex(" ", 0, WIDTH) + 1
        print(f'     "{text[:end]}"')
        text = text[end:]
    print(f'     "{text}"{ending}')


def main():
    print('#include "models/text/letter_profiles.h"\n')
    print("namespace millrace::models {\n")
    print("// scripts/make_letter_profiles.py wrote this from the profiles of langdetect (Apache License 2.0) and the")
    print("// lists of words of mnemonic (MIT License).")
    print("// clang-format off")
    print(f"const std::array<LetterProfile, {len(LANGUAGES)}> kLetterProfiles = {{{{")
    for language in LANGUAGES:
        print(f'    {{"{language}",')
        print_literal(profile(language), ",")
        print_literal(words(language), "")
        print("    },")
    print("}};\n// clang-format on\n\n}  // namespace millrace::models")


if __name__ == "__main__":
    main()
