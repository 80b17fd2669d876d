"""Translation over HTTP as browsers' plug-ins ask a translator of the user's own for it: their requests, replayed."""

import json
import urllib.parse

import pytest
from wire import daemon as daemons
from wire import repository
from wire.keys import user_key
from wire.paths import EN_PT, PT_EN
from wire.requests import PATIENCE, translate_request
from wire.rest import post

TEXT = "Where is the nearest station?"
OTHER = "Onde fica a estação mais próxima?"
KEY = "the-key-of-alice"

# A good request of each path.
GOOD = {
    "/imme": {"source_lang": "en", "target_lang": "pt", "text_list": [TEXT]},
    "/kiss": {"text": TEXT, "from": "en", "to": "pt"},
    "/deeplx": {"text": TEXT, "source_lang": "EN", "target_lang": "PT"},
    "/translate/batch": {"from": "en", "to": "pt", "texts": [TEXT]},
}
# The member of each path that holds what is to be translated, and the one that names the target.
TEXTS = {"/imme": "text_list", "/kiss": "text", "/deeplx": "text", "/translate/batch": "texts"}
TARGETS = {"/imme": "target_lang", "/kiss": "to", "/deeplx": "target_lang", "/translate/batch": "to"}
LISTS = ("/imme", "/translate/batch")


def message(path, answer):
    """What an answer in the form of the path's protocol complains of."""
    if path != "/deeplx":
        assert list(answer) == ["error"], answer
        return answer["error"]
    assert sorted(answer) == ["code", "message"], answer
    return answer["message"]


def over_grpc(daemon, text, model=EN_PT):
    return daemon.translation.Translate(translate_request(text, model=model), timeout=PATIENCE).translations[0].text


# --- what comes out ---

def test_immersive_translate(daemon):
    body = {"source_lang": "auto", "target_lang": "pt", "text_list": [TEXT, "", OTHER]}
    assert post(daemon, "/imme", body)[2] == {"translations": [
        {"detected_source_lang": "en", "text": over_grpc(daemon, TEXT)}, {"detected_source_lang": "en", "text": ""},
        {"detected_source_lang": "pt", "text": OTHER}]}


@pytest.mark.parametrize("text", ["Press {0} to open the {1} of your browser.", "Press <b0></b0> to open the <b1></b1> of your browser.",
                                  "The <b0>red house</b0> stands beside the <b1>church</b1>."])
def test_placeholders_of_immersive_translate_stay(daemon, text):
    body = {"source_lang": "en", "target_lang": "pt", "text_list": [text]}
    translated = post(daemon, "/imme", body)[2]["translations"][0]["text"]
    for mark in ("{0}", "{1}", "<b0>", "</b0>", "<b1>", "</b1>"):
        assert translated.count(mark) == text.count(mark), translated
    # The sentence is not cut at them: a word between two is in its right form.
    if "red house" in text:
        assert translated.startswith("A <b0>casa vermelha</b0>"), translated
    assert " <b0></b0> " in translated or "<b0></b0>" not in text, translated


def test_an_ampersand_beside_placeholders_stays_one(daemon):
    body = {"source_lang": "en", "target_lang": "pt", "text_list": ["Open <b0></b0> at AT&T, please."]}
    assert "AT&T" in post(daemon, "/imme", body)[2]["translations"][0]["text"]
    body["text_list"].append("AT&amp;T")
    assert post(daemon, "/imme", body)[2]["translations"][1]["text"] .endswith("AT&amp;T")


def test_kiss_translator(daemon):
    one = {"text": OTHER, "from": "auto", "to": "en"}
    assert post(daemon, "/kiss", one, Authorization="Bearer ")[2] == {"text": over_grpc(daemon, OTHER, PT_EN), "src": "pt"}
    several = {"texts": [TEXT, "Thank you."], "from": "en", "to": "pt"}
    assert post(daemon, "/kiss", several)[2] == {"translations": [
        {"text": over_grpc(daemon, TEXT), "src": "en"}, {"text": over_grpc(daemon, "Thank you."), "src": "en"}]}


@pytest.mark.parametrize("path", ["/deeplx", "/translate"])
def test_deeplx(daemon, path):
    status, _, answer = post(daemon, path, {"text": TEXT, "source_lang": "auto", "target_lang": "PT"})
    assert status == 200 and isinstance(answer.pop("id"), int)
    assert answer == {"code": 200, "data": over_grpc(daemon, TEXT), "alternatives": [], "source_lang": "EN", "target_lang": "PT",
                      "method": "Free"}
    html = post(daemon, path, {"text": "<p>Thank <b>you</b>.</p>", "source_lang": "EN", "target_lang": "PT", "tag_handling": "html"})[2]
    assert html["data"].startswith("<p>") and html["data"].endswith("</p>")


def test_mtranserver(daemon):
    assert post(daemon, "/translate", {"from": "en", "to": "pt", "text": TEXT})[2] == {"result": over_grpc(daemon, TEXT)}
    html = post(daemon, "/translate", {"from": "en", "to": "pt", "text": f"<p>{TEXT}</p>", "html": True})[2]["result"]
    assert html.startswith("<p>") and html.endswith("</p>")
    batch = {"from": "en", "to": "pt", "texts": [TEXT, "", "Thank you."]}
    assert post(daemon, "/translate/batch", batch)[2] == {"results": [over_grpc(daemon, TEXT), "", over_grpc(daemon, "Thank you.")]}


def test_libretranslate_keeps_its_path(daemon):
    assert post(daemon, "/translate", {"q": TEXT, "source": "en", "target": "pt"})[2] == {"translatedText": over_grpc(daemon, TEXT)}
    status, _, answer = post(daemon, "/translate", {"text": TEXT})
    assert (status, answer) == (400, {"error": "Invalid request: missing q parameter"})


@pytest.mark.parametrize("path", GOOD)
def test_a_form_or_a_query_is_read_as_json_is(daemon, path):
    form = urllib.parse.urlencode(GOOD[path], doseq=True)
    for target, body in [(path, form.encode()), (f"{path}?{form}", b"")]:
        status, _, answer = post(daemon, target, body, **{"Content-Type": "application/x-www-form-urlencoded"})
        assert status == 200 and over_grpc(daemon, TEXT) in json.dumps(answer, ensure_ascii=False), answer


def test_members_without_effect_are_named(daemon):
    for path, body in GOOD.items():
        warnings = [{name.lower(): value for name, value in post(daemon, path, sent)[1].items()}.get("warning")
                    for sent in (body, body | {"tone": "formal"})]
        assert warnings == [None, '299 millrace "ignored members: tone"'], path


# --- what bad requests get ---

def bad(path):
    """Name: body, status, words of the answer."""
    good, texts, target = GOOD[path], TEXTS[path], TARGETS[path]
    wrap = (lambda text: [text]) if path in LISTS else (lambda text: text)
    place = f"{texts}[0]:" if path in LISTS else f"{texts}:"
    return {
        "no JSON": (b"{", 400, ["JSON", "byte"]),
        "nothing": (b"", 400, [f"{texts}: is missing"]),
        "a list": (b"[]", 400, ["object", "array"]),
        "deep": (b"[" * 500_000, 400, ["JSON"]),
        "not UTF-8": (b'{"text": "\xff\xfe"}', 400, ["UTF-8"]),
        "half a surrogate": (rb'{"text": "\ud83d"}', 400, ["JSON"]),
        "no text": ({name: value for name, value in good.items() if name != texts}, 400, [f"{texts}: is missing"]),
        "no target": ({name: value for name, value in good.items() if name != target}, 400, [f"{target}: is missing"]),
        "empty text": (good | {texts: wrap("")}, 400, [place, "empty"]),
        "text a number": (good | {texts: wrap(7)}, 400, [texts, "string", "number"]),
        "text an object": (good | {texts: {}}, 400, [texts, "string", "object"]),
        "NUL": (good | {texts: wrap("a\0b")}, 400, [place, "NUL", "byte 1"]),
        "long text": (good | {texts: wrap("a" * 500_001)}, 413, [texts, "500001 characters", "500000"]),
        "target a number": (good | {target: 7}, 400, [target, "string", "number"]),
        "unknown target": (good | {target: "xx"}, 400, [target, "'xx'"]),
        "huge body": (b'{"text": "' + b"x" * 1_100_000, 413, ["1048576 bytes"]),
    }


@pytest.mark.parametrize("path, name", [(path, name) for path in GOOD for name in bad(path)])
def test_bad_request_is_refused_in_the_form_of_its_protocol(daemon, bystander, path, name):
    body, status, words = bad(path)[name]
    got, headers, answer = post(daemon, path, body)
    assert (got, headers.get_content_type()) == (status, "application/json")
    for word in words:
        assert word in message(path, answer), f"{word!r} is not in {answer!r}"
    if path == "/deeplx":
        assert answer["code"] == status


def test_many_texts_are_refused(daemon):
    for path in LISTS:
        status, _, answer = post(daemon, path, GOOD[path] | {TEXTS[path]: ["a"] * 10_001})
        assert status == 413 and "10001" in message(path, answer)


def test_other_methods_are_refused_in_the_same_form(daemon):
    for path in GOOD:
        status, answer = daemon.http(path)
        assert status == 405 and "POST is" in message(path, answer)


def test_keys_are_asked_for_and_never_logged(tmp_path):
    keys = user_key(tmp_path, KEY)
    models = repository.link(tmp_path / "models", EN_PT)
    with daemons.start(tmp_path, "--api-keys", keys, "--log-level", "debug", models=models) as daemon:
        for path, body in GOOD.items():
            assert post(daemon, f"{path}?token={KEY}", body)[0] == 200
            assert post(daemon, path, body, Authorization=f"Bearer {KEY}")[0] == 200
            assert post(daemon, path, body, KEY=KEY)[0] == 200
            for asked in (post(daemon, path, body), post(daemon, f"{path}?token=wrong", body), post(daemon, path, b"{", KEY="wrong")):
                assert asked[0] == 401 and "key" in message(path, asked[2])
        assert post(daemon, f"/translate?token={KEY}", {"from": "en", "to": "pt", "text": TEXT})[0] == 200
        assert post(daemon, "/translate?token=wrong", {"from": "en", "to": "pt", "text": TEXT})[0] == 401
        assert KEY not in daemon.log_text() and "alice" in daemon.log_text()
