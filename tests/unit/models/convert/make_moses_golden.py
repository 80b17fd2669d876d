"""Writes moses_golden.json: what sacremoses and subword-nmt make of texts and of words, and the merges. Needs sacremoses, subword-nmt."""

import io
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[4]
sys.path.insert(0, str(ROOT))

from sacremoses.normalize import MosesPunctNormalizer  # noqa: E402
from sacremoses.tokenize import MosesDetokenizer, MosesTokenizer  # noqa: E402
from subword_nmt.apply_bpe import BPE  # noqa: E402
from subword_nmt.learn_bpe import learn_bpe  # noqa: E402

MERGES = 300
LEARNT_FROM = ROOT / "tests/data/translation/en.txt"
LINES = 400
TEXTS = {
    "en": ["The cat sat on the mat.", "Dr. Smith doesn't live at No. 5, does he?", "It costs $1,299.50 (4.5 % more), i.e. too much...",
           "\u201cStop!\u201d she said, \u2018it\u2019s the Joneses\u2019 car.\u2019", "Pages 5,300 and 1,2,3 are A.B.C. of e-mail & R&D <b>now</b> [x] {y} a|b.",
           "U.S. troops left in the 1990's; the 5's and the p. before\u2026", "\u4e2d\u56fd and \ud55c\uad6d, \u041f\u0440\u0438\u0432\u0435\u0442 \u00fcber 50\u00b0C \u2014 \u20ac7 or 20\u00a0%", "He said 'yes.'", "``q'' x_y a@b.org, http://a.b/c?d=e",
           "a . b .. c ... d, .", "", "  ", "We don't eat the dogs' soup, but the cat's bread."],
    "de": ["Das ist z.B. die Stra\u00dfe von Dr. M\u00fcller, d.h. am 10. Januar.", "\u201eJa\u201c, sagte sie, \u00abgeh's langsam an\u00bb.", "Er kostet 3,50\u00a0\u20ac und 20\u00a0% mehr.", "1\u00a0000 Menschen.", "Sie sieht's an, aber nicht von hier."],
    "fr": ["L'homme n'a pas vu l'eau aujourd'hui.", "\u00ab\u00a0Oui\u00a0\u00bb, dit-il\u00a0: \u00ab non\u00a0! \u00bb", "C'est 1\u00a0234 fois.", "rock'n'roll 5'6 'a"],
    "it": ["L'uomo dell'acqua, c'\u00e8 un po' di pane."], "es": ["\u00bfQu\u00e9? \u00a1Ah! \u00abS\u00ed\u00bb, dijo.", "Son 2\u00a0000."], "cs": ["Jeden \u2018dva\u2019 t\u0159i.", "1\u00a0000 lid\u00ed"],
    "zh": ["\u6211\u4eec\u57282021\u5e74\u3002OK?"], "ko": ["\ud55c\uad6d\uc5b4 \ubb38\uc7a5."], "ru": ["\u0410. \u0421. \u041f\u0443\u0448\u043a\u0438\u043d \u2014 \u043f\u043e\u044d\u0442."], "hi": ["\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e \u0964"]}
WORDS = {
    "en": ["It &apos;s $ 5 , ( not 4 ) &quot; good &quot; &amp; &apos; so &apos; .", "the Jones &apos; house isn &apos;t &quot; &quot; &#91; x &#93; a @-@ b", "\u201e ja \u201c &#124; &lt; b &gt; don &apos;t &apos;tis",
           "\u4e2d \u56fd \u4eba ok \u65e5 \u672c", "&quot; open", ""],
    "de": ["Das kostet 5 \u20ac , &quot; sagt &quot; er . &apos; x &apos; y"], "fr": ["l&apos; homme d&apos; un : ( oui ) ? % \u00ab non \u00bb !"], "it": ["l&apos; uomo c&apos; \u00e8"], "cs": ["\u201e ano \u201c , \u0159ekl &quot; ne &quot;"],
    "ko": ["\ud55c\uad6d\uc5b4 \ubb38\uc7a5 \u4e2d \u56fd ."], "es": ["\u00bf qu\u00e9 ? \u00a1 ah !"]}


def merges() -> list[str]:
    tokenizer = MosesTokenizer("en")
    lines = LEARNT_FROM.read_text(encoding="utf-8").splitlines()[:LINES]
    learnt = io.StringIO()
    learn_bpe(io.StringIO("".join(" ".join(tokenizer.tokenize(line)) + "\n" for line in lines)), learnt, MERGES)
    return learnt.getvalue().splitlines()


def main() -> None:
    codes = merges()
    bpe = BPE(io.StringIO("".join(line + "\n" for line in codes)))
    old = BPE(io.StringIO("".join(line + "\n" for line in codes[1:])))
    golden = {"codes": codes, "texts": {}, "words": {}, "prefixes": {}}
    for language, texts in TEXTS.items():
        normalizer, tokenizer = MosesPunctNormalizer(language), MosesTokenizer(language)
        entries = golden["texts"][language] = []
        for text in texts:
            words = tokenizer.tokenize(normalizer.normalize(text))
            entries.append({"text": text, "words": " ".join(words), "pieces": " ".join(bpe.segment_tokens(words)), "old": " ".join(old.segment_tokens(words))})
        found = {part.removesuffix(".") for text in texts for part in text.replace("(", " ").split()}
        golden["prefixes"][language] = [prefix for prefix in tokenizer.NONBREAKING_PREFIXES if prefix.partition(" ")[0] in found]
    for language, texts in WORDS.items():
        detokenizer = MosesDetokenizer(language)
        golden["words"][language] = [{"words": text, "text": detokenizer.detokenize(text.split(" "))} for text in texts]
    path = ROOT / "tests/data/translation/moses_golden.json"
    path.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
