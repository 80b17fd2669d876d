#!/usr/bin/env python3
"""Writes models/text/letter_profiles.cc from the letter statistics of the Python package langdetect.

Usage: python3 -m pip install langdetect && scripts/make_letter_profiles.py > models/text/letter_profiles.cc
"""

import json
import math
import os

import langdetect

LANGUAGES = "en pt es fr de it nl pl sv da no fi cs tr ro hu ru bg uk".split()
MOST = {1: 100, 2: 200, 3: 600}  # sequences of each length
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


def main():
    print('#include "models/text/letter_profiles.h"\n')
    print("namespace millrace::models {\n")
    print("// scripts/make_letter_profiles.py wrote this from the profiles of langdetect (Apache License 2.0).")
    print("// clang-format off")
    print(f"const std::array<LetterProfile, {len(LANGUAGES)}> kLetterProfiles = {{{{")
    for language in LANGUAGES:
        print(f'    {{"{language}",')
        text = profile(language)
        while text:
            end = len(text) if len(text) <= WIDTH else text.rindex(" ", 0, WIDTH) + 1
            print(f'     "{text[:end]}"')
            text = text[end:]
        print("    },")
    print("}};\n// clang-format on\n\n}  // namespace millrace::models")


if __name__ == "__main__":
    main()
