#!/usr/bin/env python3
"""How many sentences in Japanese or Chinese are read with the phonemes that misaki gives, and which are not.

Needs misaki[ja] without the package unidic, and unidic-lite, whose dictionary MeCab then reads in both; or misaki[zh]:

    python3 -m venv var/misaki && var/misaki/bin/pip install 'misaki[ja,zh]' unidic-lite && var/misaki/bin/pip uninstall -y unidic
    ninja -C build east_asian_g2p_main
    var/misaki/bin/python tests/unit/models/text/misaki/compare_misaki.py ja

Usage: compare_misaki.py ja | zh | zh-1.1 [--count N] [--sentences FILE] [--golden FILE [--cut FILE | --lexicon FILE]] [--random N]
[--seed N] [--program PATH];
--sentences takes the lines of a file in place of our own; --golden compares with the phonemes of a file instead, for zh-1.1 those of
tests/data/text/chinese.misaki.txt; --cut writes the part of the lexicon that its sentences need, tests/data/text/chinese.lexicon, which
--lexicon reads in place of the packages; --random gives the program alone N rows of characters, and checks that it answers each."""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[5]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from sentences import random_sentences, sentences  # noqa: E402


def reader(language: str) -> Callable[[str], str]:
    if language == "ja":
        from misaki.ja import JAG2P
        g2p = JAG2P()
    else:
        from misaki.zh import ZHG2P
        g2p = ZHG2P(version="1.1" if language == "zh-1.1" else None)
    return lambda text: g2p(text)[0]


def run_program(program: str, language: str, folder: Path, texts: list[str]) -> list[str]:
    """The phonemes of the texts, with the words or the lexicon that the converter makes of misaki's."""
    lexicon = folder / "lexicon"
    environment = dict(os.environ)
    if lexicon.exists():
        pass
    elif language == "ja":
        import unidic_lite
        from models.convert.japanese_words import write_words
        write_words(lexicon)
        (folder / "mecabrc").write_text(f"dicdir = {unidic_lite.DICDIR}\n")
        environment["MECABRC"] = str(folder / "mecabrc")
    else:
        from models.convert.chinese_lexicon import write_chinese_lexicon
        write_chinese_lexicon(lexicon, bopomofo=language == "zh-1.1")
    # Some characters of random rows would end a line.
    rows = "".join(re.sub(r"\s", " ", text) + "\n" for text in texts)
    done = subprocess.run([program, language[:2], str(lexicon)], input=rows, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr}")
    answers = done.stdout.splitlines()
    if len(answers) != len(texts):
        sys.exit(f"{program} gave {len(answers)} answers to {len(texts)} texts")
    return answers


def cut_lexicon(lexicon: str, written: str) -> str:
    """The lines of a lexicon for 1.1-zh that the text, whose numbers are written out, has the words or the characters of."""
    longest = 8
    parts = {line[i:k] for line in written.splitlines() for i in range(len(line)) for k in range(i + 1, min(i + longest, len(line)) + 1)}
    kept = []
    section = ""
    for line in lexicon.splitlines():
        if line.startswith("["):
            section = line
        elif section in ("[words]", "[emissions]") and line.split("\t")[0] not in parts:
            continue
        elif section in ("[start]", "[transitions]", "[emissions]"):
            line = re.sub(r"-\d+\.\d+(?!\d*e)", lambda number: f"{float(number[0]):.2f}", line)
        kept.append(line)
    return "".join(line + "\n" for line in kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("language", choices=("ja", "zh", "zh-1.1"))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--sentences", type=Path, metavar="FILE")
    parser.add_argument("--golden", type=Path, metavar="FILE")
    parser.add_argument("--cut", type=Path, metavar="FILE")
    parser.add_argument("--lexicon", type=Path, metavar="FILE")
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", default=str(ROOT / "build/tests/unit/models/text/misaki/east_asian_g2p_main"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.lexicon:
            shutil.copy(options.lexicon, Path(folder) / "lexicon")
        if options.random > 0:
            texts = random_sentences(options.language[:2], options.random, options.seed)
            answers = run_program(options.program, options.language, Path(folder), texts)
            refused = sum("INVALID_ARGUMENT" in answer for answer in answers)
            print(f"{len(answers)} random sentences answered, {refused} of them refused by name")
            return
        if options.golden:
            rows = [line.split("\t") for line in options.golden.read_text(encoding="utf-8").splitlines()]
            answers = run_program(options.program, options.language, Path(folder), [text for text, _ in rows])
            if options.cut:
                texts = "".join(text + "\n" for text, _ in rows)
                written = subprocess.run([options.program, "written"], input=texts, capture_output=True, text=True, check=True).stdout
                options.cut.write_text(cut_lexicon((Path(folder) / "lexicon").read_text(encoding="utf-8"), written), encoding="utf-8")
            wrong = [(text, golden, answer) for (text, golden), answer in zip(rows, answers, strict=True) if answer != golden]
            for text, golden, answer in wrong:
                print(f"{text}\n  ours   {answer}\n  golden {golden}")
            print(f"{len(rows) - len(wrong)} of {len(rows)} sentences are read as the file has them")
            sys.exit(1 if wrong else 0)
        if options.sentences:
            asked = [("lines", line) for line in options.sentences.read_text(encoding="utf-8").splitlines() if line.strip()]
        else:
            asked = sentences(options.language[:2], options.count, options.seed)
        answers = run_program(options.program, options.language, Path(folder), [text for _, text in asked])
    same = collections.Counter()
    misaki = reader(options.language)
    for (kind, text), ours in zip(asked, answers, strict=True):
        theirs = misaki(text)
        if ours == theirs:
            same[kind] += 1
        else:
            print(f"{kind}: {text}\n  ours   {ours}\n  misaki {theirs}")
    for kind in dict.fromkeys(kind for kind, _ in asked):
        print(f"{kind}: {same[kind]} of {sum(each == kind for each, _ in asked)}")
    print(f"{options.language}: {same.total()} of {len(asked)} sentences have misaki's phonemes ({100 * same.total() / len(asked):.1f} %)")


if __name__ == "__main__":
    main()
