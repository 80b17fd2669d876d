"""Glossaries and formality as clients of DeepL and LibreTranslate ask for them: each term of a list, in each sentence of a list, over each
API. Whatever else a sentence becomes, it has the glossary's words as often as its source has the term."""

import json

import pytest
from wire.requests import PATIENCE, translate_request
from wire.rest import ask
from wire.stubs import translation

# A term, what it becomes, whether it is to be found in other letters too.
TERMS = {
    "en": [("station", "terminal", True), ("nearest station", "parada vizinha", True), ("Springfield", "Springfield", False),
           ("C++", "C++", False), ("e-mail", "correio-e", True), ("the old town", "a vila velha", True), ("API key", "chave da API", False),
           ("iPhone", "iFone", False), ("AT&T", "AT&T", False), ("São Paulo", "Sampa", False), ("node.js", "Node.js", True),
           ("dog's bowl", "tigela do cão", True)],
    "pt": [("estação", "terminal", True), ("estação mais próxima", "stop next door", True), ("Aveiro", "Aveiro", False), ("C++", "C++", False),
           ("correio", "e-mail", True), ("a vila velha", "the old burgh", True), ("chave da API", "API key", False), ("São João", "Saint John", False),
           ("pão de queijo", "cheese bread", True), ("d'água", "of water", True)],
}
SENTENCES = {
    "en": ["Where is {}?", "I have seen {} in the garden.", "My sister wrote about {}, and I read it.", "{} is here.", "They like {} (and {}) very much.",
           "Look: {}!", "We talked about \"{}\" yesterday.", "{}", "It was {}; it is {} again."],
    "pt": ["Onde está {}?", "Eu vi {} no jardim.", "Minha irmã escreveu sobre {}, e eu li.", "{} está aqui.", "Eles gostam de {} (e de {}) muito.",
           "Olhe: {}!", "Falamos de \"{}\" ontem.", "{}", "Era {}; é {} outra vez."],
}
# Words that have a term in them, and no term.
OTHERS = {"en": [("station", "stationery"), ("art", "party"), ("cat", "Catalonia")], "pt": [("estação", "estacionamento"), ("mar", "março"), ("sol", "solução")]}
DIRECTIONS = pytest.mark.parametrize("source, target", [("en", "pt"), ("pt", "en")], ids=["en-pt", "pt-en"])


def over_grpc(daemon, texts, source, target, terms, **fields):
    entries = [translation.GlossaryEntry(source=term, target=wanted) for term, wanted in terms]
    request = translate_request(*texts, model="", source_language=source, target_language=target, glossary=entries, **fields)
    return [item.text for item in daemon.translation.Translate(request, timeout=PATIENCE).translations]


def over_libretranslate(daemon, texts, source, target, terms, format="text"):
    body = {"q": texts, "source": source, "target": target, "format": format,
            "glossary": [{"source": term, "target": wanted} for term, wanted in terms]}
    status, _, answer = ask(daemon, "POST", "/translate", body)
    assert status == 200, answer
    return answer["translatedText"]


def over_deepl(daemon, texts, source, target, terms, **members):
    glossary = {"name": "battery", "source_lang": source, "target_lang": target, "entries_format": "tsv",
                "entries": "\n".join(f"{term}\t{wanted}" for term, wanted in terms)}
    status, _, made = ask(daemon, "POST", "/v2/glossaries", glossary)
    assert status == 201, made
    body = {"text": texts, "source_lang": source, "target_lang": {"en": "EN-GB", "pt": "PT-BR"}[target], "glossary_id": made["glossary_id"]} | members
    status, _, answer = ask(daemon, "POST", "/v2/translate", body)
    assert status == 200, answer
    assert ask(daemon, "DELETE", f"/v2/glossaries/{made['glossary_id']}")[0] == 204
    return [item["text"] for item in answer["translations"]]


APIS = pytest.mark.parametrize("translate", [over_grpc, over_libretranslate, over_deepl], ids=["grpc", "libretranslate", "deepl"])


@APIS
@DIRECTIONS
def test_each_term_becomes_what_the_glossary_says(daemon, translate, source, target):
    wrong = []
    for term, wanted, _ in TERMS[source]:
        texts = [sentence.format(*[term] * sentence.count("{}")) for sentence in SENTENCES[source]]
        # Other terms beside it change nothing.
        others = [(other, becomes) for other, becomes, _ in TERMS[source] if other != term and other not in term and term not in other]
        for sentence, text, found in zip(SENTENCES[source], texts, translate(daemon, texts, source, target, [(term, wanted), *others]), strict=True):
            if found.lower().count(wanted.lower()) != sentence.count("{}"):
                wrong.append((text, found))
    assert wrong == []


@DIRECTIONS
def test_a_term_in_small_letters_is_found_in_others(daemon, source, target):
    wrong = []
    for term, wanted, any_case in TERMS[source]:
        for written in (term.capitalize(), term.upper()):
            sentence = SENTENCES[source][1].format(written)
            [found] = over_libretranslate(daemon, [sentence], source, target, [(term, wanted)])
            if any_case and wanted.lower() not in found.lower():
                wrong.append((sentence, found))
    assert wrong == []


@DIRECTIONS
def test_a_part_of_a_word_is_no_term(daemon, source, target):
    for term, word in OTHERS[source]:
        sentence = SENTENCES[source][1].format(word)
        [plain] = over_libretranslate(daemon, [sentence], source, target, [("xyz", "zyx")])
        assert over_libretranslate(daemon, [sentence], source, target, [(term, "QQQ")]) == [plain]


@DIRECTIONS
def test_the_longest_term_is_taken(daemon, source, target):
    (short, _, _), (long, wanted, _) = TERMS[source][:2]
    texts = [SENTENCES[source][0].format(long)]
    for terms in ([(short, "QQQ"), (long, wanted)], [(long, wanted), (short, "QQQ")]):
        [found] = over_libretranslate(daemon, texts, source, target, terms)
        assert wanted in found.lower() and "QQQ" not in found, found


@APIS
@DIRECTIONS
def test_terms_are_found_within_markup(daemon, translate, source, target):
    term, wanted, _ = TERMS[source][0]
    fields = {over_grpc: {"format": translation.TEXT_FORMAT_HTML}, over_libretranslate: {"format": "html"}, over_deepl: {"tag_handling": "html"}}
    for page in (f"<p>{SENTENCES[source][1]}</p>", f"<li><b>{SENTENCES[source][3]}</b></li>", f"<a href=\"/{term}\" title=\"{term}\">{SENTENCES[source][0]}</a>"):
        for marked in (term, f"<b>{term}</b>"):
            [found] = translate(daemon, [page.format(marked)], source, target, [(term, wanted)], **fields[translate])
            assert found.lower().count(wanted) == 1 and found.count(f"/{term}") == page.count(f"/{term}"), found
            assert found.count("<b>") == found.count("</b>") == page.format(marked).count("<b>"), found


@DIRECTIONS
def test_words_of_a_list_stay(daemon, source, target):
    kept = [term for term, _, _ in TERMS[source]]
    texts = [SENTENCES[source][1].format(term) for term in kept]
    status, _, answer = ask(daemon, "POST", "/translate", {"q": texts, "source": source, "target": target, "do_not_translate": kept})
    assert status == 200
    assert [text for text, found, term in zip(texts, answer["translatedText"], kept, strict=True) if term not in found] == []


@pytest.mark.parametrize("formality, status", [("default", 200), ("prefer_more", 200), ("prefer_less", 200), ("more", 400), ("less", 400), ("rude", 400)])
def test_formality_is_refused_where_a_client_relies_on_it(daemon, formality, status):
    body = {"text": ["Where is the station?"], "source_lang": "EN", "target_lang": "PT-BR"}
    got, headers, answer = ask(daemon, "POST", "/v2/translate", body | {"formality": formality})
    assert got == status, answer
    if status == 400:
        assert "formality" in answer["message"] and formality in answer["message"]
    else:
        assert answer == ask(daemon, "POST", "/v2/translate", body)[2]
        assert ("formality" in json.dumps(dict(headers))) == (formality != "default")
