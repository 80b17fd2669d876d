"""Translation over HTTP as LibreTranslate's clients ask for it: a published client, and bodies by hand."""

import json
import socket
import urllib.error
import urllib.parse

import pytest
from libretranslatepy import LibreTranslateAPI
from wire import daemon as daemons
from wire import repository
from wire.keys import user_key
from wire.paths import EN_PT, PT_EN
from wire.polling import eventually
from wire.requests import PATIENCE, translate_request
from wire.rest import post, send

TEXT = "Where is the nearest station?"
LONG = "The children were playing in the garden behind the old house. " * 1500
KEY = "the-key-of-alice"
GOOD = {"q": TEXT, "source": "en", "target": "pt"}


@pytest.fixture(scope="module")
def client(daemon):
    return LibreTranslateAPI(f"http://127.0.0.1:{daemon.ports['http']}/")


def over_grpc(daemon, text, model=EN_PT):
    return daemon.translation.Translate(translate_request(text, model=model), timeout=PATIENCE).translations[0].text


# --- what comes out ---

def test_the_published_client_translates_detects_and_lists(daemon, client):
    assert client.translate(TEXT, "en", "pt", timeout=PATIENCE) == over_grpc(daemon, TEXT)
    assert client.translate("Bom dia. Tudo bem?", "pt", "en", timeout=PATIENCE) == over_grpc(daemon, "Bom dia. Tudo bem?", PT_EN)
    assert client.translate("Olá & 100% +1", "pt", "pt", timeout=PATIENCE) == "Olá & 100% +1"
    detected = client.detect("Onde fica a estação mais próxima?", timeout=PATIENCE)
    assert detected[0]["language"] == "pt" and 80 < detected[0]["confidence"] <= 100
    assert client.languages(timeout=PATIENCE) == [{"code": "en", "name": "English", "targets": ["en", "pt"]},
                                                  {"code": "pt", "name": "Portuguese", "targets": ["en", "pt"]}]
    long = "The weather is lovely today. " * 600
    assert client.translate(long, "en", "pt", timeout=PATIENCE) == over_grpc(daemon, long)


def test_members_without_effect_are_named(daemon):
    for path in ("/translate", "/translate/stream"):
        status, headers, _ = send(daemon, "POST", path, GOOD | {"formt": "html", "secret": ""})
        assert (status, headers["Warning"]) == (200, '299 millrace "ignored members: formt"')
    assert post(daemon, "/translate", GOOD)[1]["Warning"] is None


def test_the_published_client_has_the_language_found(daemon, client):
    assert client.translate(TEXT, "auto", "pt", timeout=PATIENCE) == over_grpc(daemon, TEXT)


def test_a_list_comes_back_as_a_list(daemon):
    status, _, answer = post(daemon, "/translate", {"q": [TEXT, "", "Thank you."], "source": "auto", "target": "pt", "alternatives": 2})
    assert status == 200
    assert answer["translatedText"] == [over_grpc(daemon, TEXT), "", over_grpc(daemon, "Thank you.")]
    assert answer["alternatives"] == [[], [], []]   # the model has none
    assert [detected["language"] for detected in answer["detectedLanguage"]] == ["en"] * 3


def test_each_text_of_a_list_is_judged_by_itself(daemon):
    texts = [TEXT, "Onde fica a estação mais próxima, por favor?", "Où se trouve la gare la plus proche, s'il vous plaît ?"]
    status, _, answer = post(daemon, "/translate", {"q": texts, "source": "auto", "target": "pt"})
    assert status == 200
    assert answer["translatedText"] == [over_grpc(daemon, TEXT), *texts[1:]]
    detected = answer["detectedLanguage"]
    assert [one["language"] for one in detected] == ["en", "pt", "fr"]
    assert all(one["confidence"] > 80 for one in detected)
    assert answer["untranslated"][0] == "" and "'pt', which is the target language" in answer["untranslated"][1]
    assert "'fr'" in answer["untranslated"][2]


def test_a_text_in_a_language_without_a_model_is_returned_with_the_reason(daemon):
    for text, language in [("Guten Morgen", "de"), ("Hoe gaat het met je?", "nl"), ("Bonjour, où est la gare?", "fr")]:
        status, _, answer = post(daemon, "/translate", {"q": text, "source": "auto", "target": "pt"})
        assert (status, answer["translatedText"]) == (200, text)
        assert answer["detectedLanguage"]["language"] == language
        assert f"'{language}'" in answer["untranslated"]


def test_a_text_in_the_target_language_is_returned_with_the_reason(daemon):
    for source, text in [("en", "Hello"), ("auto", "The house is red and very big.")]:
        status, _, answer = post(daemon, "/translate", {"q": text, "source": source, "target": "en"})
        assert (status, answer["translatedText"]) == (200, text)
        assert "'en', which is the target language" in answer["untranslated"]


@pytest.mark.parametrize("text", ["A casa é vermelha.", "Cancelar", "Amarelo", "gato", "oi",
                                  "Baixe o app no GitHub: https://github.com/user/repository/releases"])
def test_short_portuguese_is_read_as_portuguese(daemon, text):
    _, _, answer = post(daemon, "/translate", {"q": text, "source": "auto", "target": "en"})
    assert answer["detectedLanguage"]["language"] == "pt"
    assert "untranslated" not in answer


def test_languages_are_found_by_any_tag_that_fits(daemon):
    for source, target in [("en-US", "pt-BR"), ("EN", "pb"), ("en_gb", "PT_br")]:
        status, _, answer = post(daemon, "/translate", {"q": TEXT, "source": source, "target": target})
        assert (status, answer) == (200, {"translatedText": over_grpc(daemon, TEXT)})


def test_tags_of_html_stay(daemon):
    _, _, answer = post(daemon, "/translate", GOOD | {"q": "<p>Where is the <b>nearest station</b>?</p>", "format": "html"})
    text = answer["translatedText"]
    assert text.startswith("<p>") and text.endswith("</p>")
    assert text.count("<b>") == text.count("</b>") == 1 and text.index("<b>") < text.index("</b>")


def test_a_form_with_parts_is_read(daemon):
    members = {"q": TEXT, "source": "en", "target": "pt"}
    parts = "".join(f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in members.items())
    status, _, answer = post(daemon, "/translate", f"{parts}--x--\r\n".encode(), content_type="multipart/form-data; boundary=x")
    assert (status, answer) == (200, {"translatedText": over_grpc(daemon, TEXT)})


def test_terms_may_come_with_the_text(daemon):
    text = "The station of Springfield is near the bank."
    terms = {"glossary": [{"source": "station", "target": "paragem"}], "do_not_translate": ["Springfield", "bank"]}
    status, _, answer = post(daemon, "/translate", GOOD | {"q": text} | terms)
    assert status == 200
    for term in ("paragem", "Springfield", "bank"):
        assert term in answer["translatedText"]
    assert "paragem" not in post(daemon, "/translate", GOOD | {"q": text})[2]["translatedText"]
    form = urllib.parse.urlencode([("q", text), ("source", "en"), ("target", "pt"), ("glossary", json.dumps(terms["glossary"])),
                                   ("do_not_translate", "Springfield"), ("do_not_translate", "bank")])
    assert post(daemon, "/translate", form.encode(), "application/x-www-form-urlencoded")[2] == answer


def test_suggestions_are_off_as_in_the_original(daemon):
    body = {"q": "Hello.", "s": "Oi.", "source": "en", "target": "pt"}
    assert post(daemon, "/suggest", body)[::2] == (403, {"error": "Suggestions are disabled on this server."})
    assert daemon.http("/frontend/settings")[1]["suggestions"] is False


def test_settings_are_those_that_front_ends_read(daemon):
    status, settings = daemon.http("/frontend/settings")
    assert status == 200
    assert (settings["charLimit"], settings["keyRequired"], settings["language"]["source"]["code"]) == (500_000, False, "en")


# --- what bad requests get ---

BAD = {
    "no JSON": (b"{", 400, ["JSON", "byte"]),
    "nothing": (b"", 400, ["JSON"]),
    "a list": (b"[]", 400, ["object", "array"]),
    "deep": (b"[" * 500_000, 400, ["JSON"]),
    "not UTF-8": (b'{"q": "\xff\xfe"}', 400, ["UTF-8"]),
    "half a surrogate": (rb'{"q": "\ud83d"}', 400, ["JSON"]),
    "no q": ({"source": "en", "target": "pt"}, 400, ["missing q parameter"]),
    "empty q": (GOOD | {"q": ""}, 400, ["missing q parameter"]),
    "no source": ({"q": "x", "target": "pt"}, 400, ["missing source parameter"]),
    "no target": ({"q": "x", "source": "en"}, 400, ["missing target parameter"]),
    "q a number": (GOOD | {"q": 7}, 400, ["q:", "string", "number"]),
    "q a list of lists": (GOOD | {"q": [["x"]]}, 400, ["q[0]", "string", "array"]),
    "only empty texts": (GOOD | {"q": ["", ""]}, 400, ["q[0]", "empty"]),
    "NUL": (GOOD | {"q": ["x", "a\0b"]}, 400, ["q[1]", "NUL", "byte 1"]),
    "long q": (GOOD | {"q": "a" * 500_001}, 413, ["500001 characters", "500000"]),
    "many texts": (GOOD | {"q": ["a"] * 10_001}, 413, ["10001", "10000"]),
    "unknown source": (GOOD | {"source": "xx"}, 400, ["'xx'", "'pt'"]),
    "unknown target": (GOOD | {"target": "xx"}, 400, ["'en'", "'xx'"]),
    "unknown format": (GOOD | {"format": "pdf"}, 400, ["format", "'pdf'", "html"]),
    "alternatives a word": (GOOD | {"alternatives": "many"}, 400, ["alternatives", "a whole number"]),
    "glossary an object": (GOOD | {"glossary": {"a": "b"}}, 400, ["glossary", "list", "object"]),
    "glossary half": (GOOD | {"glossary": [{"source": "a"}]}, 400, ["glossary[0].target", "missing"]),
    "glossary empty term": (GOOD | {"glossary": [{"source": "", "target": "b"}]}, 400, ["glossary[0].source", "empty"]),
    "a term kept and translated": (GOOD | {"glossary": [{"source": "a", "target": "b"}], "do_not_translate": ["a"]}, 400,
                                   ["do_not_translate[0]", "glossary[0]"]),
    "many terms": (GOOD | {"do_not_translate": ["a"] * 1001}, 400, ["do_not_translate", "1001", "1000"]),
    "many values": (b'{"x": [' + b"[]," * 300_000 + b"1]}", 400, ["more than 100000 values"]),
    "huge body": (b'{"q": "' + b"x" * 1_100_000, 413, ["1048576 bytes"]),
}


@pytest.mark.parametrize("body, status, words", BAD.values(), ids=BAD.keys())
def test_bad_request_is_refused_in_the_originals_shape(daemon, bystander, body, status, words):
    got, headers, answer = post(daemon, "/translate", body)
    assert (got, headers.get_content_type(), list(answer)) == (status, "application/json", ["error"])
    for word in words:
        assert word in answer["error"], f"{word!r} is not in {answer['error']!r}"


def test_forms_of_many_members_are_refused(daemon):
    """Each member takes far more memory than the two bytes that it has on the wire."""
    status, _, answer = post(daemon, "/translate", b"x&" * 500_000, "application/x-www-form-urlencoded")
    assert status == 400 and answer == {"error": "the form has more than 20000 members"}


def test_other_kinds_of_bodies_are_refused(daemon):
    status, _, answer = post(daemon, "/translate", b"q", content_type="text/plain")
    assert status == 400 and "'text/plain'" in answer["error"]
    assert post(daemon, "/translate", b"q", content_type="multipart/form-data; boundary=x")[0] == 400
    assert daemon.http("/translate")[0] == 405


def test_the_client_knows_our_errors(client):
    with pytest.raises(urllib.error.HTTPError) as refused:
        client.translate("x", "xx", "pt", timeout=PATIENCE)
    assert refused.value.code == 400


def test_emptiness_of_a_detection(daemon):
    assert post(daemon, "/detect", {"q": "42"})[2] == [{"confidence": 0.0, "language": "en"}]
    assert post(daemon, "/detect", {})[0] == 400


# --- clients that leave, deadlines, overload, keys ---

def requests_ended(daemon, code):
    return daemon.metrics().total("millrace_requests_total", method="HttpTranslate", code=code)


def test_client_that_leaves_stops_the_translation(daemon, bystander):
    cancelled = requests_ended(daemon, "CANCELLED")
    body = json.dumps(GOOD | {"q": LONG}).encode()
    with socket.create_connection(("127.0.0.1", daemon.ports["http"]), timeout=PATIENCE) as connection:
        connection.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        eventually("it is in flight beside the bystander's", lambda: daemon.metrics().total("millrace_requests_in_flight") == 2, 10)
    eventually("the request ends", lambda: requests_ended(daemon, "CANCELLED") == cancelled + 1, 10)


def test_deadline_of_the_server_holds(tmp_path):
    models = repository.link(tmp_path / "models", EN_PT)
    with daemons.start(tmp_path, "--max-request-time", "100ms", "--workers", "1", models=models) as daemon:
        status, _, answer = post(daemon, "/translate", GOOD | {"q": LONG})
        assert status in (429, 504), answer   # 429: it is known at the door that there is no time for it
        assert "deadline" in answer["error"]


def test_keys_are_asked_for(tmp_path):
    keys = user_key(tmp_path, KEY)
    models = repository.link(tmp_path / "models", EN_PT)
    with daemons.start(tmp_path, "--api-keys", keys, models=models) as daemon:
        url = f"http://127.0.0.1:{daemon.ports['http']}"
        known = LibreTranslateAPI(url, KEY)
        assert known.translate(TEXT, "en", "pt", timeout=PATIENCE)
        assert known.detect(TEXT, timeout=PATIENCE)[0]["language"] == "en"
        assert [language["code"] for language in known.languages(timeout=PATIENCE)] == ["en", "pt"]
        for stranger in (LibreTranslateAPI(url), LibreTranslateAPI(url, "wrong")):
            with pytest.raises(urllib.error.HTTPError) as refused:
                stranger.translate(TEXT, "en", "pt", timeout=PATIENCE)
            assert refused.value.code == 403
        assert post(daemon, "/translate", GOOD, Authorization=f"Bearer {KEY}")[0] == 200
        assert post(daemon, "/translate", GOOD)[2].keys() == {"error"}
