"""Moses' tokens as rules of text: what normalises a text and divides it into words, and what joins words to a text.

A rule is a pattern of RE2, which is one of Python's too, and what replaces each of its matches; the server applies one after another. Classes of
characters are written out, because RE2 has no property Alphabetic. What Moses asks of the word behind is asked between words that stand two spaces
apart, so that no match takes the space of the next one.
"""

import functools
import re
import sys
import unicodedata

Rule = tuple[str, str]

_SPACE = "\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_HELD = "\ue000"   # a full stop that belongs to its word; between words: no space
_WIDE = "\ue001"   # between words: a space, whatever stands before it
_HAN = (0x3400, 0x4dbf), (0x4e00, 0x9fff), (0xf900, 0xfad9), (0x20000, 0x3ffff)
_HANGUL = (0xac00, 0xd7a3),
_MARKS = (0x3001, 0x3003), (0x3008, 0x3011), (0x3013, 0x301f), (0x30fb, 0x30fb), (0xff61, 0xff65)   # that those scripts share
_JOINED = ((0x1100, 0x11ff), (0x2e80, 0xa4cf), (0xa840, 0xa87f), (0xac00, 0xd7af), (0xf900, 0xfaff), (0xfe30, 0xfe4f), (0xff65, 0xffdc),
           (0x17000, 0x18aff), (0x1b000, 0x1b12f), (0x1b170, 0x1b2ff), (0x20000, 0x2ffff))
_ESCAPES = (("&", "&amp;"), ("|", "&#124;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&apos;"), ('"', "&quot;"), ("[", "&#91;"), ("]", "&#93;"))
_OLD_ESCAPES = (("|", "&bar;"), ("[", "&bra;"), ("]", "&ket;"))
_INITIALS = [chr(c) for c in (*range(0x41, 0x5b), *range(0x391, 0x3aa), *range(0x410, 0x430))]
_NUMERIC = "#NUMERIC_ONLY#"


def words_of_text(language: str, prefixes: list[str] | None = None) -> list[Rule]:
    """prefixes: words before whose full stop no sentence ends, as Moses lists them; None: initials."""
    return _normalised(language) + _divided(language, _INITIALS if prefixes is None else prefixes)


def prefixes_of(language: str) -> list[str] | None:
    """Those that the package sacremoses has of the language; None where it is not installed."""
    try:
        from sacremoses.corpus import NonbreakingPrefixes   # loaded here, because only packages of this kind have a use for it
    except ImportError:
        return None
    return [prefix.strip() for prefix in NonbreakingPrefixes().words(language)]


def text_of_words(language: str) -> list[Rule]:
    """Words stand one space apart."""
    letter = _letters("")
    rules = [(" @-@ ", "-")]
    rules += [(escape, character) for character, escape in _OLD_ESCAPES + _ESCAPES[1:] + _ESCAPES[:1]]
    rules += [(f"[{_SPACE}]+", "  "), ("^ *(.*?) *$", r" \1 ")]
    if language != "ko":
        joined = "".join(map(_range, _JOINED))
        rules += [(f"([{joined}])  ([{joined}])", rf"\1  {_HELD}\2")] * 2
    rules += [(rf" ([{_class('money')}(\[{{¿¡]+) ", rf" \1{_HELD} ")]
    if language == "fr":
        rules += [(r" ([?!:;\\%]) ", rf" {_WIDE}\1 ")]
    rules += [(r" ([,.?!:;\\%}\])]+) ", rf" {_HELD}\1 ")]
    if language == "en":
        rules += [(f"  ('[{letter}])", rf"  {_HELD}\1")]
    if language in ("fr", "it", "ga"):
        rules += [(rf"([{letter}]')  ([{letter}])", rf"\1{_HELD}  \2")] * 2
    if language == "cs":
        rules += [(" „ ", f" „{_HELD} "), (" “ ", f" {_HELD}“ ")]
    for quote in ('"|[„“]+', "''", "``", "`", "'"):
        before = "(^ |[^s ]  )" if quote == "'" and language == "en" else "( )"
        rules += [(rf"{before}({quote})  ((?:.*?  )??)({quote}) ", rf"\1\2{_HELD}  \3{_HELD}\4 ")]
        if quote == "'" and language == "en":
            rules += [(r"(s  )' ", rf"\1{_HELD}' ")]
        rules += [(rf" ({quote}) ", rf" \1{_HELD} ")]
    return rules + [(f" *{_HELD}? *{_WIDE}", " "), (f" *{_HELD} *", ""), (" +", " "), ("^ | $", "")]


def _normalised(language: str) -> list[Rule]:
    digit, nobreak = _class("digit"), "\xa0"
    rules = [("\r", ""), (r"\(", " ("), (r"\)", ") "), (" +", " "), (r"\) ([.!:?;,])", r")\1"), (r"\( ", "("), (r" \)", ")"),
             (f"([{digit}]) %", r"\1%"), (" :", ":"), (" ;", ";"), ("`", "'"), ("''", ' " '), ("[„“”]", '"'), ("–", "-"), ("—", " - "), (" +", " "),
             ("[´‘‚’]", "'"), ("''", '"'), ("…", "..."), (f"{nobreak}«{nobreak}|«{nobreak}?", '"'), (f"{nobreak}»{nobreak}|{nobreak}?»", '"'),
             (f"{nobreak}%", "%"), (f"nº{nobreak}", "nº "), (f"{nobreak}:", ":"), (f"{nobreak}(ºC|cm)", r" \1"), (f"{nobreak}([?!;])", r"\1"),
             (f",{nobreak}", ", "), (" +", " ")]
    if language == "en":
        rules += [('"([,.]+)', r'\1"')]
    elif language in ("de", "es", "fr"):
        rules += [(',"', '",'), (rf'(\.+)"([{_SPACE}]*[^<])', r'"\1\2')]
    point = "," if language in ("de", "es", "cz", "cs", "fr") else "."
    return rules + [(f"([{digit}]){nobreak}([{digit}])", rf"\1{point}\2")]


def _divided(language: str, prefixes: list[str]) -> list[Rule]:
    letter, digit, number = _letters(language), _class("digit"), _class("number")
    rules = [(f"[{_SPACE}]+", " "), ("[\x01-\x1f]", ""), ("^ | $", ""), (rf"([^{letter}{digit}{_SPACE}.'`,\-])", r" \1 "), (r"(\.\.+)", r" \1 "),
             (f"([^{number}]),", r"\1 , "), (f",([^{number}])", r" , \1"), (f"([{number}]),$", r"\1 , ")]
    if language == "en":
        rules += [(f"([^{letter}])'([^{letter}])", r"\1 ' \2"), (f"([^{letter}{number}])'([{letter}])", r"\1 ' \2"),
                  (f"([{letter}])'([^{letter}])", r"\1 ' \2"), (f"([{letter}])'([{letter}])", r"\1 '\2"), (f"([{number}])'(s)", r"\1 '\2")]
    elif language in ("fr", "it"):
        rules += [(f"([^{letter}])'([^{letter}])", r"\1 ' \2"), (f"([^{letter}])'([{letter}])", r"\1 ' \2"),
                  (f"([{letter}])'([^{letter}])", r"\1 ' \2"), (f"([{letter}])'([{letter}])", r"\1' \2")]
    else:
        rules += [("'", " ' ")]
    rules += [(f"[{_SPACE}]+", "  "), ("^ *(.*?) *$", r" \1 "), (rf"\.(  [{_class('small')}])", rf"{_HELD}\1"),
              (rf" ([^ ]*(?:[{letter}][^ ]*\.|\.[^ ]*[{letter}])[^ ]*)\. ", rf" \1{_HELD} ")]
    words = [prefix for prefix in prefixes if _NUMERIC not in prefix]
    numeric = [prefix.partition(" ")[0] for prefix in prefixes if _NUMERIC in prefix]
    if words := [word for word in words if word not in numeric]:
        rules += [(rf" ({_any(words)})\. ", rf" \1{_HELD} ")]
    if numeric:
        rules += [(rf" ({_any(numeric)})\.(  [0-9])", rf" \1{_HELD}\2")]
    return rules + [(r"([^ .])\. ", r"\1 . "), (_HELD, "."), (" +", " "), ("^ | $", ""), (r"\.' ?$", " . '"),
                    *((re.escape(character), escape) for character, escape in _ESCAPES)]


def _any(words: list[str]) -> str:
    return "|".join(map(re.escape, sorted(set(words))))


def _letters(language: str) -> str:
    """Perl's Alphabetic with the signs of Indic scripts; Chinese and Korean characters are words by themselves, but in their own languages."""
    own = {"zh": _HAN + _MARKS, "ja": _HAN + _MARKS, "ko": _HANGUL + _MARKS}.get(language, ())
    return _class("letter") + "".join(map(_range, own))


@functools.cache
def _class(name: str) -> str:
    """The ranges of a class of characters."""
    excluded = [range(first, last + 1) for first, last in _HAN + _HANGUL]

    def has(code: int) -> bool:
        character, category = chr(code), unicodedata.category(chr(code))
        if name == "digit":
            return category == "Nd"
        if name == "number":
            return category[0] == "N"
        if name == "money":
            return category == "Sc"
        if name == "small":
            return character.islower()
        if category[0] == "M":
            return category != "Me" and unicodedata.combining(character) in (0, 7, 9)
        return (category[0] == "L" or category == "Nl") and not any(code in some for some in excluded)

    found: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if has(code):
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return "".join(map(_range, found))


def _range(bounds: tuple[int, int] | list[int]) -> str:
    first, last = map(chr, bounds)
    return first if first == last else f"{first}-{last}"
