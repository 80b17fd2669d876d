"""Speech over HTTP as OpenAI's clients ask for it: the official client, raw sockets, independent decoders."""

import contextlib
import http.client
import json
import math
import socket
import signal
import threading
import time

import openai
import pytest
from wire import daemon as daemons
from wire import repository
from wire.keys import user_key
from wire.paths import EN_PT, KOKORO, NULL, PT_EN, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, speak_request
from wire.rest import send
from wire.sound import decode

TEXT = "Good morning. The children were playing in the garden! Where is the nearest station?"
LONG = " ".join([TEXT] * 200)
FORMATS = {"mp3": "audio/mpeg", "opus": "audio/ogg", "flac": "audio/flac", "wav": "audio/wav", "pcm": "audio/pcm"}


def client_of(daemon, key="none", **options):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{daemon.ports['http']}/v1", api_key=key, max_retries=0, timeout=PATIENCE, **options)


@pytest.fixture(scope="module")
def client(daemon):
    with client_of(daemon) as client:
        yield client


def post(daemon, body, **headers):
    """Status, headers and the error, or the audio, of a request whose body goes out as it is."""
    status, answered, content = send(daemon, "POST", "/v1/audio/speech", body, "application/json", **headers)
    return status, answered, json.loads(content)["error"] if answered.get_content_type() == "application/json" else content


def open_speech(daemon, text, **members):
    """A connection that has asked for speech and has read nothing."""
    connection = socket.create_connection(("127.0.0.1", daemon.ports["http"]), timeout=PATIENCE)
    body = json.dumps({"model": VOICE, "input": text, "response_format": "pcm"} | members).encode()
    connection.sendall(b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    return connection


def requests_ended(daemon, code):
    return daemon.metrics().total("millrace_requests_total", method="HttpSpeech", code=code)


# --- what comes out ---

@pytest.mark.parametrize("form", FORMATS)
def test_speech_in_every_format_is_what_grpc_says(daemon, client, form):
    rate = 24000 if form in ("opus", "pcm") else 22050
    wanted = decode(daemon.synthesis.Synthesize(speak_request(TEXT, sample_rate=rate), timeout=PATIENCE).audio, "wav")
    answer = client.audio.speech.create(model=VOICE, voice="joe", input=TEXT, response_format=form)
    assert answer.response.headers["content-type"] == FORMATS[form]
    if form == "pcm":
        assert len(answer.content) == 2 * len(wanted.samples)
        return
    sound = decode(answer.content, form)
    assert sound.rate == rate
    if form == "mp3":   # to a frame, which some decoders leave out at the end
        assert abs(sound.seconds - wanted.seconds) <= 0.03
    else:
        assert -0.001 <= sound.seconds - wanted.seconds <= 0.01
    assert sound.loudness == pytest.approx(wanted.loudness, rel=0.1)
    if form in ("wav", "flac"):
        assert sound.samples == wanted.samples


def test_a_range_is_ignored(daemon):
    body = {"model": VOICE, "input": "One.", "response_format": "pcm", "seed": 1}
    status, headers, audio = post(daemon, body, Range="bytes=0-99,0-")
    assert (status, headers["Content-Range"], headers["Accept-Ranges"]) == (200, None, None)
    assert audio == post(daemon, body)[2] and len(audio) > 100


def test_mp3_is_the_default(client):
    assert decode(client.audio.speech.create(model="tts-1", voice="joe", input="Hello.").content, "mp3").seconds > 0.3


@pytest.mark.parametrize("model", ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", VOICE])
def test_openais_models_are_the_one_for_speech(client, model):
    whole = client.audio.speech.create(model=VOICE, voice="joe", input="Hello.", response_format="pcm").content
    assert client.audio.speech.create(model=model, voice="joe", input="Hello.", response_format="pcm").content == whole


def test_openais_models_are_the_one_that_has_the_voice(all_models):
    with client_of(all_models) as client:
        def say(model, voice):
            return client.audio.speech.create(model=model, voice=voice, input="Hello.", response_format="pcm").content

        assert say("tts-1", "jm_kumo") == say(KOKORO, "jm_kumo")


def test_an_english_text_is_spoken_by_a_voice_made_for_english(all_models):
    body = {"input": "Hello.", "response_format": "pcm"}
    assert post(all_models, body | {"model": "tts-1"})[2] == post(all_models, body | {"model": VOICE, "voice": "joe"})[2]


def test_speed_makes_it_shorter(client):
    slow, fast = (len(client.audio.speech.create(model="tts-1", voice="joe", input=TEXT, speed=speed, response_format="pcm").content)
                  for speed in (0.5, 2))
    assert slow / fast == pytest.approx(4, rel=0.05)


def test_phonemes_are_ours(client):
    def say(text, **extra):
        return client.audio.speech.create(model=VOICE, voice="joe", input=text, response_format="pcm", extra_body=extra).content
    assert say("", phonemes="həlˈoʊ.") == say("Hello.")


def test_language_is_ours(all_models):
    daemon = all_models
    body = {"model": KOKORO, "input": "ねこ", "response_format": "pcm"}
    assert post(daemon, body | {"language": "ja"})[2] == post(daemon, {"model": KOKORO, "phonemes": "neko", "voice": "jf_alpha", "response_format": "pcm"})[2]
    status, _, error = post(daemon, body | {"language": "de"})
    assert (status, error["param"]) == (400, "language")
    assert "en-US, ja" in error["message"]
    assert post(daemon, body | {"language": "ja", "input": "猫"})[2] == post(daemon, body | {"language": "ja"})[2]
    status, _, error = post(daemon, body | {"language": "ja", "input": "猫 Дом"})
    assert (status, error["param"]) == (400, "input")
    assert "'Д'" in error["message"]


def test_sample_rate_and_seed_are_ours(client):
    def say(**extra):
        return client.audio.speech.create(model="tts-1", voice="joe", input="Hello.", response_format="pcm", extra_body=extra).content
    assert len(say(sample_rate=8000)) == pytest.approx(len(say()) / 3, abs=4)
    assert say(seed=5) == say(seed=5) != say(seed=6)


def test_audio_comes_while_it_is_spoken(client):
    start = time.monotonic()
    with client.audio.speech.with_streaming_response.create(model="tts-1", voice="joe", input=TEXT * 4, response_format="mp3") as answer:
        pieces = answer.iter_bytes()
        next(pieces)
        first = time.monotonic() - start
        assert sum(map(len, pieces)) > 50_000
    assert first < (time.monotonic() - start) / 2


def test_events_hold_the_same_audio(daemon, client):
    body = {"model": "tts-1", "input": TEXT, "response_format": "pcm"}
    status, headers, content = post(daemon, body | {"stream_format": "sse"})
    assert (status, headers.get_content_type()) == (200, "text/event-stream")
    events = [json.loads(event.removeprefix("data: ")) for event in content.decode().split("\n\n")[:-1]]
    assert [event["type"] for event in events] == ["speech.audio.delta"] * (len(events) - 1) + ["speech.audio.done"]
    assert len(events) >= 4   # three sentences
    usage = events[-1]["usage"]
    assert usage["input_tokens"] == len(TEXT)
    assert usage["output_tokens"] == pytest.approx(20 * len(post(daemon, body)[2]) / 2 / 24000, abs=2)
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


def test_models_and_voices(all_models):
    aliases = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "kokoro"]
    with client_of(all_models) as client:
        assert [model.id for model in client.models.list()] == sorted([EN_PT, PT_EN, KOKORO, NULL, VOICE]) + aliases
        assert client.models.retrieve("tts-1").id == "tts-1"
        assert client.models.retrieve(VOICE).owned_by == "millrace"
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("nobody")
    status, voices = all_models.http("/v1/audio/voices")
    assert status == 200
    assert [voice["id"] for voice in voices["voices"] if voice["model"] == VOICE] == ["joe"]
    assert [voice["id"] for voice in all_models.http(f"/v1/audio/voices/?model={VOICE}")[1]["voices"]] == ["joe"]
    status, error = all_models.http(f"/v1/audio/voices?model={VOICE}&model={KOKORO}")
    assert status == 400 and error["error"]["message"] == "model: is given twice in the query"
    kokoro = {voice["id"]: voice for voice in voices["voices"] if voice["model"] == KOKORO}
    assert (kokoro["jf_alpha"]["language"], kokoro["jf_alpha"]["languages"]) == ("ja", ["en-US", "ja", "es", "fr-FR", "hi", "it", "pt-BR"])


# --- what bad requests get: a status, and the member with what is allowed ---

GOOD = {"model": VOICE, "input": "Hello."}
BAD = {
    "no JSON": (b"{", 400, None, ["JSON", "byte"]),
    "nothing": (b"", 400, None, ["JSON"]),
    "a list": (b"[]", 400, None, ["object", "array"]),
    "deep": (b"[" * 500_000, 400, None, ["JSON"]),
    "not UTF-8": (b'{"model": "tts-1", "input": "\xff\xfe"}', 400, None, ["UTF-8"]),
    "half a surrogate": (rb'{"model": "tts-1", "input": "\ud83d"}', 400, None, ["JSON"]),
    "no input": ({"model": "tts-1"}, 400, "input", ["input", "missing"]),
    "empty input": (GOOD | {"input": ""}, 400, "input", ["empty"]),
    "only signs": (GOOD | {"input": "...?!"}, 400, "input", ["letter or a digit"]),
    "NUL": (GOOD | {"input": "a\0b"}, 400, "input", ["NUL", "byte 1"]),
    "long input": (GOOD | {"input": "a" * 200_001}, 413, "input", ["200001 characters", "200000"]),
    "input a number": (GOOD | {"input": 7}, 400, "input", ["string", "number"]),
    "unknown model": (GOOD | {"model": "nobody"}, 404, "model", ["'nobody'", VOICE]),
    "translation model": (GOOD | {"model": EN_PT}, 400, "model", [EN_PT, "synthesis"]),
    "unknown voice": (GOOD | {"voice": "nobody"}, 400, "voice", ["'nobody'", "joe"]),
    "voice a list": (GOOD | {"voice": ["joe"]}, 400, "voice", ["string", "id", "array"]),
    "voice without id": (GOOD | {"voice": {"name": "joe"}}, 400, "voice", ["id", "missing"]),
    "voice with no name for id": (GOOD | {"voice": {"id": 7}}, 400, "voice", ["id", "string", "number"]),
    "voice of 1 MB": (GOOD | {"voice": "v" * 1_000_000}, 400, "voice", ["'vvv", "joe"]),
    "voice of 1 MB for an alias": (GOOD | {"model": "tts-1", "voice": {"id": "v" * 1_000_000}}, 400, "voice", ["'vvv", "joe"]),
    "voice not UTF-8": (b'{"model": "tts-1", "input": "x", "voice": "\xff"}', 400, None, ["UTF-8"]),
    "model of 1 MB": (GOOD | {"model": "m" * 1_000_000}, 404, "model", ["mmm", VOICE]),
    "speed 0": (GOOD | {"speed": 0}, 400, "speed", ["0.25..4"]),
    "speed NaN": (GOOD | {"speed": math.nan}, 400, None, ["JSON"]),
    "speed huge": (GOOD | {"speed": 1e300}, 400, "speed", ["0.25..4"]),
    "speed 5": (GOOD | {"speed": 5}, 400, "speed", ["5", "0.25..4"]),
    "speed a word": (GOOD | {"speed": "fast"}, 400, "speed", ["number", "string"]),
    "aac": (GOOD | {"response_format": "aac"}, 400, "response_format", ["'aac'", "mp3, opus, flac, wav and pcm"]),
    "unknown stream format": (GOOD | {"stream_format": "x"}, 400, "stream_format", ["'x'", "audio or sse"]),
    "bad sample rate": (GOOD | {"sample_rate": 7000}, 400, "sample_rate", ["7000", "8000"]),
    "unknown letter of a language": (GOOD | {"lang_code": "q"}, 400, "lang_code", ["'q'", "en-US"]),
    "language that is not spoken": (GOOD | {"lang_code": "ja"}, 400, "lang_code", ["ja", "en-US"]),
    "volume a word": (GOOD | {"volume_multiplier": "loud"}, 400, "volume_multiplier", ["number", "0..4", "string"]),
    "volume 5": (GOOD | {"volume_multiplier": 5}, 400, "volume_multiplier", ["5", "0..4"]),
    "stream a word": (GOOD | {"stream": "yes"}, 400, "stream", ["true or false", "string"]),
    "timing a number": (GOOD | {"return_timing": 1}, 400, "return_timing", ["true or false", "number"]),
    "huge body": (b'{"input": "' + b"x" * 1_100_000, 413, None, ["1048576 bytes"]),
}


@pytest.mark.parametrize("body, status, param, words", BAD.values(), ids=BAD.keys())
def test_bad_request_is_refused_by_member(daemon, bystander, body, status, param, words):
    got, headers, error = post(daemon, body)
    assert (got, headers.get_content_type()) == (status, "application/json")
    assert error.keys() == {"message", "type", "param", "code"}
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    for word in words:
        assert word in error["message"], f"{word!r} is not in {error['message']!r}"
    assert len(error["message"]) < 1000


def test_the_client_knows_our_errors(all_models, client):
    with client_of(all_models) as client_of_all, pytest.raises(openai.BadRequestError) as refused:
        client_of_all.audio.speech.create(model="tts-1", voice="nobody", input="x")
    assert refused.value.param == "voice"
    assert "joe" in refused.value.message and "jf_alpha" in refused.value.message   # of every model that tts-1 may mean
    with pytest.raises(openai.NotFoundError) as refused:
        client.audio.speech.create(model="nobody", voice="joe", input="x")
    assert refused.value.code == "model_not_found"


def test_bodies_that_are_not_framed_are_refused_in_openais_shape(daemon):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("POST", "/v1/audio/speech", b"{}", headers={"Transfer-Encoding": "gzip"})
        answer = connection.getresponse()
        assert answer.status == 501
        assert "chunked" in json.loads(answer.read())["error"]["message"]


def test_a_body_in_chunks_is_spoken(daemon):
    body = json.dumps({"model": "tts-1", "input": "Hi.", "response_format": "wav"}).encode()
    connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=PATIENCE)
    with contextlib.closing(connection):
        for pieces in ([body], [body[i:i + 1] for i in range(len(body))]):
            connection.request("POST", "/v1/audio/speech", iter(pieces), headers={"Transfer-Encoding": "chunked"}, encode_chunked=True)
            answer = connection.getresponse()
            assert (answer.status, answer.read()[:4]) == (200, b"RIFF")


# --- clients that leave, listen slowly, come in numbers ---

def test_a_long_text_needs_no_header_of_json(daemon):
    """curl -d says that it sends a form, of which the HTTP library takes at most 8 KiB."""
    body = json.dumps({"model": "tts-1", "input": "The weather is lovely today. " * 400, "response_format": "pcm"}).encode()
    connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("POST", "/v1/audio/speech", body, headers={"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        assert answer.status == 200 and len(answer.read(10_000)) == 10_000
    daemon.wait_until_idle()   # the rest is cancelled, which the next test must not count as its own


def test_client_that_leaves_stops_the_speech(daemon, bystander):
    cancelled = requests_ended(daemon, "CANCELLED")
    with open_speech(daemon, LONG[:20_000]) as connection:
        assert connection.recv(12) == b"HTTP/1.1 200"
    eventually("the request ends", lambda: requests_ended(daemon, "CANCELLED") == cancelled + 1, 10)


def test_client_that_leaves_before_the_first_audio_stops_the_speech(daemon):
    ended = requests_ended(daemon, "CANCELLED") + requests_ended(daemon, "OK")
    open_speech(daemon, "word " * 60).close()
    eventually("the request ends", lambda: requests_ended(daemon, "CANCELLED") + requests_ended(daemon, "OK") == ended + 1, 10)
    daemon.wait_until_idle()


def test_slow_listener_holds_no_worker_and_gets_it_all(daemon):
    """What a listener does not take is bounded: speech ahead of it is parked, and the workers are free."""
    spoken = daemon.metrics().total("millrace_audio_seconds_total")
    with open_speech(daemon, LONG[:6_000], sample_rate=48000) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)

        last, since = spoken, time.monotonic()

        def parked():
            # No forward runs for a moment between any two steps: it has to stay so.
            nonlocal last, since
            now = daemon.metrics().total("millrace_audio_seconds_total")
            if now != last or daemon.running_forwards() != 0:
                last, since = now, time.monotonic()
            return now > spoken and time.monotonic() - since > 0.5
        eventually("the speech waits for its listener", parked, 60)
        ahead = daemon.metrics().total("millrace_audio_seconds_total") - spoken
        assert daemon.metrics().total("millrace_requests_in_flight") == 1
        received = b""
        while not received.endswith(b"0\r\n\r\n"):
            data = connection.recv(1 << 20)
            assert data, "cut off"
            received = received[-16:] + data
    total = daemon.metrics().total("millrace_audio_seconds_total") - spoken
    assert ahead < total / 2
    daemon.wait_until_idle()


def test_too_many_listeners_are_refused_and_health_still_answers(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--workers", "2", "--queue-size", "200", "--max-request-time", "24h", models=models) as daemon, \
            contextlib.ExitStack() as open_ones:
        for _ in range(48):
            open_ones.enter_context(open_speech(daemon, LONG[:20_000], sample_rate=48000))
        eventually("all are admitted", lambda: daemon.metrics().total("millrace_requests_in_flight") == 48, 20)
        status, headers, error = post(daemon, GOOD)
        assert (status, headers["Retry-After"], error["code"]) == (429, "1", "rate_limit_exceeded")
        assert headers["Retry-After-Ms"] == "1000"
        assert "48 HTTP connections" in error["message"]
        assert daemon.http("/v2/health/ready")[0] == 200
        open_ones.close()
        eventually("a place is free", lambda: post(daemon, GOOD)[0] == 200, 30)


def test_listener_that_never_reads_is_dropped(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--write-stall-timeout", "1s", models=models) as daemon:
        with open_speech(daemon, LONG[:20_000], sample_rate=48000):
            eventually("its request ends", lambda: requests_ended(daemon, "CANCELLED") == 1, 60)


def test_stop_lets_the_speech_end(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--drain-timeout", "5m", models=models) as daemon:
        answers = []
        speaking = threading.Thread(target=lambda: answers.append(post(daemon, GOOD | {"input": TEXT * 6, "response_format": "pcm"})))
        speaking.start()
        eventually("it speaks", lambda: daemon.metrics().total("millrace_requests_in_flight") == 1, 10)
        daemon.terminate()
        speaking.join()
        assert answers[0][0] == 200 and len(answers[0][2]) > 500_000
        assert daemon.exit_status(20) == 0


def test_second_signal_stops_although_a_listener_takes_nothing(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--drain-timeout", "5m", models=models) as daemon, open_speech(daemon, LONG[:20_000], sample_rate=48000):
        eventually("it speaks", lambda: daemon.metrics().total("millrace_audio_seconds_total") > 0, 20)
        daemon.terminate()
        eventually("it drains", lambda: "stopping" in daemon.log_text(), 10)
        daemon.terminate()
        assert daemon.exit_status(10) == 128 + signal.SIGTERM


# --- keys ---

def test_keys_are_asked_for(tmp_path):
    keys = user_key(tmp_path, "the-key-of-alice")
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--api-keys", keys, models=models) as daemon:
        with client_of(daemon, "the-key-of-alice") as known:
            assert known.audio.speech.create(model="tts-1", voice="joe", input="Hello.").content
            assert [model.id for model in known.models.list()][0] == VOICE
        with client_of(daemon, "wrong") as unknown:
            with pytest.raises(openai.AuthenticationError) as refused:
                unknown.audio.speech.create(model="tts-1", voice="joe", input="Hello.")
            assert refused.value.code == "invalid_api_key"
            with pytest.raises(openai.AuthenticationError):
                unknown.models.list()
        status, headers, _ = post(daemon, GOOD)
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
