#!/usr/bin/env python3
"""Writes models/text/letter_profiles.txt from the letter statistics of the Python package langdetect, which are those of running text, from
the words of the package simplemma, from how often words occur in the dictionaries of the package pyspellchecker, and from the lists of words
of the package mnemonic.

Usage: python3 -m pip install langdetect mnemonic pyspellchecker simplemma && scripts/make_letter_profiles.py > models/text/letter_profiles.txt
"""

import collections
import json
import math
import os
import random
import textwrap
import unicodedata

import langdetect
import mnemonic
import spellchecker
from simplemma.strategies.dictionaries.dictionary_factory import _load_dictionary_from_disk

LANGUAGES = "en pt es fr de it nl pl sv da no fi cs tr ro hu ru bg uk".split()
MOST = {1: 100, 2: 500, 3: 2000, 4: 1200}  # sequences of each length; of four letters only those that begin or end a word
SAMPLE = 40_000  # words of each language
MOST_FORMS = 6   # of one word
# The lists of 2,048 common words by which people write down keys (BIP 39).
WORD_LISTS = {"en": "english", "pt": "portuguese", "es": "spanish", "fr": "french", "it": "italian", "cs": "czech", "tr": "turkish",
              "ru": "russian"}
# How many of the most frequent words of a language are taken, and by how much the logarithm of the frequency may be less than that of the
# same word in another of these languages, from which it may have come into the count: "de" in English.
FREQUENT_WORDS = {"en": 6000, "pt": 6000, "es": 3000, "fr": 2000, "de": 2000, "it": 3000, "nl": 1500}
MOST_LESS = 4
LEVELS_PER_NAT = 4
WIDTH = 96


def text_shares(language):
    """The part that each sequence has among those of its length in running text, by length."""
    folder = os.path.join(os.path.dirname(langdetect.__file__), "profiles")
    with open(os.path.join(folder, language), encoding="utf-8") as file:
        counts = json.load(file)
    shares = {length: {} for length in MOST}
    for gram, n in counts["freq"].items():
        if gram == gram.lower():
            shares[len(gram)][gram.replace(" ", "_")] = n / counts["n_words"][len(gram) - 1]
    return shares


def word_counts(language):
    """How often each sequence occurs in a sample of words, by length. The many forms of one word count less than as many words."""
    lemmas = collections.defaultdict(list)
    for form, lemma in _load_dictionary_from_disk({"no": "nb"}.get(language, language)).items():
        word = form.decode()
        if len(word) > 1 and word.isalpha() and word == word.lower():
            lemmas[lemma].append(word)
    chance = random.Random(7)
    order = sorted(lemmas)
    chance.shuffle(order)
    counts, sampled = {length: collections.Counter() for length in MOST}, 0
    for lemma in order:
        forms = lemmas[lemma]
        weight = 1 / math.sqrt(len(forms))
        if len(forms) > MOST_FORMS:
            weight = math.sqrt(len(forms)) / MOST_FORMS
            forms = chance.sample(forms, MOST_FORMS)
        for form in forms:
            letters = f"_{unicodedata.normalize('NFC', form)}_"
            sampled += 1
            for length in MOST:
                for begin in range(len(letters) - length + 1):
                    counts[length][letters[begin:begin + length]] += weight
        if sampled > SAMPLE:
            break
    del counts[1]["_"]
    return counts


def profile(language):
    text, counts = text_shares(language), word_counts(language)
    levels = {}
    for length, most in MOST.items():
        total = sum(counts[length].values())
        if length == 4:
            found = {gram: n / total for gram, n in counts[length].items() if "_" in (gram[0], gram[-1])}
        else:
            found = {gram: (text[length].get(gram, 0) + counts[length][gram] / total) / 2 for gram in {*text[length], *counts[length]}}
        for share, gram in sorted(((share, gram) for gram, share in found.items()), reverse=True)[:most]:
            levels.setdefault(round(-math.log(share) * LEVELS_PER_NAT), []).append(gram)
    return " ".join(f"{level} " + " ".join(sorted(grams)) for level, grams in sorted(levels.items()))


def words(language):
    with open(os.path.join(os.path.dirname(mnemonic.__file__), "wordlist", WORD_LISTS[language] + ".txt"), encoding="utf-8") as file:
        return unicodedata.normalize("NFC", " ".join(file.read().split()))


def frequencies():
    """The logarithm of the frequency of each word, for each language."""
    found = {}
    for language in FREQUENT_WORDS:
        counts = spellchecker.SpellChecker(language=language).word_frequency.dictionary
        total = sum(counts.values())
        found[language] = {unicodedata.normalize("NFC", word): math.log(n / total) for word, n in counts.items()}
    return found


def frequent_words(language, known):
    """The most frequent words of a language behind their level."""
    levels = {}
    for word, frequency in sorted(known[language].items(), key=lambda entry: (-entry[1], entry[0]))[:FREQUENT_WORDS[language]]:
        best = max(words[word] for words in known.values() if word in words)
        if word.isalpha() and frequency >= best - MOST_LESS:
            levels.setdefault(round(-frequency), []).append(word)
    return " ".join(f"{level} " + " ".join(sorted(found)) for level, found in sorted(levels.items()))


def main():
    print("# scripts/make_letter_profiles.py wrote this from the profiles of langdetect (Apache License 2.0), statistics")
    print("# of the words of simplemma (MIT License; its words are those of several public dictionaries), the words of")
    print("# pyspellchecker (MIT License), which counted them in subtitles of films, and the lists of words of mnemonic")
    print("# (MIT License).")
    print("#")
    print("# [LANGUAGE sequences]: a number L, and behind it the sequences of letters whose probability is exp(-L / 4).")
    print("# '_' is the beginning or the end of a word. [LANGUAGE words]: some words of the language, where known behind")
    print("# a number L if the probability of each of them is exp(-L).")
    known = frequencies()
    for language in LANGUAGES:
        print(f"[{language} sequences]\n{textwrap.fill(profile(language), WIDTH)}")
        if language in FREQUENT_WORDS:
            print(f"[{language} words]\n{textwrap.fill(frequent_words(language, known), WIDTH)}")
        if language in WORD_LISTS:
            print(f"[{language} words]\n{textwrap.fill(words(language), WIDTH)}")


if __name__ == "__main__":
    main()
