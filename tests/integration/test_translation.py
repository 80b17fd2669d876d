"""Translation with the real models: what comes out, and what bad requests get."""

import concurrent.futures
import re
import time

import grpc
import pytest
from wire.paths import EN_PT, NULL, PT_EN, ROOT
from wire.requests import PATIENCE, assert_refused, refused, translate_request
from wire.stubs import translation

DATA = ROOT / "tests" / "data" / "translation"
SAMPLES = 20


def recorded(source, expected):
    """Sentences and their translations by the models' own engine, as recorded in tests/data."""
    pairs = zip((DATA / source).read_text().splitlines(), (DATA / expected).read_text().splitlines(), strict=True)
    return list(pairs)


EN_TO_PT = recorded("en.txt", "en-pt.expected.txt")
PT_TO_EN = recorded("pt.txt", "pt-en.expected.txt")

TEXT = "Good morning, everyone!  The weather is lovely today.\n\nWhere is the nearest station? I am looking for my friends.\n"


def translate(daemon, *texts, **fields):
    return daemon.translation.Translate(translate_request(*texts, **fields), timeout=PATIENCE)


def texts_of(response):
    return [translation.text for translation in response.translations]


# --- what comes out ---

@pytest.mark.parametrize("model, pairs", [(EN_PT, EN_TO_PT), (PT_EN, PT_TO_EN)], ids=["en-pt", "pt-en"])
def test_translations_are_those_of_the_reference_engine(daemon, model, pairs):
    """The converters hold all sentences to the project's bar; here a part is seen to arrive over the wire."""
    sample = pairs[:: len(pairs) // SAMPLES]
    response = translate(daemon, *(source for source, _ in sample), model=model)
    assert (response.model, response.model_version) == (model, "1")
    same = [got == expected for got, (_, expected) in zip(texts_of(response), sample, strict=True)]
    assert sum(same) >= 0.9 * len(same), list(zip(texts_of(response), sample, strict=True))


def test_tokens_are_counted(daemon):
    short, longer = translate(daemon, "Hello.", "Hello. Where is the nearest station?").translations
    assert 0 < short.source_tokens < longer.source_tokens
    assert 0 < short.target_tokens < longer.target_tokens


def test_sentences_of_a_text_are_translated_as_if_alone_and_space_between_them_stays(daemon):
    sentences = [part for line in TEXT.split("\n") for part in line.replace("!  ", "!|").replace("? ", "?|").split("|") if part]
    assert len(sentences) == 4
    alone = texts_of(translate(daemon, *sentences))
    expected = f"{alone[0]}  {alone[1]}\n\n{alone[2]} {alone[3]}\n"
    assert texts_of(translate(daemon, TEXT)) == [expected]


def test_many_texts_at_once_give_what_each_gives_alone(daemon):
    sources = [source for source, _ in EN_TO_PT[::12]]
    alone = [texts_of(translate(daemon, source))[0] for source in sources]
    assert texts_of(translate(daemon, *sources)) == alone
    with concurrent.futures.ThreadPoolExecutor(len(sources)) as pool:
        at_once = list(pool.map(lambda source: texts_of(translate(daemon, source))[0], sources))
    assert at_once == alone


@pytest.mark.parametrize("fields, model", [
    ({"source_language": "en", "target_language": "pt"}, EN_PT),
    ({"source_language": "PT"}, PT_EN),
    ({"target_language": "pt"}, EN_PT),
], ids=["both", "source", "target"])
def test_model_may_be_left_to_the_languages(daemon, fields, model):
    assert translate(daemon, "Hello.", model="", **fields).model == model


def test_stream_gives_the_same_text_sentence_by_sentence(daemon):
    texts = [TEXT, "Thank you very much.", "First. Second. Third."]
    whole = texts_of(translate(daemon, *texts))
    messages = list(daemon.translation.StreamTranslate(translate_request(*texts), timeout=PATIENCE))
    for index, text in enumerate(whole):
        parts = [message for message in messages if message.text_index == index]
        assert "".join(part.text for part in parts) == text
        assert [part.text_finished for part in parts] == [False] * (len(parts) - 1) + [True]
    assert sum(message.text_index == 0 for message in messages) == 4
    assert sum(message.text_index == 2 for message in messages) == 3


def test_stream_counts_the_same_tokens(daemon):
    whole = translate(daemon, TEXT).translations[0]
    messages = list(daemon.translation.StreamTranslate(translate_request(TEXT), timeout=PATIENCE))
    assert sum(message.source_tokens for message in messages) == whole.source_tokens
    assert sum(message.target_tokens for message in messages) == whole.target_tokens


def test_stream_of_a_long_text_starts_long_before_it_ends(daemon):
    text = "".join(source + " " for source, _ in EN_TO_PT) * 2
    start, first = time.monotonic(), None
    for _ in daemon.translation.StreamTranslate(translate_request(text), timeout=PATIENCE):
        first = first or time.monotonic() - start
    assert first < (time.monotonic() - start) / 2


@pytest.mark.parametrize("text", ["😀🎉🚀", "。。。", "   ", "\n", "...", "-"], ids=["emoji", "stops", "spaces", "line", "dots", "dash"])
def test_text_without_a_word_is_no_error(daemon, bystander, text):
    assert len(translate(daemon, text).translations) == 1


def test_emoji_come_back_as_they_are(daemon):
    assert texts_of(translate(daemon, "😀🎉🚀")) == ["😀🎉🚀"]


def test_one_word_as_long_as_a_page_is_translated(daemon, bystander):
    assert len(translate(daemon, "a" * 20_000).translations) == 1


def test_ten_thousand_texts_are_translated_in_one_call(daemon, bystander):
    texts = [str(number) for number in range(10_000)]
    translations = translate(daemon, *texts).translations
    assert len(translations) == len(texts)
    assert all(translation.text for translation in translations)


@pytest.mark.parametrize("method, message", [("Translate", "TranslateRequest"), ("DetectLanguage", "DetectLanguageRequest")])
def test_as_many_texts_are_allowed_as_the_proto_says(daemon, bystander, method, message):
    proto = (ROOT / "proto" / "millrace" / "v1" / "translation.proto").read_text()
    [most] = re.findall(rf"message {message} {{[^}}]*// 1\.\.([\d,]+) texts", proto)
    most = int(most.replace(",", ""))
    allowed = re.compile(rf"texts: has {most + 1} entries; at most {most} are allowed")
    request = getattr(translation, message)(texts=["Olá"] * (most + 1))
    error = refused(getattr(daemon.translation, method), request)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and allowed.search(error.details()), error.details()


def test_a_sentence_of_five_thousand_words_is_translated(daemon, bystander):
    translation = translate(daemon, "the old house " * 1667).translations[0]
    assert translation.source_tokens > 4_000
    assert translation.target_tokens > 1_000


def test_a_bad_text_has_its_status_and_the_others_their_translations(daemon, bystander):
    texts = ["Hello.", "", "with a \0 inside", "Thank you."]
    response = translate(daemon, *texts)
    assert [translation.status.code for translation in response.translations] == [0, 3, 3, 0]
    assert response.translations[1].status.message == "texts[1]: is empty"
    assert "texts[2]" in response.translations[2].status.message and "NUL" in response.translations[2].status.message
    assert texts_of(response)[::3] == texts_of(translate(daemon, "Hello.", "Thank you."))
    messages = list(daemon.translation.StreamTranslate(translate_request(*texts), timeout=PATIENCE))
    assert {message.text_index: message.status.code for message in messages} == {0: 0, 1: 3, 2: 3, 3: 0}
    assert all(message.text_finished for message in messages)


def test_characters_and_the_route_are_told(daemon):
    response = translate(daemon, "Olá.", model=PT_EN)
    translation = response.translations[0]
    assert (translation.source_characters, translation.target_characters) == (4, len(translation.text))
    assert (response.route.source_language, response.route.target_language, list(response.route.models)) == ("pt", "en", [PT_EN])


# --- what bad requests get: from both methods, with the field and what is allowed ---

BAD = {
    "no text": ({"texts": []}, ["texts", "empty", "1 to 10000"]),
    "empty text": ({"texts": [""]}, ["texts[0]", "empty"]),
    "all texts bad": ({"texts": ["", "a\0"]}, ["texts[0]", "empty"]),
    "1 MB of text": ({"texts": ["word " * 200_000]}, ["texts", "1000000 characters", "100000"]),
    "1 MB in many texts": ({"texts": ["word " * 1000] * 200}, ["texts", "1000000 characters", "100000"]),
    "one character too many": ({"texts": ["ã" * 250_000, "ã" * 250_001]}, ["texts", "500001 characters", "500000"]),
    "too many texts": ({"texts": ["Hi."] * 10_001}, ["texts", "10001", "10000"]),
    "NUL": ({"texts": ["with a \0 inside"]}, ["texts[0]", "NUL", "byte 7"]),
    "only NUL": ({"texts": ["\0"]}, ["texts[0]", "NUL"]),
    "wrong source language": ({"texts": ["Hi."], "source_language": "de"}, ["source_language", "'de'", "'en'"]),
    "wrong target language": ({"texts": ["Hi."], "target_language": "de"}, ["target_language", "'de'", "'pt'"]),
    "neither model nor languages": ({"texts": ["Hi."], "model": ""}, ["model", EN_PT, PT_EN]),
}


@pytest.mark.parametrize("method", ["Translate", "StreamTranslate"])
@pytest.mark.parametrize("fields, words", BAD.values(), ids=BAD.keys())
def test_bad_request_is_refused_by_field(daemon, bystander, method, fields, words):
    assert_refused(getattr(daemon.translation, method), translate_request(**fields), "INVALID_ARGUMENT", *words)


@pytest.mark.parametrize("method", ["Translate", "StreamTranslate"])
@pytest.mark.parametrize("code, fields, words", [
    ("NOT_FOUND", {"model": "nobody"}, ["model", "'nobody'", EN_PT]),
    ("NOT_FOUND", {"model": f"../{EN_PT}"}, ["model", EN_PT]),
    ("NOT_FOUND", {"model_version": "9"}, ["model_version", "'9'", "1"]),
    ("NOT_FOUND", {"model": "", "source_language": "en", "target_language": "de"}, ["source_language", "target_language", "'de'"]),
    ("FAILED_PRECONDITION", {"model": NULL}, ["model", NULL, "translation"]),
], ids=["unknown", "path", "version", "languages", "other task"])
def test_model_that_cannot_do_it_is_refused(daemon, bystander, method, code, fields, words):
    assert_refused(getattr(daemon.translation, method), translate_request("Hi.", **fields), code, *words)


@pytest.mark.parametrize("method", ["Translate", "StreamTranslate"])
@pytest.mark.parametrize("text", [b"\xff", b"caf\xe9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"ends in the middle \xe2\x82"],
                         ids=["never a byte", "latin-1", "overlong", "surrogate", "too large", "cut off"])
def test_text_that_is_not_utf8_is_refused(daemon, bystander, method, text):
    message = b"\x2a\x03Hi." + b"\x2a" + bytes([len(text)]) + text   # texts: "Hi." and the text
    channel = daemon.channel
    path = f"/millrace.v1.TranslationService/{method}"
    call = channel.unary_unary(path) if method == "Translate" else channel.unary_stream(path)
    assert_refused(call, message, "INVALID_ARGUMENT", "texts[1]", "UTF-8")


def test_message_over_the_limit_is_refused(daemon, bystander):
    error = refused(daemon.translation.Translate, translate_request("x" * (17 << 20)))
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(16 << 20) in error.details()   # gRPC's own message names the limit, not a field
