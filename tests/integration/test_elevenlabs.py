"""Speech through ElevenLabs' API, by its official package and by what voice agents send on its WebSockets."""

import base64
import contextlib
import hashlib
import json
import urllib.error
import urllib.request

import pytest
from elevenlabs import VoiceSettings
from elevenlabs.client import ElevenLabs
from elevenlabs.core.api_error import ApiError
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from wire import daemon as daemons
from wire import repository, rest
from wire.paths import VOICE
from wire.polling import eventually
from wire.requests import PATIENCE
from wire.sound import decode

TEXT = "Good morning. Where is the nearest station?"
# As a language model writes it: in pieces that end anywhere.
PIECES = ["Good mor", "ning.", " Where is the near", "est station?"]


def client_of(daemon, key="none"):
    client = ElevenLabs(base_url=f"http://127.0.0.1:{daemon.ports['http']}", api_key=key, timeout=PATIENCE)
    # The package speaks TLS on WebSockets whatever its base_url: a deployment has a proxy there.
    client.text_to_speech._ws_base_url = f"ws://127.0.0.1:{daemon.ports['http']}"
    return client


@contextlib.contextmanager
def socket_of(daemon, kind="multi-stream-input", voice="joe", query="output_format=pcm_22050", **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    url = f"ws://127.0.0.1:{daemon.ports['http']}/v1/text-to-speech/{voice}/{kind}?{query}"
    with connect(url, additional_headers=names, max_size=None, open_timeout=PATIENCE, close_timeout=5) as socket:
        yield socket


def send(socket, **message):
    socket.send(json.dumps(message))


def receive(socket):
    message = socket.recv(timeout=PATIENCE)
    assert isinstance(message, str), "text frames only"
    return json.loads(message)


def receive_text(socket, context):
    """Audio and characters of a context up to its end. What belongs to others is an error."""
    audio, text = b"", ""
    while True:
        message = receive(socket)
        assert "error" not in message, message
        assert message["contextId"] == context
        audio += base64.b64decode(message["audio"] or "")
        if message["alignment"]:
            times = message["alignment"]
            assert len(times["chars"]) == len(times["charStartTimesMs"]) == len(times["charDurationsMs"])
            assert times["charStartTimesMs"] == sorted(times["charStartTimesMs"])
            text += "".join(times["chars"])
        if message["isFinal"]:
            return audio, text


# --- the package over HTTP ---

def test_convert_and_stream_give_the_same_speech_as_openais_api(daemon):
    client = client_of(daemon)
    expected = rest.spoken(daemon, TEXT)
    for call in (client.text_to_speech.convert, client.text_to_speech.stream):
        audio = b"".join(call("joe", text=TEXT, model_id="eleven_multilingual_v2", output_format="pcm_22050"))
        assert audio == expected


@pytest.mark.parametrize("name, kind", [("mp3_22050_32", "mp3"), ("mp3_44100_128", "mp3"), ("opus_48000_64", "opus"), ("wav_24000", "wav")])
def test_formats(daemon, name, kind):
    audio = b"".join(client_of(daemon).text_to_speech.convert("joe", text="Good morning.", output_format=name))
    sound = decode(audio, kind)
    assert sound.rate == int(name.split("_")[1]) and 0.5 < sound.seconds < 3 and sound.loudness > 0.01


def test_speed_is_that_of_the_voice_settings(daemon):
    def speak(speed):
        settings = VoiceSettings(speed=speed, stability=0.5)
        return b"".join(client_of(daemon).text_to_speech.convert("joe", text=TEXT, output_format="pcm_16000", voice_settings=settings))
    assert len(speak(1.2)) < 0.9 * len(speak(1.0))


def test_timestamps_are_of_every_character(daemon):
    whole = client_of(daemon).text_to_speech.convert_with_timestamps("joe", text=TEXT, output_format="wav_22050")
    sound = decode(base64.b64decode(whole.audio_base_64), "wav")
    check_times(whole.alignment, sound.seconds)
    parts = list(client_of(daemon).text_to_speech.stream_with_timestamps("joe", text=TEXT, output_format="pcm_22050"))
    assert len(parts) > 1
    seconds = sum(len(base64.b64decode(part.audio_base_64)) for part in parts) / 2 / 22050
    times = [part.alignment for part in parts if part.alignment]
    assert len(times) == 2, "one for each sentence"
    assert "".join("".join(part.characters) for part in times).split() == TEXT.split()
    assert times[1].character_start_times_seconds[0] >= times[0].character_end_times_seconds[-1]
    assert abs(seconds - sound.seconds) < 0.01


def check_times(alignment, seconds):
    assert "".join(alignment.characters).split() == TEXT.split()
    begins, ends = alignment.character_start_times_seconds, alignment.character_end_times_seconds
    assert len(begins) == len(ends) == len(alignment.characters)
    assert begins == sorted(begins) and all(begin <= end for begin, end in zip(begins, ends))
    assert begins[0] >= 0 and 0.5 * seconds < ends[-1] <= seconds


def test_voices_and_models(daemon):
    client = client_of(daemon)
    voices = client.voices.get_all().voices
    assert [voice.voice_id for voice in voices] == ["joe"] and voices[0].name == "joe"
    models = client.models.list()
    assert [model.model_id for model in models] == [VOICE] and models[0].can_do_text_to_speech
    # OpenAI's clients get their own list at the same path.
    assert rest.ask(daemon, "GET", "/v1/models")[2]["object"] == "list"


@pytest.mark.parametrize("voice, members, said", [
    ("joe", {"text": ""}, "text: is empty"),
    ("joe", {"text": TEXT, "output_format": "ulaw_8000"}, "output_format: 'ulaw_8000' is not available"),
    ("nobody", {"text": TEXT}, "voice_id: 'nobody' is a voice of no model; there are: joe"),
    ("joe", {"text": TEXT, "model_id": "none"}, "model_id: 'none'"),
    ("joe", {"text": TEXT, "language_code": "xx"}, "language_code: no loaded model speaks 'xx'"),
    ("joe", {"text": TEXT, "voice_settings": VoiceSettings(speed=9)}, "voice_settings.speed: 9"),
])
def test_errors_have_elevenlabs_form(daemon, voice, members, said):
    with pytest.raises(ApiError) as raised:
        b"".join(client_of(daemon).text_to_speech.convert(voice, **members))
    assert raised.value.status_code in (400, 404)
    assert said in raised.value.body["detail"]["message"] and raised.value.body["detail"]["status"]


# --- the package on its WebSocket ---

def test_the_packages_text_stream_is_heard_whole(daemon):
    audio = b"".join(client_of(daemon).text_to_speech.convert_realtime(
        "joe", text=iter(PIECES), model_id="eleven_flash_v2_5", output_format="mp3_22050_32"))
    assert 2 < decode(audio, "mp3").seconds < 6


def test_the_package_tells_what_is_wrong(daemon):
    with pytest.raises(ApiError) as raised:
        list(client_of(daemon).text_to_speech.convert_realtime("nobody", text=iter(PIECES), model_id="eleven_v3", output_format="pcm_16000"))
    assert "nobody" in str(raised.value.body)


# --- several texts at once, as voice agents speak ---

def test_the_first_sentence_is_heard_before_the_text_has_ended(daemon):
    with socket_of(daemon, "stream-input") as socket:
        send(socket, text=" ", voice_settings={"stability": 0.5})
        for piece in PIECES[:3]:
            send(socket, text=piece)
        first = receive(socket)
        assert first["audio"] and "".join(first["alignment"]["chars"]).strip() == "Good morning."
        send(socket, text=PIECES[3])
        send(socket, text="")
        audio = base64.b64decode(first["audio"])
        while not (message := receive(socket))["isFinal"]:
            audio += base64.b64decode(message["audio"])
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1000
    assert hashlib.sha256(audio).digest() == hashlib.sha256(rest.spoken(daemon, TEXT)).digest()


def test_two_contexts_at_once(daemon):
    with socket_of(daemon) as socket:
        for context, text in (("a", "First of all. "), ("b", "And now this. ")):
            send(socket, text=" ", context_id=context, voice_settings={})
            send(socket, text=text, context_id=context)
            send(socket, context_id=context, flush=True)
            send(socket, context_id=context, close_context=True)
        text, audio, finals = {"a": "", "b": ""}, {"a": b"", "b": b""}, set()
        while len(finals) < 2:
            message = receive(socket)
            context = message["contextId"]
            assert context not in finals
            audio[context] += base64.b64decode(message["audio"] or "")
            if message["alignment"]:
                text[context] += "".join(message["alignment"]["chars"])
            if message["isFinal"]:
                finals.add(context)
        assert {context: words.strip() for context, words in text.items()} == {"a": "First of all.", "b": "And now this."}
        assert all(len(samples) > 22050 for samples in audio.values())


def test_an_interruption_stops_its_context_alone(daemon):
    with socket_of(daemon) as socket:
        send(socket, text="This is a sentence that nobody wants to hear. " * 40 + "And", context_id="old")
        assert receive(socket)["contextId"] == "old"
        send(socket, context_id="old", close_context=True)
        send(socket, text="Yes. ", context_id="new", flush=True)
        send(socket, context_id="new", close_context=True)
        messages = []
        while not (messages and messages[-1]["contextId"] == "new" and messages[-1]["isFinal"]):
            messages.append(receive(socket))
        final = next(i for i, message in enumerate(messages) if message["contextId"] == "old" and message["isFinal"])
        assert all(message["contextId"] == "new" for message in messages[final + 1:])


def test_an_idle_text_is_ended_by_the_inactivity_timeout(daemon):
    with socket_of(daemon, "stream-input", query="inactivity_timeout=1") as socket:
        send(socket, text="Never ended")
        error = receive(socket)
        assert error["error"] == "input_timeout_exceeded" and error["code"] == 1008


# --- SSML ---

SSML = "Good morning.<break time='2s'/> Where is the <voice name='alloy'>nearest</voice> station?"
# A tag is split, and an element too.
SSML_PIECES = ["Good morning.<bre", "ak time='2s'/> Where ", "is the <voice name='al", "loy'>near", "est</voice> sta", "tion?"]
SSML_QUERY = "output_format=pcm_22050&enable_ssml_parsing=true"


def test_ssml_in_pieces_is_heard_sentence_by_sentence(daemon):
    expected = rest.spoken(daemon, f"<speak>{SSML}</speak>", text_format="ssml")
    assert bytes(2 * 2 * 22050) in expected, "two seconds of silence"
    with socket_of(daemon, "stream-input", query=SSML_QUERY) as socket:
        for piece in SSML_PIECES[:3]:
            send(socket, text=piece)
        first = receive(socket)
        assert "".join(first["alignment"]["chars"]).strip() == "Good morning."
        audio = base64.b64decode(first["audio"])
        for piece in SSML_PIECES[3:]:
            send(socket, text=piece)
        send(socket, text="")
        while not (message := receive(socket))["isFinal"]:
            audio += base64.b64decode(message["audio"])
    assert hashlib.sha256(audio).digest() == hashlib.sha256(expected).digest()


@pytest.mark.parametrize("query, members", [("&enable_ssml_parsing=true", {}), ("", {"enable_ssml_parsing": True})])
def test_ssml_over_http(daemon, query, members):
    status, headers, audio = rest.send(daemon, "POST", "/v1/text-to-speech/joe?output_format=pcm_22050" + query, {"text": SSML} | members)
    assert status == 200 and "Warning" not in headers
    assert audio == rest.spoken(daemon, f"<speak>{SSML}</speak>", text_format="ssml")


TAGGED = "Good morning. [pause:2s] Where is the station?"


@pytest.mark.parametrize("query, members", [("&text_format=tags", {}), ("", {"text_format": "tags"})])
def test_tags_over_http(daemon, query, members):
    status, headers, audio = rest.send(daemon, "POST", "/v1/text-to-speech/joe?output_format=pcm_22050" + query, {"text": TAGGED} | members)
    assert status == 200 and "Warning" not in headers
    assert audio == rest.spoken(daemon, TAGGED, text_format="tags")
    status, _, answer = rest.send(daemon, "POST", "/v1/text-to-speech/joe?text_format=html", {"text": TAGGED})
    assert status == 400 and "text_format: 'html' is not allowed; it is text, tags or ssml" in answer.decode()


def test_tags_on_a_websocket(daemon):
    with socket_of(daemon, query="output_format=pcm_22050&text_format=tags") as socket:
        for piece in ("Good morning. [pa", "use:2s] Where is ", "the station?"):
            send(socket, text=piece, context_id="c")
        send(socket, context_id="c", flush=True)
        send(socket, context_id="c", close_context=True)
        audio, text = receive_text(socket, "c")
        assert bytes(2 * 2 * 22050) in audio and "pause" not in text and "station" in text


@pytest.mark.parametrize("text, said", [
    ("Yes. <mark name='x'/>No.", "text: line 1, column 6: the element 'mark' is not supported"),
    ("Yes. <prosody rate='fast'>No.", "text: line 1, column 6: <prosody>: is not closed"),
    ("Yes & no.", "text: line 1, column 6: not well-formed SSML"),
    ("Yes. &xxe; no.", "the entity '&xxe;' is not allowed"),
    ("<s>" * 100 + "Deep.", "<s>: is not allowed within <s>"),
    ("Yes. <br" + "e" * 10_000, "not well-formed SSML"),
])
def test_bad_ssml_ends_its_context_alone_by_name_and_place(daemon, text, said):
    with socket_of(daemon, query=SSML_QUERY) as socket:
        send(socket, text=text, context_id="bad")
        send(socket, context_id="bad", flush=True)
        send(socket, context_id="bad", close_context=True)
        message = receive(socket)
        while "error" not in message:
            message = receive(socket)
        assert said in message["message"] and message["contextId"] == "bad"
        send(socket, text="Yes.", context_id="good", flush=True)
        send(socket, context_id="good", close_context=True)
        assert receive_text(socket, "good")[1].strip() == "Yes."


def test_a_client_that_leaves_stops_its_text(daemon):
    def cancelled():
        return daemon.metrics().total("millrace_requests_total", method="ElevenLabsTextStream", code="CANCELLED")
    before = cancelled()
    with socket_of(daemon) as socket:
        send(socket, text="This is a sentence that nobody hears. " * 100, context_id="c", flush=True)
        receive(socket)
    eventually("the work of the client that left ends", lambda: cancelled() == before + 1, PATIENCE)


# --- keys ---

@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("locked")
    (folder / "keys").write_text(f"ann:user:{hashlib.sha256(b'secret').hexdigest()}\n")
    (folder / "keys").chmod(0o600)
    models = repository.link(folder / "models", VOICE)
    with daemons.start(folder, "--api-keys", folder / "keys", models=models) as running:
        yield running


def test_keys(locked):
    assert b"".join(client_of(locked, "secret").text_to_speech.convert("joe", text="Yes.", output_format="pcm_16000"))
    with pytest.raises(ApiError) as raised:
        b"".join(client_of(locked, "wrong").text_to_speech.convert("joe", text="Yes."))
    assert raised.value.status_code == 401 and raised.value.body["detail"]["status"] == "invalid_api_key"
    for headers, first in (({"xi_api_key": "secret"}, {}), ({"Authorization": "Bearer secret"}, {}), ({}, {"xi_api_key": "secret"})):
        with socket_of(locked, **headers) as socket:
            send(socket, text="Yes. ", context_id="c", flush=True, **first)
            assert receive(socket)["audio"]
    for headers, first in (({"xi_api_key": "wrong"}, {}), ({}, {"xi_api_key": "wrong"}), ({}, {})):
        with socket_of(locked, **headers) as socket:
            with contextlib.suppress(ConnectionClosed):
                send(socket, text="Yes. ", context_id="c", flush=True, **first)
            assert receive(socket)["error"] == "invalid_api_key"
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=PATIENCE)
            assert closed.value.rcvd.code == 1008


# --- voices and the account ---

def test_the_official_client_finds_voices(daemon):
    client = client_of(daemon)
    found = client.voices.search(search="JO", page_size=5)
    assert [voice.voice_id for voice in found.voices] == ["joe"] and found.total_count == 1 and not found.has_more
    assert client.voices.search(search="nobody").voices == []
    assert [voice.voice_id for voice in client.voices.search(voice_ids=["joe", "nobody"]).voices] == ["joe"]
    assert client.voices.search(voice_ids=["nobody"]).voices == []
    assert client.voices.search(category="premade").voices and client.voices.search(category="cloned").voices == []
    with pytest.raises(ApiError) as refused:   # pages without voices would have no end
        client.voices.search(page_size=0)
    assert refused.value.status_code == 400 and "page_size: '0'" in refused.value.body["detail"]["message"]
    assert client.voices.get("joe").name == "joe"
    assert client.voices.settings.get("joe").speed == 1 and client.voices.settings.get_default().speed == 1
    with pytest.raises(ApiError) as refused:
        client.voices.get("nobody")
    assert refused.value.status_code == 404 and refused.value.body["detail"]["status"] == "voice_not_found"
    assert client.user.get().subscription.character_count == 0 and client.user.subscription.get().status == "active"


@pytest.mark.parametrize("path", ["/v1/history", "/v1/shared-voices", "/v1/convai/agents", "/nothing", "/v1/voices/x/y",
                                  "/v1/user/x", "/v2/nothing"])
def test_what_is_not_served_is_refused_in_one_form(daemon, path):
    for headers in ({"xi-api-key": "any"}, {"X-Fern-SDK-Name": "elevenlabs"}):
        request = urllib.request.Request(f"http://127.0.0.1:{daemon.ports['http']}{path}", headers=headers)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE)
        with refused.value as answer:
            assert answer.code == 404
            assert json.load(answer) == {"detail": {"status": "not_found", "message": f"no such path: '{path}'"}}


def test_ids_of_elevenlabs_own_voices_speak(daemon):
    client = client_of(daemon)
    options = {"text": "Hello.", "model_id": "eleven_flash_v2_5", "output_format": "pcm_22050"}
    expected = b"".join(client.text_to_speech.convert(voice_id="joe", **options))
    assert b"".join(client.text_to_speech.convert(voice_id="JBFqnCBsd6RMkjVDRZzb", **options)) == expected
    for voice in ("JBFqnCBsd6RMkjVDRZz", "nobody"):
        with pytest.raises(ApiError):
            b"".join(client.text_to_speech.convert(voice_id=voice, **options))
