"""What a request may ask of a translation: searches, alternatives, ways through another language, languages and their detection."""

import grpc
import pytest
from wire import daemon as daemons
from wire import repository, tiny_translator
from wire.paths import EN_PT, NULL, PT_EN
from wire.requests import PATIENCE, assert_refused
from wire.stubs import translation

TEXT = "the cat sat on the mat."
TINY = "tiny"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    """Bergamot's two, and one of many languages, which is small and random."""
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", EN_PT, PT_EN, NULL)
    tiny_translator.add(models, TINY, "en", "de", "eng_Latn", "deu_Latn", "fra_Latn")
    with daemons.start(folder, "--workers", "2", models=models) as running:
        yield running


def request(*texts, search=None, **fields):
    fields = {"model": TINY, "texts": texts} | fields
    return translation.TranslateRequest(search=translation.TranslateSearch(**search) if search else None, **fields)


def translate(daemon, *texts, **fields):
    return daemon.translation.Translate(request(*texts, **fields), timeout=PATIENCE)


def only(daemon, *texts, **fields):
    return translate(daemon, *texts, **fields).translations[0]


# --- searches ---

def test_alternatives_come_with_scores(daemon):
    best = only(daemon, TEXT, search={"beam_size": 4})
    several = only(daemon, TEXT, search={"beam_size": 4, "hypotheses": 4})
    assert (several.text, several.score) == (best.text, best.score)
    assert not best.alternatives
    assert 1 <= len(several.alternatives) <= 3
    scores = [several.score, *(other.score for other in several.alternatives)]
    assert scores == sorted(scores, reverse=True)
    assert len({several.text, *(other.text for other in several.alternatives)}) == 1 + len(several.alternatives)


def test_alternatives_of_a_text_are_made_of_those_of_its_sentences(daemon):
    text = f"{TEXT}\n\n{TEXT}"
    one, two = (only(daemon, part, search={"hypotheses": 3}) for part in (TEXT, text))
    assert two.text == f"{one.text}\n\n{one.text}"
    assert [other.text for other in two.alternatives] == [f"{other.text}\n\n{other.text}" for other in one.alternatives]
    parts = list(daemon.translation.StreamTranslate(request(text, search={"hypotheses": 3}), timeout=PATIENCE))
    assert [len(part.alternatives) for part in parts] == [2, 2]


def test_lengths_are_kept(daemon):
    assert only(daemon, TEXT, search={"max_target_tokens": 3}).target_tokens == 3
    assert only(daemon, TEXT, search={"min_target_tokens": 25, "max_target_tokens": 30}).target_tokens >= 25
    assert only(daemon, "Good morning, everyone.", model=EN_PT, search={"max_target_tokens": 2}).target_tokens == 2


def test_draws_are_those_of_their_seed(daemon):
    def drawn(seed):
        sampling = translation.TranslateSampling(temperature=2, seed=seed)
        return only(daemon, TEXT, search={"sampling": sampling}).text
    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(5)}) > 1


def test_each_text_may_begin_as_it_is_told(daemon):
    begun = translate(daemon, TEXT, TEXT, target_prefixes=["one old", ""]).translations
    assert begun[0].text.startswith("one old")
    assert begun[1].text == only(daemon, TEXT).text


BAD = {
    "beam 0": ({"beam_size": 0}, ["beam_size: 0", "1..16"]),
    "beam 1000": ({"beam_size": 1000}, ["beam_size: 1000", "1..16"]),
    "more hypotheses than beams": ({"beam_size": 2, "hypotheses": 3}, ["hypotheses: 3", "1..2"]),
    "17 hypotheses": ({"hypotheses": 17}, ["hypotheses: 17", "1..16"]),
    "length penalty": ({"length_penalty": 11}, ["length_penalty: 11", "-10..10"]),
    "length penalty no number": ({"length_penalty": float("nan")}, ["length_penalty"]),
    "ngram": ({"no_repeat_ngram_size": 65}, ["no_repeat_ngram_size: 65", "0..64"]),
    "repetition": ({"repetition_penalty": 0}, ["repetition_penalty: 0", "0.01..100"]),
    "max length 0": ({"max_target_tokens": 0}, ["max_target_tokens: 0", "1..1024"]),
    "min above max": ({"min_target_tokens": 5, "max_target_tokens": 4}, ["min_target_tokens: 5", "max_target_tokens", "4"]),
    "temperature 0": ({"sampling": translation.TranslateSampling(temperature=0)}, ["temperature: 0", "0.01..100"]),
    "top_p 2": ({"sampling": translation.TranslateSampling(top_p=2)}, ["top_p: 2", "0..1"]),
    "top_k -1": ({"sampling": translation.TranslateSampling(top_k=-1)}, ["top_k: -1"]),
    "sampling beams": ({"beam_size": 2, "sampling": translation.TranslateSampling()}, ["beam_size: 2", "sample"]),
}


@pytest.mark.parametrize("model", [TINY, EN_PT])
@pytest.mark.parametrize("search, words", BAD.values(), ids=BAD.keys())
def test_bad_search_is_refused_by_field(daemon, bystander, model, search, words):
    for method in (daemon.translation.Translate, daemon.translation.StreamTranslate):
        assert_refused(method, request(TEXT, model=model, search=search), "INVALID_ARGUMENT", *words)


def test_a_greedy_model_says_what_it_cannot_do(daemon):
    assert only(daemon, "Hello.", model=EN_PT, search={"beam_size": 1, "hypotheses": 1}).text
    for search in ({"beam_size": 4}, {"hypotheses": 2}, {"sampling": translation.TranslateSampling()}):
        field = next(iter(search))
        assert_refused(daemon.translation.Translate, request(TEXT, model=EN_PT, search=search), "INVALID_ARGUMENT", field, "likeliest word")
    assert_refused(daemon.translation.Translate, request(TEXT, model=EN_PT, target_prefixes=["a"]), "INVALID_ARGUMENT", "target_prefixes")


# --- terms ---

TERMS = {
    "contradiction": ({"glossary": [("bank", "banco"), ("bank", "margem")]}, ["glossary[1]", "'bank'", "'margem'", "'banco'", "glossary[0]"]),
    "kept and translated": ({"glossary": [("bank", "banco")], "do_not_translate": ["x", "bank"]}, ["do_not_translate[1]", "'bank'", "glossary[0]"]),
    "empty source": ({"glossary": [("", "banco")]}, ["glossary[0].source", "empty"]),
    "long target": ({"glossary": [("bank", "b" * 201)]}, ["glossary[0].target", "201", "200"]),
    "too many": ({"do_not_translate": ["x"] * 1001}, ["do_not_translate", "1001", "1000"]),
}


@pytest.mark.parametrize("fields, words", TERMS.values(), ids=TERMS.keys())
def test_bad_terms_are_refused_by_name(daemon, fields, words):
    glossary = [translation.GlossaryEntry(source=source, target=target) for source, target in fields.get("glossary", [])]
    bad = request(TEXT, glossary=glossary, do_not_translate=fields.get("do_not_translate", []))
    assert_refused(daemon.translation.Translate, bad, "INVALID_ARGUMENT", *words)


# --- ways and languages ---

def test_a_pair_without_a_model_goes_through_english(daemon):
    text = "O gato sentou-se no tapete."
    english = only(daemon, text, model=PT_EN).text
    german = only(daemon, english, model=TINY, source_language="en", target_language="de").text
    answer = translate(daemon, text, "", model="", source_language="pt", target_language="de", search={"hypotheses": 1})
    assert answer.translations[0].text == german
    assert answer.translations[1].status.code == 3
    assert (answer.model, answer.route.pivot_language, list(answer.route.models)) == (TINY, "en", [PT_EN, TINY])
    parts = list(daemon.translation.StreamTranslate(request(text, model="", source_language="pt", target_language="de"), timeout=PATIENCE))
    assert "".join(part.text for part in parts) == german
    assert parts[0].route.pivot_language == "en"
    # What the second cannot do is told before the first begins.
    assert_refused(daemon.translation.Translate, request(text, model="", source_language="fr", target_language="pt", search={"hypotheses": 2}),
                   "INVALID_ARGUMENT", "hypotheses")


def test_markup_goes_through_english_aside(daemon):
    sentences = ["O <b>gato</b> sentou-se no tapete.", "A <a href='x'>porta</a> está aberta: {name} e <code>a &lt; b</code>."]
    html = request(f"<p class=y>{' '.join(sentences)}</p>", model="", source_language="pt", target_language="de",
                   format=translation.TEXT_FORMAT_HTML, glossary=[translation.GlossaryEntry(source="tapete", target="Teppich")])
    whole = daemon.translation.Translate(html, timeout=PATIENCE).translations[0].text
    for once in ("<p class=y>", "<b>", "</b>", "<a href='x'>", "</a>", "{name}", "<code>a &lt; b</code>", "</p>", "Teppich"):
        assert whole.count(once) == 1, (once, whole)
    assert whole.count("<") == 8
    assert whole.index("<b>") < whole.index("</b>") < whole.index("<a href='x'>") < whole.index("</a>")
    parts = list(daemon.translation.StreamTranslate(html, timeout=PATIENCE))
    assert "".join(part.text for part in parts) == whole
    # Each sentence is a message.
    assert len([part for part in parts if part.target_tokens]) >= len(sentences)
    assert [part.text_finished for part in parts] == [False] * (len(parts) - 1) + [True]


def test_languages_are_listed_with_their_models(daemon):
    languages = {source.language: source for source in daemon.translation.ListLanguages(translation.ListLanguagesRequest(), timeout=PATIENCE).languages}
    assert {tag: source.name for tag, source in languages.items()} == {"de": "German", "en": "English", "fr": "French", "pt": "Portuguese"}
    ways = {target.language: (list(target.models), target.pivot_language) for target in languages["pt"].targets}
    assert ways == {"en": ([PT_EN], ""), "de": ([PT_EN, TINY], "en"), "fr": ([PT_EN, TINY], "en")}
    assert {target.language: list(target.models) for target in languages["en"].targets} == {"de": [TINY], "fr": [TINY], "pt": [EN_PT]}


def test_text_in_the_target_language_comes_back_as_it_is(daemon):
    answer = translate(daemon, "Olá.  Tudo bem?", model="", source_language="pt", target_language="pt")
    assert answer.translations[0].text == "Olá.  Tudo bem?"
    assert (answer.model, list(answer.route.models)) == ("", [])


def test_the_language_is_detected(daemon):
    answer = translate(daemon, "Where is the nearest station?", "42", model="", source_language="auto", target_language="pt")
    assert (answer.model, answer.route.source_language) == (EN_PT, "en")
    first, second = (text.detected_language for text in answer.translations)
    assert first.language == "en" and first.confidence > 0.8
    assert (second.language, second.confidence) == ("", 0)
    # Named as another it is translated as that, with the hint when it is asked for.
    wrong = only(daemon, "Where is the nearest station?", model=PT_EN, source_language="pt", detect_language=True)
    assert wrong.text and wrong.detected_language.language == "en"


def test_a_language_that_cannot_be_told_is_refused(daemon):
    assert_refused(daemon.translation.Translate, request("42", model="", source_language="auto", target_language="pt"),
                   "INVALID_ARGUMENT", "source_language", "'auto'", "name it")


def test_a_text_that_no_model_reads_is_returned_with_the_reason(daemon):
    text = "Где находится ближайшая станция метро?"
    answer = translate(daemon, text, model="", source_language="auto", target_language="pt")
    assert answer.translations[0].text == text
    assert answer.translations[0].status.code == grpc.StatusCode.FAILED_PRECONDITION.value[0]
    assert "'ru'" in answer.translations[0].status.message


def test_detection_alone(daemon):
    detect = daemon.translation.DetectLanguage
    results = detect(translation.DetectLanguageRequest(texts=["Where is it?", "Onde fica a estação?", "1"]), timeout=PATIENCE).results
    assert [[c.language for c in result.candidates][:1] for result in results] == [["en"], ["pt"], []]
    assert_refused(detect, translation.DetectLanguageRequest(texts=["a", ""]), "INVALID_ARGUMENT", "texts[1]", "empty")
    assert_refused(detect, translation.DetectLanguageRequest(), "INVALID_ARGUMENT", "texts", "empty")
