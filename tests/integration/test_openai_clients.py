"""Programs that speak through OpenAI's API, as they ask for it: their requests replayed, by OpenAI's package where they use that."""

import asyncio
import base64
import json
from typing import get_args

import openai
import pytest
from openai.types.audio.speech_create_params import Voice
from openai.types.audio.speech_model import SpeechModel
from wire import daemon as daemons
from wire import repository
from wire.keys import user_key
from wire.paths import KOKORO, VOICE
from wire.requests import PATIENCE
from wire.rest import send
from wire.sound import decode

TEXT = "Good morning. Where is the nearest station?"
CAPTIONS = "/dev/captioned_speech"
OPENAIS_VOICES = [name for choice in get_args(Voice) for name in get_args(choice)]   # the others are str and an object
PAGE = "https://chat.example.org"


def client_of(daemon):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{daemon.ports['http']}/v1", api_key="none", max_retries=0, timeout=PATIENCE)


def ask(daemon, method, path, body=None, **headers):
    """Status, headers and the body as it came."""
    return send(daemon, method, path, body, "application/json", **headers)


def pcm_of(daemon, **members):
    """Samples, as bytes, of what Millrace's own request for the text gives."""
    status, _, audio = ask(daemon, "POST", "/v1/audio/speech", {"model": VOICE, "input": TEXT, "response_format": "pcm"} | members)
    assert status == 200, audio
    return audio


# --- names ---

def test_the_voices_are_those_of_openais_package():
    assert len(OPENAIS_VOICES) == 13 and "alloy" in OPENAIS_VOICES


@pytest.mark.parametrize("voice", [*OPENAIS_VOICES, {"id": "alloy"}, {"id": "joe"}], ids=str)
def test_every_voice_of_openais_speaks(daemon, voice):
    with client_of(daemon) as client:
        spoken = client.audio.speech.create(model="tts-1", voice=voice, input="Hello.", response_format="pcm").content
    assert spoken == pcm_of(daemon, input="Hello.")


@pytest.mark.parametrize("model", get_args(SpeechModel))
def test_every_model_of_openais_speaks(daemon, model):
    with client_of(daemon) as client:
        assert client.audio.speech.create(model=model, voice="alloy", input="Hello.", response_format="pcm").content
        assert client.models.retrieve(model).id == model


def test_a_voice_of_openais_is_one_for_the_language(all_models):
    def say(voice):
        return pcm_of(all_models, model="tts-1", input="ねこ", language="ja", voice=voice)

    assert say("alloy") == pcm_of(all_models, model=KOKORO, input="ねこ", language="ja", voice="jf_alpha")
    assert say("ash") != say("alloy")
    aliases = json.loads(ask(all_models, "GET", "/v1/audio/voices")[2])["aliases"]
    assert {alias["model"] for alias in aliases} == {VOICE, KOKORO}
    assert {alias["voice"] for alias in aliases if alias["model"] == VOICE} == {"joe"}
    assert len([alias for alias in aliases if alias["model"] == KOKORO]) == 13


def test_aliases_are_configured(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--voice-aliases", "narrator=joe", models=models) as daemon:
        assert pcm_of(daemon, voice="narrator") == pcm_of(daemon, voice="alloy") == pcm_of(daemon)
    with daemons.start(tmp_path, "--voice-aliases", "off", models=models) as daemon:
        status, _, answer = ask(daemon, "POST", "/v1/audio/speech", {"model": VOICE, "input": TEXT, "voice": "alloy"})
        assert (status, json.loads(answer)["error"]["param"]) == (400, "voice")
        assert json.loads(ask(daemon, "GET", "/v1/audio/voices")[2])["aliases"] == []


# --- the requests of programs, with what they send by default ---

def test_sillytavern(daemon):
    """Its OpenAI-compatible provider."""
    body = {"model": "tts-1", "input": TEXT, "voice": "alloy", "response_format": "mp3", "speed": 1}
    status, headers, audio = ask(daemon, "POST", "/v1/audio/speech", body, Authorization="Bearer ")
    assert (status, headers["Content-Type"], headers["Warning"]) == (200, "audio/mpeg", None)
    assert decode(audio, "mp3").seconds > 1


def test_open_webui(daemon):
    """It asks for the voices of its picker, and sends what its administrator adds to the request."""
    voices = json.loads(ask(daemon, "GET", "/v1/audio/voices", Authorization="Bearer none")[2])["voices"]
    assert {voice["id"]: voice["name"] for voice in voices} == {"joe": "joe"}
    added = {"speed": 1.25, "lang_code": "a", "volume_multiplier": 1.0, "return_download_link": False}
    status, headers, audio = ask(daemon, "POST", "/v1/audio/speech", {"model": "tts-1", "voice": "alloy", "input": TEXT} | added,
                                 Authorization="Bearer none", X_OpenWebUI_User_Name="Jane")
    assert (status, headers["Warning"]) == (200, '299 millrace "ignored members: return_download_link"')
    assert decode(audio, "mp3").seconds > 1


def test_pipecat(daemon):
    """Its OpenAITTSService allows OpenAI's voices only, and plays samples at 24 kHz."""
    async def run_tts():
        chunks = []
        async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{daemon.ports['http']}/v1", api_key="none", timeout=PATIENCE) as client:
            async with client.audio.speech.with_streaming_response.create(
                    input=TEXT, model="gpt-4o-mini-tts", voice="alloy", response_format="pcm", instructions="calm") as answer:
                assert answer.status_code == 200
                async for chunk in answer.iter_bytes(24_000):
                    chunks.append(chunk)
        return b"".join(chunks)

    assert asyncio.run(run_tts()) == pcm_of(daemon)


def test_livekit(daemon):
    """It asks for events where the model is not tts-1, tells them by the type of the answer, and counts the usage."""
    async def synthesize():
        audio, usage = b"", None
        async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{daemon.ports['http']}/v1", api_key="none", timeout=PATIENCE) as client:
            async with client.audio.speech.with_streaming_response.create(
                    input=TEXT, model="gpt-4o-mini-tts", voice="ash", response_format="mp3", speed=1.0, stream_format="sse") as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                async for line in answer.iter_lines():
                    if not line.startswith("data:"):
                        continue
                    event = json.loads(line.removeprefix("data:"))
                    if event["type"] == "speech.audio.delta":
                        audio += base64.b64decode(event["audio"])
                    elif event["type"] == "speech.audio.done":
                        usage = event["usage"]
        return audio, usage

    audio, usage = asyncio.run(synthesize())
    assert usage["input_tokens"] == len(TEXT)
    assert usage["output_tokens"] == pytest.approx(20 * decode(audio, "mp3").seconds, abs=2)
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


def test_members_of_other_servers(daemon):
    plain = pcm_of(daemon)
    assert pcm_of(daemon, lang_code="en-us", stream=True, task_type="Base", user="u", normalization_options={"normalize": True}) == plain
    half = pcm_of(daemon, volume_multiplier=0.5)
    assert len(half) == len(plain) and half != plain
    assert set(pcm_of(daemon, volume_multiplier=0)) == {0}
    assert pcm_of(daemon, voice=None, speed=None, volume_multiplier=None, lang_code=None, tempo=None) == plain


# --- Kokoro-FastAPI's captions ---

CAPTION = {"model": "kokoro", "input": TEXT, "voice": "alloy", "speed": 1.0, "response_format": "wav"}


def test_captions_are_a_stream_of_objects(daemon):
    status, headers, body = ask(daemon, "POST", CAPTIONS, CAPTION | {"response_format": "pcm", "stream": True})
    assert (status, headers.get_content_type()) == (200, "application/json")
    objects = [json.loads(line) for line in body.decode().splitlines()]
    assert len(objects) >= 2
    assert all(caption.keys() == {"audio", "audio_format", "timestamps"} for caption in objects)
    assert {caption["audio_format"] for caption in objects} == {"audio/pcm"}
    assert b"".join(base64.b64decode(caption["audio"]) for caption in objects) == pcm_of(daemon)
    words = [word for caption in objects for word in caption["timestamps"]]
    assert [word["word"].strip(".?") for word in words] == TEXT.replace(".", "").replace("?", "").split()
    assert all(word.keys() == {"word", "start_time", "end_time"} for word in words)
    times = [time for word in words for time in (word["start_time"], word["end_time"])]
    assert times == sorted(times) and times[-1] <= len(pcm_of(daemon)) / 2 / 24000


def test_a_caption_is_one_object_where_no_stream_is_wanted(daemon):
    status, headers, body = ask(daemon, "POST", CAPTIONS, CAPTION | {"stream": False})
    assert (status, headers.get_content_type()) == (200, "application/json")
    caption = json.loads(body)
    sound = decode(base64.b64decode(caption["audio"]), "wav")
    assert caption["audio_format"] == "audio/wav"
    assert 0 < caption["timestamps"][-1]["end_time"] <= sound.seconds
    assert json.loads(ask(daemon, "POST", CAPTIONS, CAPTION | {"stream": False, "return_timestamps": False})[2])["timestamps"] == []
    assert ask(daemon, "POST", CAPTIONS, {"input": TEXT})[0] == 200


BAD_CAPTIONS = {
    "no input": ({}, 400, "input", ["missing"]),
    "stream a word": (CAPTION | {"stream": "no"}, 400, "stream", ["true or false"]),
    "timestamps a word": (CAPTION | {"return_timestamps": "no"}, 400, "return_timestamps", ["true or false"]),
    "unknown voice": (CAPTION | {"voice": "nobody"}, 400, "voice", ["'nobody'", "joe"]),
    "unknown model": (CAPTION | {"model": "nobody"}, 404, "model", ["'nobody'", VOICE]),
    "too long for one object": (CAPTION | {"stream": False, "input": "a" * 5001}, 413, "input", ["5001", "5000"]),
    "aac": (CAPTION | {"response_format": "aac"}, 400, "response_format", ["'aac'"]),
    "not UTF-8": (b'{"input": "\xff"}', 400, None, ["UTF-8"]),
    "voice of 1 MB": (CAPTION | {"voice": "v" * 1_000_000}, 400, "voice", ["'vvv"]),
}


@pytest.mark.parametrize("body, status, param, words", BAD_CAPTIONS.values(), ids=BAD_CAPTIONS.keys())
def test_bad_captions_are_refused_by_member(daemon, bystander, body, status, param, words):
    got, headers, answer = ask(daemon, "POST", CAPTIONS, body)
    error = json.loads(answer)["error"]
    assert (got, headers.get_content_type(), error["param"]) == (status, "application/json", param)
    assert all(word in error["message"] for word in words), error["message"]


# --- web pages of other origins ---

def preflight(daemon, origin, path="/v1/audio/speech"):
    return ask(daemon, "OPTIONS", path, Origin=origin, Access_Control_Request_Method="POST",
               Access_Control_Request_Headers="authorization,content-type,x-stainless-os")[:2]


def test_pages_of_other_origins_may_not_unless_they_are_named(daemon):
    status, headers = preflight(daemon, PAGE)
    assert (status, headers["Allow"], headers["Access-Control-Allow-Origin"]) == (204, "POST, OPTIONS", None)
    assert ask(daemon, "GET", "/v1/models", Origin=PAGE)[1]["Access-Control-Allow-Origin"] is None


@pytest.mark.parametrize("allowed, answered", [(f"http://localhost:3000,{PAGE}", PAGE), ("*", "*")])
def test_pages_of_named_origins_may(tmp_path, allowed, answered):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--cors-origin", allowed, "--api-keys", user_key(tmp_path, "the-key"), models=models) as daemon:
        for path in ("/v1/audio/speech", CAPTIONS, "/translate"):
            status, headers = preflight(daemon, PAGE, path)   # a browser sends no key with it
            assert (status, headers["Access-Control-Allow-Origin"], headers["Access-Control-Allow-Methods"]) == (204, answered, "POST")
            assert headers["Access-Control-Allow-Headers"] == "authorization,content-type,x-stainless-os"
            assert headers["Access-Control-Allow-Credentials"] is None
        body = {"model": "tts-1", "input": "Hello.", "voice": "alloy"}
        for key, wanted in (("the-key", 200), ("wrong", 401)):
            status, headers, _ = ask(daemon, "POST", "/v1/audio/speech", body, Origin=PAGE, Authorization=f"Bearer {key}")
            assert (status, headers["Access-Control-Allow-Origin"]) == (wanted, answered)
            assert "X-Request-Id" in headers["Access-Control-Expose-Headers"]
        assert ask(daemon, "GET", "/v2/health/live", Origin=PAGE)[1]["Access-Control-Allow-Origin"] is None
        if allowed != "*":
            assert preflight(daemon, "https://evil.example")[0] == 403
            assert ask(daemon, "GET", "/v1/models", Origin="https://evil.example")[1]["Access-Control-Allow-Origin"] is None
