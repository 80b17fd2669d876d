"""Translation over HTTP as DeepL's clients ask for it: the official client, and bodies by hand."""

import contextlib
import re
import urllib.parse

import deepl
import pytest
from wire import daemon as daemons
from wire import repository
from wire.keys import user_key
from wire.paths import EN_PT, PT_EN
from wire.polling import eventually
from wire.requests import PATIENCE, translate_request
from wire.rest import ask

TEXT = "Where is the nearest station?"
OTHER = "Onde fica a estação mais próxima?"
KEY = "the-key-of-alice"
GOOD = {"text": [TEXT], "source_lang": "EN", "target_lang": "PT-BR"}


@pytest.fixture(autouse=True)
def no_retries(monkeypatch):
    monkeypatch.setattr(deepl.http_client, "max_network_retries", 0)


def connect(daemon, key="any"):
    return contextlib.closing(deepl.DeepLClient(key, server_url=f"http://127.0.0.1:{daemon.ports['http']}"))


@pytest.fixture(scope="module")
def client(daemon):
    with connect(daemon) as client:
        yield client


def over_grpc(daemon, text, model=EN_PT):
    return daemon.translation.Translate(translate_request(text, model=model), timeout=PATIENCE).translations[0].text


# --- what comes out ---

def test_the_official_client_translates(daemon, client):
    one = client.translate_text(TEXT, source_lang="EN", target_lang="PT-BR")
    assert (one.text, one.detected_source_lang, one.billed_characters) == (over_grpc(daemon, TEXT), "EN", len(TEXT))
    several = client.translate_text([TEXT, OTHER, "Obrigado.\nTchau."], target_lang="EN-GB")
    assert [each.detected_source_lang for each in several] == ["EN", "PT", "PT"]
    assert [each.text for each in several] == [TEXT, over_grpc(daemon, OTHER, PT_EN), over_grpc(daemon, "Obrigado.\nTchau.", PT_EN)]


def test_the_official_client_keeps_tags(client):
    for handling in ("html", "xml"):
        text = client.translate_text("<p>Where is the <b>nearest station</b>?</p>", source_lang="EN", target_lang="PT-PT",
                                     tag_handling=handling).text
        assert text.startswith("<p>") and text.endswith("</p>")
        assert text.count("<b>") == text.count("</b>") == 1 and text.index("<b>") < text.index("</b>")


def test_what_asks_for_no_other_translation_is_taken(daemon, client):
    result = client.translate_text(TEXT, source_lang="EN", target_lang="PT-BR", formality="prefer_more", split_sentences="nonewlines",
                                   preserve_formatting=True, context="A tourist asks.", model_type="prefer_quality_optimized",
                                   tag_handling_version="v2", outline_detection=False, splitting_tags=["p"])
    assert result.text == over_grpc(daemon, TEXT)


def test_named_elements_do_not_divide_a_sentence(daemon, client):
    text = "<term>Old</term> <term>houses</term> are near the river."
    answer = client.translate_text(text, source_lang="EN", target_lang="PT-BR", tag_handling="xml", non_splitting_tags=["term"]).text
    assert answer.count("<term>") == answer.count("</term>") == 2
    assert re.sub("</?term>", "", answer) == over_grpc(daemon, "Old houses are near the river.")


def test_the_official_client_lists_languages(client):
    sources = client.get_source_languages()
    assert [(each.code, each.name) for each in sources] == [("EN", "English"), ("PT", "Portuguese")]
    targets = client.get_target_languages()
    assert [(each.code, each.name, each.supports_formality) for each in targets] == [
        ("EN-GB", "English (British)", False), ("EN-US", "English (American)", False),
        ("PT-BR", "Portuguese (Brazilian)", False), ("PT-PT", "Portuguese (European)", False)]
    for target in targets:
        assert client.translate_text(OTHER, target_lang=target).text


def test_the_official_client_finds_no_limit(client):
    usage = client.get_usage()
    assert usage.character.valid and usage.character.count == 0 and not usage.any_limit_reached


def test_a_form_is_read_as_json_is(daemon):
    for members in ([("text", TEXT), ("text", "Thank you."), ("source_lang", "EN"), ("target_lang", "PT-BR"), ("split_sentences", "0")],
                    [("target_lang", "pt"), ("text", TEXT), ("text", "Thank you."), ("preserve_formatting", "1")]):
        status, headers, answer = ask(daemon, "POST", "/v2/translate", urllib.parse.urlencode(members).encode(),
                                      "application/x-www-form-urlencoded")
        assert status == 200
        assert [each["text"] for each in answer["translations"]] == [over_grpc(daemon, TEXT), over_grpc(daemon, "Thank you.")]
        assert ("split_sentences" in headers.get("Warning", "")) == (("split_sentences", "0") in members)


def test_kserve_answers_beside_it(daemon):
    assert ask(daemon, "GET", "/v2/health/ready")[0] == 200
    assert ask(daemon, "GET", f"/v2/models/{EN_PT}")[2]["name"] == EN_PT


# --- what bad requests get ---

BAD = {
    "no JSON": (b"{", 400, ["JSON", "byte"]),
    "nothing": (b"", 400, ["text: is missing"]),
    "a list": (b"[]", 400, ["object", "array"]),
    "deep": (b"[" * 500_000, 400, ["JSON"]),
    "deep member": (b'{"x": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", 400, ["text: is missing"]),
    "many values": (b'{"x": [' + b"[]," * 300_000 + b"1]}", 400, ["more than 100000 values"]),
    "not UTF-8": (b'{"text": ["\xff\xfe"]}', 400, ["UTF-8"]),
    "half a surrogate": (rb'{"text": ["\ud83d"]}', 400, ["JSON"]),
    "no text": ({"target_lang": "PT-BR"}, 400, ["text: is missing"]),
    "no texts": (GOOD | {"text": []}, 400, ["text: is empty"]),
    "empty text": (GOOD | {"text": [""]}, 400, ["text[0]", "empty"]),
    "no target": ({"text": ["x"]}, 400, ["target_lang: is missing"]),
    "text a number": (GOOD | {"text": 7}, 400, ["text:", "number"]),
    "text a list of lists": (GOOD | {"text": ["x", ["x"]]}, 400, ["text[1]", "string", "array"]),
    "target a list": (GOOD | {"target_lang": ["PT"]}, 400, ["target_lang", "string", "array"]),
    "NUL": (GOOD | {"text": ["x", "a\0b"]}, 400, ["text[1]", "NUL", "byte 1"]),
    "long text": (GOOD | {"text": ["a" * 500_001]}, 413, ["text:", "500001 characters", "500000"]),
    "many texts": (GOOD | {"text": ["a"] * 10_001}, 413, ["text:", "10001", "10000"]),
    "unknown source": (GOOD | {"source_lang": "XX"}, 400, ["source_lang, target_lang", "'XX'"]),
    "unknown target": (GOOD | {"target_lang": "XX"}, 400, ["source_lang, target_lang", "'XX'"]),
    "unknown tags": (GOOD | {"tag_handling": "svg"}, 400, ["tag_handling", "'svg'", "html"]),
    "formality": (GOOD | {"formality": "less"}, 400, ["formality", "'less'", "prefer_less"]),
    "a glossary": (GOOD | {"glossary_id": "7"}, 400, ["glossary_id", "no glossary '7'"]),
    "tags to ignore": (GOOD | {"ignore_tags": 3}, 400, ["ignore_tags", "list of strings"]),
    "huge body": (b'{"text": "' + b"x" * 1_100_000, 413, ["1048576 bytes"]),
}


@pytest.mark.parametrize("body, status, words", BAD.values(), ids=BAD.keys())
def test_bad_request_is_refused_in_the_originals_shape(daemon, bystander, body, status, words):
    got, headers, answer = ask(daemon, "POST", "/v2/translate", body)
    assert (got, headers.get_content_type(), list(answer)) == (status, "application/json", ["message"])
    for word in words:
        assert word in answer["message"], f"{word!r} is not in {answer['message']!r}"


def test_other_bodies_paths_and_methods_are_refused_in_its_shape(daemon):
    form = "application/x-www-form-urlencoded"
    for method, path, body, content_type, status in [
            ("POST", "/v2/translate", b"x", "text/plain", 400), ("POST", "/v2/translate", b"x", "multipart/form-data; boundary=x", 400),
            ("POST", "/v2/translate", b"text=%ff&target_lang=PT", form, 400), ("GET", "/v2/translate", b"", form, 405),
            ("GET", "/v2/languages?type=both", b"", form, 400), ("GET", "/v2/languages", b"type=%ff", form, 400),
            ("POST", "/v2/languages", b"{", "application/json", 400), ("GET", "/v2/glossaries/7", b"", form, 404),
            ("POST", "/v2/document", b"", form, 400), ("POST", "/v2/document/7", b"document_key=1", form, 404),
            ("POST", "/v2/document/7", b"", form, 400), ("POST", "/v2/document/7/result", b"document_key=1", form, 404),
            ("GET", "/v2/document/7", b"", form, 405), ("DELETE", "/v2/usage", b"", form, 405)]:
        got, _, answer = ask(daemon, method, path, body, content_type)
        assert got == status and (status != 400 or list(answer) == ["message"] or "multipart" in content_type), (method, path, answer)


def test_the_official_client_knows_our_errors(client):
    with pytest.raises(deepl.DeepLException, match="target_lang: no loaded model") as refused:
        client.translate_text("x", source_lang="EN", target_lang="XX")
    assert refused.value.http_status_code == 400
    with pytest.raises(deepl.DeepLException, match="glossary_id: there is no glossary '7'"):
        client.translate_text("x", source_lang="EN", target_lang="PT-BR", glossary="7")


def test_keys_are_asked_for(tmp_path):
    keys = user_key(tmp_path, KEY)
    models = repository.link(tmp_path / "models", EN_PT)
    with daemons.start(tmp_path, "--api-keys", keys, models=models) as daemon:
        with connect(daemon, KEY) as known:
            assert known.translate_text(TEXT, source_lang="EN", target_lang="PT-BR").text
            assert known.get_target_languages() and known.get_usage()
            document = known.translate_document_upload("Thank you.", filename="a.txt", source_lang="EN", target_lang="PT-BR")
            assert known.translate_document_wait_until_done(document).done
        with connect(daemon, "wrong") as stranger:
            for call in (lambda: stranger.translate_text(TEXT, target_lang="PT-BR"), stranger.get_target_languages, stranger.get_usage,
                         lambda: stranger.translate_document_upload("x", filename="a.txt", target_lang="PT-BR"),
                         lambda: stranger.translate_document_get_status(document)):
                with pytest.raises(deepl.AuthorizationException, match="the API key is not known"):
                    call()
        assert ask(daemon, "POST", "/v2/translate", GOOD, Authorization=f"Bearer {KEY}")[0] == 200
        assert ask(daemon, "POST", "/v2/translate", GOOD)[0] == 403
        assert KEY not in daemon.log_text()


# --- glossaries ---

def test_the_official_client_keeps_and_uses_glossaries(daemon, client):
    entries = {"station": "terminal", "nearest": "mais perto"}
    made = client.create_glossary("ours", "EN", "PT-BR", entries)
    assert (made.name, made.ready, made.source_lang, made.target_lang, made.entry_count) == ("ours", True, "EN", "PT", 2)
    assert vars(client.get_glossary(made.glossary_id)) == vars(made)
    assert made.glossary_id in [one.glossary_id for one in client.list_glossaries()]
    assert client.get_glossary_entries(made) == entries
    assert ("en", "pt") in [(pair.source_lang, pair.target_lang) for pair in client.get_glossary_languages()]
    assert "terminal" in client.translate_text(TEXT, source_lang="EN", target_lang="PT-BR", glossary=made).text
    with pytest.raises(deepl.DeepLException, match="from en to pt, not from PT to EN-GB"):
        client.translate_text("x", source_lang="PT", target_lang="EN-GB", glossary=made.glossary_id)
    client.delete_glossary(made)
    for use in (client.get_glossary, client.get_glossary_entries, client.delete_glossary):
        with pytest.raises(deepl.GlossaryNotFoundException):
            use(made.glossary_id)


@pytest.mark.parametrize("members, word", [({"name": ""}, "name: is empty"), ({"entries": "a"}, "entries: line 1"), ({"entries_format": "xls"}, "'xls'"),
                                           ({"entries": "a\tb\na\tc"}, "entries:"), ({"name": "x" * 2000}, "name: has 2000"), ({"target_lang": 3}, "target_lang"),
                                           ({"source_lang": "xx"}, "no loaded model translates from 'xx' to 'pt'"), ({"target_lang": "EN"}, "target_lang: is 'en'")])
def test_a_bad_glossary_is_refused_by_name(daemon, members, word):
    good = {"name": "ours", "source_lang": "en", "target_lang": "pt", "entries": "a\tb", "entries_format": "tsv"}
    status, _, answer = ask(daemon, "POST", "/v2/glossaries", good | members)
    assert status == 400 and word in answer["message"]


# --- what Weblate sends ---

def test_ignored_elements_stay_as_they_are(daemon):
    for text, kept in [('Delete <x id="16"></x> files now', '<x id="16"></x>'), ("Press <x>OK button</x> to go on", "<x>OK button</x>"),
                       ("You have <x/> messages", "<x/>")]:
        body = {"text": [text], "source_lang": "EN", "target_lang": "PT", "tag_handling": "xml", "ignore_tags": ["x"]}
        status, _, answer = ask(daemon, "POST", "/v2/translate", body)
        assert status == 200 and kept in answer["translations"][0]["text"], answer
        assert "data-kept" not in answer["translations"][0]["text"]


def test_several_glossaries_are_applied_in_their_order(daemon, client):
    first = client.create_glossary("first", "EN", "PT-BR", {"station": "terminal"})
    second = client.create_glossary("second", "EN", "PT-BR", {"station": "parada", "nearest": "mais perto"})
    both = [first, second.glossary_id]
    text = client.translate_text(TEXT, source_lang="EN", target_lang="PT-BR", glossary_ids=both).text
    assert "terminal" in text and "mais perto" in text and "parada" not in text
    assert "parada" in client.translate_text(TEXT, source_lang="EN", target_lang="PT-BR", glossary_ids=both[::-1]).text
    document = client.translate_document_upload(TEXT, filename="a.txt", source_lang="EN", target_lang="PT-BR", glossary_ids=both)
    assert client.translate_document_wait_until_done(document).ok
    assert client.translate_document_download(document).text == text
    for wrong, words in [({"glossary_ids": [first.glossary_id, "7"]}, ["glossary_ids", "no glossary '7'"]),
                         ({"glossary_ids": ["1", "2", "3", "4", "5", "6"]}, ["glossary_ids", "6", "at most 5"]),
                         ({"glossary_ids": ["1"], "glossary_id": "2"}, ["glossary_id, glossary_ids"]),
                         ({"glossary_ids": [7]}, ["glossary_ids", "string"])]:
        status, _, answer = ask(daemon, "POST", "/v2/translate", GOOD | wrong)
        assert status == 400 and all(word in answer["message"] for word in words), answer


# --- documents ---

def test_the_official_client_translates_documents(daemon, client, tmp_path):
    (tmp_path / "in.txt").write_text(f"{TEXT}\n\nThank you.\n")
    status = client.translate_document_from_filepath(tmp_path / "in.txt", tmp_path / "out.txt", source_lang="EN", target_lang="PT-BR")
    assert status.done and status.billed_characters == len((tmp_path / "in.txt").read_text())
    assert (tmp_path / "out.txt").read_text() == f"{over_grpc(daemon, TEXT)}\n\n{over_grpc(daemon, 'Thank you.')}\n"
    # Its language is detected.
    (tmp_path / "in.md").write_text(f"# {TEXT}\n")
    client.translate_document_from_filepath(tmp_path / "in.md", tmp_path / "out.md", target_lang="PT-PT")
    assert (tmp_path / "out.md").read_text().startswith("# ") and TEXT not in (tmp_path / "out.md").read_text()


def test_a_document_without_text_stays_as_it_is(client, tmp_path):
    (tmp_path / "in.txt").write_text("\n\n")
    client.translate_document_from_filepath(tmp_path / "in.txt", tmp_path / "out.txt", source_lang="EN", target_lang="PT-BR")
    assert (tmp_path / "out.txt").read_text() == "\n\n"


def test_a_document_is_fetched_with_its_key_only(daemon, client):
    document = client.translate_document_upload("Thank you.", filename="a.txt", source_lang="EN", target_lang="PT-BR")
    assert client.translate_document_wait_until_done(document).done
    for _ in range(2):  # a download that broke off can be repeated
        answer = client.translate_document_download(document)
        assert answer.text == over_grpc(daemon, "Thank you.") and "a_PT-BR.txt" in answer.headers["Content-Disposition"]
    for wrong in (deepl.DocumentHandle(document.document_id, document.document_key[:-1] + "x"), deepl.DocumentHandle("7", document.document_key)):
        with pytest.raises(deepl.DeepLException, match="there is no document '"):
            client.translate_document_get_status(wrong)
        with pytest.raises(deepl.DeepLException, match="Not found"):  # the client reads no message of a download
            client.translate_document_download(wrong)


def test_a_document_is_stopped_and_forgotten_at_a_request(daemon, client):
    """A long one: it is being translated when it is removed, and gives its place back."""
    text = "The weather is lovely today, and the trains run on time. " * 1500
    document = client.translate_document_upload(text, filename="a.txt", source_lang="EN", target_lang="PT-BR")
    address = f"/v2/document/{document.document_id}"
    for query, status, words in [("", 400, "document_key: is missing"), ("?document_key=x", 404, "there is no document '")]:
        answer = ask(daemon, "DELETE", address + query)
        assert answer[0] == status and words in answer[2]["message"]
    assert ask(daemon, "DELETE", f"{address}?document_key={document.document_key}")[0] == 204
    with pytest.raises(deepl.DeepLException, match="there is no document '"):
        client.translate_document_get_status(document)
    eventually("the translation is cancelled", lambda: daemon.metrics().total("millrace_requests_total", code="CANCELLED") >= 1)


def test_bad_documents_are_refused_at_the_upload(client):
    good = {"filename": "a.txt", "source_lang": "EN", "target_lang": "PT-BR"}
    for content, options, words in [
            ("x", {"filename": "a.pdf"}, "file: .*a.pdf"), ("x", {"filename": "a"}, "file: "), (b"\xff", {}, "UTF-8"),
            (b"PK", {"filename": "a.docx"}, "file: "), ("x", {"target_lang": "XX"}, "target_lang"), ("x" * 500_001, {}, "500001"),
            ("x", {"output_format": "docx"}, "output_format: 'docx'"), ("x", {"glossary": "7"}, "glossary_id: there is no glossary '7'"),
            ("x", {"formality": "less"}, "formality")]:
        with pytest.raises(deepl.DeepLException, match=words):
            client.translate_document_upload(content, **good | options)
    document = client.translate_document_upload("Thank you.", **good | {"output_format": "TXT"})
    assert client.translate_document_wait_until_done(document).done
