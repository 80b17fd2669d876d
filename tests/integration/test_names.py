"""Models and voices are named alike over HTTP, over gRPC and on the command line."""

import io
import json
import re
import wave

import pytest
from wire.daemon import err, run
from wire.paths import EN_PT, ROOT, VOICE
from wire.rest import send

TEXT = "Good morning."
# Model and voice, by any of which Piper's joe speaks.
NAMES = [("", ""), ("tts-1", ""), ("TTS-1-HD", "alloy"), ("gpt-4o-mini-tts-2025-12-15", "Nova"), ("kokoro", "af_bella"),
         ("Kokoro", "af_bella(2)+af_sky(1)"), (VOICE.upper(), "Joe"), ("", "JOE"), (VOICE, "onyx")]


def ask(daemon, path, body, method="POST", **headers):
    """Status, headers and body."""
    return send(daemon, method, path, body, **headers)


def over_http(daemon, model, voice):
    body = {"input": TEXT, "response_format": "pcm", "sample_rate": 22050} | ({"model": model} if model else {}) | ({"voice": voice} if voice else {})
    status, _, audio = ask(daemon, "/v1/audio/speech", body)
    assert status == 200, audio
    return audio


def on_the_command_line(daemon, file, *options):
    ended = run("synthesize", TEXT, "--address", daemon.address, "-o", str(file), *options)
    assert ended.returncode == 0, err(ended)
    with wave.open(str(file)) as audio:
        return audio.readframes(audio.getnframes())


@pytest.mark.parametrize("model, voice", NAMES, ids=[f"{model or 'no model'}, {voice or 'no voice'}" for model, voice in NAMES])
def test_a_name_means_the_same_everywhere(daemon, tmp_path, model, voice):
    expected = over_http(daemon, VOICE, "joe")
    assert over_http(daemon, model, voice) == expected
    options = [*(("--model", model) if model else ()), *(("--voice", voice) if voice else ())]
    assert len(on_the_command_line(daemon, tmp_path / "a.wav", *options)) == len(expected)


def test_errors_name_voices_and_aliases_and_no_translators(daemon):
    status, _, answer = ask(daemon, "/v1/audio/speech", {"model": "nobody", "input": TEXT})
    message = json.loads(answer)["error"]["message"]
    assert status == 404 and VOICE in message and "tts-1" in message and EN_PT not in message
    ended = run("synthesize", TEXT, "--address", daemon.address, "--model", "nobody", "-o", "-")
    assert ended.returncode == 1 and VOICE in err(ended) and "kokoro" in err(ended) and EN_PT not in err(ended)
    status, _, answer = ask(daemon, "/v1/audio/speech", {"model": "tts-1", "input": TEXT, "language": "zh"})
    assert status == 400 and "no loaded model speaks 'zh'" in json.loads(answer)["error"]["message"]


def test_without_a_stream_the_header_has_the_length(daemon):
    for name in ("wav", "WAV"):
        status, _, audio = ask(daemon, "/v1/audio/speech", {"input": TEXT, "response_format": name, "stream": False})
        assert status == 200
        with wave.open(io.BytesIO(audio)) as file:
            assert file.getnframes() * 2 == len(audio) - 44
    _, _, flac = ask(daemon, "/v1/audio/speech", {"input": TEXT, "response_format": "flac", "stream": False})
    # The number of samples is the last 36 bits before the digest of STREAMINFO, which begins at byte 8.
    assert int.from_bytes(flac[8 + 13:8 + 18], "big") & (1 << 36) - 1 > 10_000
    _, _, streamed = ask(daemon, "/v1/audio/speech", {"input": TEXT, "response_format": "wav", "stream": True})
    assert streamed[4:8] == b"\xff\xff\xff\xff"


def test_translate_says_what_is_missing(daemon):
    ended = run("translate", "Hello.", "--address", daemon.address)
    assert ended.returncode == 1 and "target" in err(ended) and EN_PT in err(ended)
    assert run("translate", "Hello.", "--target", "pt", "--address", daemon.address).returncode == 0


# --- JSON, whatever its Content-Type ---

@pytest.mark.parametrize("content_type", [None, "application/x-www-form-urlencoded", "text/plain", "application/octet-stream"])
def test_a_body_that_begins_as_json_is_json(daemon, content_type):
    headers = {"Content-Type": content_type} if content_type else {}
    bodies = {"/deeplx": {"text": "Hello World", "source_lang": "EN", "target_lang": "PT"},
              "/v1/translate": {"text": "Hello World", "source_lang": "EN", "target_lang": "PT"},
              "/imme": {"source_lang": "en", "target_lang": "pt", "text_list": ["Hello"]},
              "/kiss": {"from": "en", "to": "pt", "text": "Hello"},
              "/translate/batch": {"from": "en", "to": "pt", "texts": ["Hello"]},
              "/translate": {"q": "Hello", "source": "en", "target": "pt"},
              "/detect": {"q": "Good morning, where is the station?"},
              "/v2/translate": {"text": ["Hello"], "target_lang": "PT-BR", "source_lang": "EN"}}
    for path, body in bodies.items():
        status, _, answer = ask(daemon, path, b" \n" + json.dumps(body).encode(), **headers)
        assert status == 200, (path, answer)
    status, _, answer = ask(daemon, "/translate", b"q=Hello&source=en&target=pt", **{"Content-Type": "application/x-www-form-urlencoded"})
    assert status == 200, answer


# --- the description ---

def test_every_route_is_described_and_every_description_is_served(daemon):
    status, _, answer = ask(daemon, "/openapi.json", None, "GET")
    document = json.loads(answer)
    assert status == 200 and document["openapi"].startswith("3.1")
    assert document.get("x-undescribed", []) == [], "routes without a line in the routes.inc of their front end"
    table = "".join(routes.read_text() for routes in ROOT.glob("server/frontends/*/routes.inc"))
    listed = set(re.findall(r'MILLRACE_ROUTE\("(GET|POST|DELETE)",\s*"([^"]+)"', table))
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert len(listed) > 50
    assert listed == described
    for method, path in sorted(described):
        status, headers, _ = ask(daemon, re.sub(r"\{\w+\}", "live" if path.startswith("/console/") else "x", path), None, "OPTIONS")
        assert status == 204 and method in headers["Allow"], (method, path, status)
    assert ask(daemon, "/spec", None, "GET")[2] == answer
    status, headers, page = ask(daemon, "/docs", None, "GET")
    assert status == 200 and headers.get_content_type() == "text/html" and b"/v1/audio/speech" in page and b"<script" not in page
