"""Words, readings and sounds of Chinese from the packages jieba, pypinyin and misaki, as models/text/chinese/chinese_lexicon.h reads them.

A text in UTF-8 of sections, each begun by its name in brackets; fields are separated by tabs:
  [total]        the sum of the frequencies
  [words]        word, frequency (0: only a reading), pinyin with tone numbers (empty: that of its characters); sorted by bytes.
                 Of 1.1-zh, 6 is a third tone that another one makes the second
  [syllables]    pinyin with a tone number, misaki's symbols: of Kokoro 1.0, or of 1.1-zh, which writes Bopomofo and tone numbers
  [start]        state (B, M, E or S, of 1.1-zh with a part of speech), logarithm of its probability at the beginning of characters that
                 are no word of the list
  [transitions]  state, next state, logarithm
  [emissions]    character, then each state that it may have with the logarithm
"""

import contextlib
import functools
import importlib
import importlib.util
import pathlib
import re
import types
from collections.abc import Callable, Iterable, Iterator

from .package import ConvertError

PACKAGES = ("jieba", "pypinyin", "misaki", "ordered_set")
BOPOMOFO_PACKAGES = (*PACKAGES, "pypinyin_dict", "addict")
NEVER = -3.14e100
RAISED = "6"   # the number of a third tone that sounds as the second
SELDOM = 50   # a word that occurs less often keeps the tones of its characters
# Characters that are read; the list of words has no others.
FIRST, LAST = 0x4E00, 0x9FFF
# The tones of misaki's transcription, longest first, and the symbols of the voices.
TONES = (("˧˩˧", "↓"), ("˧˥", "↗"), ("˥˩", "↘"), ("˥", "→"))
VOWELS_OF_SIBILANTS = ("ɻ\u0329", "ɹ\u0329")


def missing_packages(bopomofo: bool = False) -> list[str]:
    return [name for name in (BOPOMOFO_PACKAGES if bopomofo else PACKAGES) if importlib.util.find_spec(name) is None]


def has_bopomofo(vocabulary: Iterable[str]) -> bool:
    """Whether these are the symbols of Kokoro 1.1-zh."""
    return "ㄅ" in vocabulary


def retoned(phonemes: str) -> str:
    for tone, symbol in TONES:
        phonemes = phonemes.replace(tone, symbol)
    for vowel in VOWELS_OF_SIBILANTS:
        phonemes = phonemes.replace(vowel, "ɨ")
    return phonemes.replace("\u032f", "")


def read_frequencies(text: str) -> dict[str, int]:
    """Words of Chinese characters alone, and how often each occurs."""
    frequencies = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split(" ")
        if len(fields) < 2 or not fields[1].isdigit():
            raise ConvertError(f"the dictionary of jieba, line {number} has no frequency: {line}")
        frequencies[fields[0]] = int(fields[1])
    return frequencies


def split_syllable(initial: str, final: str) -> tuple[str, str, str]:
    """The initial, the final as misaki names it, and the tone, of pypinyin's initial and final with its tone."""
    if re.fullmatch(r"i\d", final):   # three sounds are written i
        final = {"z": "i", "c": "i", "s": "i", "zh": "ii", "ch": "ii", "sh": "ii", "r": "ii"}.get(initial, "") + final
    return initial, final[:-1], final[-1]


def _arrows() -> Callable[[str], str]:
    from misaki.transcription import pinyin_to_ipa
    return lambda syllable: retoned("".join(pinyin_to_ipa(syllable)[0]))


def _bopomofo() -> Callable[[str], str]:
    from misaki.zh_frontend import ZH_MAP
    from pypinyin.contrib.tone_convert import to_finals_tone3, to_initials

    def symbols(syllable: str) -> str:
        final = to_finals_tone3(syllable, neutral_tone_with_five=True)
        if re.fullmatch(r"n\d", syllable):   # 嗯 has no vowel
            final = syllable
        if not re.fullmatch(r"\D+\d", final):
            raise ValueError(syllable)
        parts = split_syllable(to_initials(syllable), final)
        if any(part and part not in ZH_MAP for part in parts):
            raise ValueError(syllable)
        return "".join(ZH_MAP[part] for part in parts if part)
    return symbols


@contextlib.contextmanager
def _pinyin(bopomofo: bool) -> Iterator[None]:
    """The phrases of pypinyin alone, whatever others added to them in this process; for 1.1-zh also those that misaki adds."""
    from pypinyin import phrases_dict, pinyin_dict
    from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
    from pypinyin.seg import mmseg

    def fill(phrases: dict, characters: dict) -> None:
        for changed, kept in ((PHRASES_DICT, phrases), (PINYIN_DICT, characters)):
            changed.clear()
            changed.update(kept)

    before = dict(PHRASES_DICT), dict(PINYIN_DICT), mmseg.seg._prefix_set
    fill(phrases_dict.phrases_dict, pinyin_dict.pinyin_dict)
    # Training only adds to what was there.
    mmseg.seg._prefix_set = mmseg.PrefixSet()
    mmseg.retrain(mmseg.seg)
    try:
        if bopomofo:
            from misaki.zh_frontend import ZHFrontend
            ZHFrontend()
        yield
    finally:
        fill(*before[:2])
        mmseg.seg._prefix_set = before[2]


def read_kinds(text: str) -> dict[str, str]:
    """The part of speech of each word of jieba's dictionary."""
    return {fields[0]: fields[2] for line in text.splitlines() if len(fields := line.split(" ")) > 2}


def _is_chinese(word: str) -> bool:
    return all(FIRST <= ord(c) <= LAST for c in word)


def _sections(frequencies: dict[str, int], kinds: dict[str, str] | None) -> Iterable[str]:
    """kinds: of words, whose tones change in company; None: the voices change them by themselves."""
    from jieba import finalseg
    from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
    from pypinyin.contrib.tone_convert import tone_to_tone3
    from pypinyin.seg import mmseg

    # There are 1,600 syllables in hundreds of thousands of readings.
    numbered = functools.cache(functools.partial(tone_to_tone3, neutral_tone_with_five=True))
    characters = {chr(c): numbered(PINYIN_DICT[c].split(",")[0]) for c in range(FIRST, LAST + 1) if c in PINYIN_DICT}

    modified = None
    if kinds is not None:
        from misaki.tone_sandhi import ToneSandhi
        modified = ToneSandhi().modified_tone

    def read(word: str) -> list[str]:
        """As pypinyin.lazy_pinyin gives it, which takes ten times as long; then with the tones that it has in company."""
        reading = []
        for piece in mmseg.seg.cut(word):
            phrase = PHRASES_DICT.get(piece)
            reading += [numbered(ways[0]) for ways in phrase] if phrase else [characters.get(c, c) for c in piece]
        changes = modified is not None and frequencies.get(word, 0) >= SELDOM and len(reading) == len(word) > 1
        if not changes:
            return reading
        spoken = modified(word, kinds.get(word, "n"), list(reading))
        return [after[:-1] + RAISED if before[-1] + after[-1] == "32" else after for before, after in zip(reading, spoken, strict=True)]

    def plain(word: str) -> list[str | None]:
        return [characters.get(c) for c in word]

    @functools.cache
    def differs(word: str) -> bool:
        """Whether it is a phrase that is read otherwise than its characters."""
        return word in PHRASES_DICT and [numbered(ways[0]) for ways in PHRASES_DICT[word]] != plain(word)

    syllables = set(characters.values())
    phrases = {word for word in PHRASES_DICT if len(word) > 1 and _is_chinese(word)}
    lines = {c: f"{c}\t{frequencies.get(c, 0)}\t{reading}" for c, reading in characters.items()}
    for word in {word for word in frequencies if len(word) > 1 and _is_chinese(word)} | phrases:
        pinyin = ""
        # Only a phrase or another tone makes the reading another one than that of the characters.
        if (modified is not None and frequencies.get(word, 0) >= SELDOM) or any(word[i:k] in phrases for i in range(len(word)) for k in range(i + 2, len(word) + 1)):
            reading = read(word)
            # A part of it may be read otherwise: 一月, but 十一月.
            parts = (word[i:k] for i in range(len(word)) for k in range(i + 2, len(word) + 1) if k - i < len(word))
            if reading != plain(word) or any(map(differs, parts)):
                pinyin = " ".join(reading)
                syllables.update(syllable.replace(RAISED, "2") for syllable in reading)
        if pinyin or frequencies.get(word, 0):
            lines[word] = f"{word}\t{frequencies.get(word, 0)}\t{pinyin}"
    yield "[total]"
    yield str(sum(frequencies.values()))
    yield "[words]"
    yield from (lines[word] for word in sorted(lines, key=str.encode))
    yield "[syllables]"
    symbols = _arrows() if kinds is None else _bopomofo()
    for syllable in sorted(syllables):
        try:
            phonemes = symbols(syllable)
        except ValueError:
            continue   # a reading that misaki has no symbols for
        yield f"{syllable}\t{phonemes}"
    yield from _markov_model(finalseg if kinds is None else importlib.import_module("jieba.posseg"))


def _markov_model(model: types.ModuleType) -> Iterable[str]:
    """jieba.finalseg, or jieba.posseg, whose states have parts of speech."""
    names = {state: "".join(state) for state in model.start_P}
    yield "[start]"
    yield from (f"{names[state]}\t{max(value, NEVER)!r}" for state, value in model.start_P.items())
    yield "[transitions]"
    yield from (f"{names[state]}\t{names[after]}\t{value!r}" for state, values in model.trans_P.items() for after, value in values.items())
    emissions: dict[str, list[str]] = {}
    for state, values in model.emit_P.items():
        for character, value in values.items():
            if len(character) == 1 and _is_chinese(character):
                emissions.setdefault(character, []).append(f"{names[state]}\t{value:.9g}")
    yield "[emissions]"
    yield from ("\t".join([character, *emissions[character]]) for character in sorted(emissions, key=str.encode))


def write_chinese_lexicon(path: pathlib.Path, bopomofo: bool = False) -> None:
    missing = missing_packages(bopomofo)
    if missing:
        raise ConvertError(f"Chinese needs the packages {', '.join(missing)}; install them with pip")
    spec = importlib.util.find_spec("jieba")
    folder = pathlib.Path(next(iter(spec.submodule_search_locations or [])))
    try:
        text = (folder / "dict.txt").read_text(encoding="utf-8")
    except OSError as error:
        raise ConvertError(f"cannot read {folder / 'dict.txt'}: {error.strerror}") from error
    with _pinyin(bopomofo):
        lines = _sections(read_frequencies(text), read_kinds(text) if bopomofo else None)
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
