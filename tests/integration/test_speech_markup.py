"""Texts with markup, SSML and tags, by every protocol: pauses to the sample, voices, times in the document, and what is refused."""

import array
import contextlib
import http.client
import json
import socket

import pytest
from wire import daemon as daemons
from wire import repository
from wire.daemon import err, run
from wire.paths import KOKORO, NULL, VOICE
from wire.requests import PATIENCE, assert_refused, speak_request
from wire.rest import send
from wire.stubs import synthesis

F32 = synthesis.AUDIO_ENCODING_PCM_F32LE
TAGS, SSML = synthesis.SPEECH_TEXT_FORMAT_TAGS, synthesis.SPEECH_TEXT_FORMAT_SSML
RATE = 22050
FIRST, SECOND = "Good morning.", "Where is the station?"
PAUSE = 1.5
DOCUMENT = f"<speak>{FIRST} <break time='1.5s'/>{SECOND}</speak>"
TAGGED = f"{FIRST} [pause:1.5s] {SECOND}"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", NULL, VOICE)
    with daemons.start(folder, "--workers", "2", "--wyoming-address", "127.0.0.1:0", models=models) as running:
        yield running


def request(text, **fields):
    """Without noise, so that a sentence sounds alike wherever it is."""
    return speak_request(text, **{"encoding": F32, "noise_scale": 0, "noise_w": 0} | fields)


def speak(daemon, text, **fields):
    return daemon.synthesis.Synthesize(request(text, **fields), timeout=PATIENCE)


def samples(answer):
    return array.array("f", answer.audio)


def silence(seconds, rate=RATE):
    return array.array("f", [0.0] * round(seconds * rate))


def post(daemon, **members):
    body = {"model": VOICE, "response_format": "pcm", "sample_rate": RATE} | members
    status, _, audio = send(daemon, "POST", "/v1/audio/speech", body, "application/json")
    return status, audio


def over_wyoming(daemon, *events):
    """The audio that the server answers, or the text of its error."""
    sent = b""
    for kind, data in events:
        written = json.dumps(data).encode()
        sent += json.dumps({"type": kind, "data_length": len(written)}).encode() + b"\n" + written
    audio = b""
    with socket.create_connection(("127.0.0.1", daemon.ports["wyoming"]), timeout=PATIENCE) as peer, peer.makefile("rb") as answers:
        with contextlib.suppress(ConnectionError):   # it stops reading when it has seen enough
            peer.sendall(sent)
        while True:
            head = json.loads(answers.readline())
            data = json.loads(answers.read(head.get("data_length", 0)) or b"{}")
            audio += answers.read(head.get("payload_length", 0) or 0)
            if head["type"] == "error":
                return data["text"]
            if head["type"] == "audio-stop":
                return audio


def test_aliases_name_voices_within_a_text(daemon):
    plain = post(daemon, input=f"{FIRST} {SECOND}", voice="alloy")
    assert plain[0] == 200
    for text, text_format in ((f"[voice:nova]{FIRST} {SECOND}", "tags"),
                              (f"<speak><voice name='cedar'>{FIRST} {SECOND}</voice></speak>", "ssml")):
        assert post(daemon, input=text, text_format=text_format) == plain
    status, body = post(daemon, input="[voice:bob]Yes.", text_format="tags")
    assert status == 400 and "has no voice 'bob'" in body.decode()
    assert daemon.synthesis.Synthesize(request("[voice:nova]Yes.", text_format=TAGS), timeout=PATIENCE).audio


def stream_messages(pieces, **fields):
    yield synthesis.SynthesizeTextStreamRequest(config=request("", **fields))
    for piece in pieces:
        yield synthesis.SynthesizeTextStreamRequest(text=piece)


# --- pauses ---

@pytest.mark.parametrize(("text", "text_format"), [(DOCUMENT, SSML), (TAGGED, TAGS)], ids=["ssml", "tags"])
def test_a_pause_is_exact_to_the_sample_by_every_call(daemon, text, text_format):
    expected = samples(speak(daemon, FIRST)) + silence(PAUSE) + samples(speak(daemon, SECOND))
    assert samples(speak(daemon, text, text_format=text_format)) == expected
    parts = list(daemon.synthesis.StreamSynthesize(request(text, text_format=text_format), timeout=PATIENCE))
    assert b"".join(part.audio for part in parts) == expected.tobytes()
    assert sorted({part.sentence_index for part in parts}) == [0, 1]
    pieces = [text[at:at + 7] for at in range(0, len(text), 7)]
    parts = daemon.synthesis.SynthesizeTextStream(stream_messages(pieces, text_format=text_format), timeout=PATIENCE)
    assert b"".join(part.audio for part in parts) == expected.tobytes()


def test_pauses_at_both_ends_are_kept(daemon):
    plain = samples(speak(daemon, FIRST))
    document = f"<speak><break time='200ms'/>{FIRST}<break time='2s'/></speak>"
    assert samples(speak(daemon, document, text_format=SSML)) == silence(0.2) + plain + silence(2)
    pieces = ["[pause:200ms]", FIRST, "[pause:2s]"]
    parts = daemon.synthesis.SynthesizeTextStream(stream_messages(pieces, text_format=TAGS), timeout=PATIENCE)
    assert b"".join(part.audio for part in parts) == (silence(0.2) + plain + silence(2)).tobytes()


def test_plain_text_is_never_taken_for_markup(daemon):
    for text in (DOCUMENT, TAGGED):
        assert len(samples(speak(daemon, text))) != len(samples(speak(daemon, text, text_format=SSML if text == DOCUMENT else TAGS)))


def test_pauses_over_http_and_wyoming(daemon):
    first, second = (len(post(daemon, input=text)[1]) for text in (FIRST, SECOND))
    pause = 2 * round(PAUSE * RATE)
    for text, text_format in ((DOCUMENT, "ssml"), (TAGGED, "tags")):
        status, audio = post(daemon, input=text, text_format=text_format)
        # The voice's own noise may move an end by some milliseconds.
        assert status == 200 and bytes(pause) in audio
        assert len(audio) == pytest.approx(first + pause + second, abs=2 * RATE * 0.1)
        whole = over_wyoming(daemon, ("synthesize", {"text": text, "text_format": text_format}))
        assert bytes(pause) in whole
        streamed = over_wyoming(daemon, ("synthesize-start", {"text_format": text_format}),
                                *(("synthesize-chunk", {"text": text[at:at + 9]}) for at in range(0, len(text), 9)),
                                ("synthesize-stop", {}))
        assert bytes(pause) in streamed and len(streamed) == pytest.approx(len(whole), abs=2 * RATE * 0.1)


def test_the_command_takes_markup(daemon, tmp_path):
    for text, text_format in ((DOCUMENT, "ssml"), (TAGGED, "tags")):
        ended = run("synthesize", text, "--text-format", text_format, "--address", daemon.address, "-o", str(tmp_path / "a.pcm"))
        assert ended.returncode == 0, err(ended)
        assert bytes(2 * round(PAUSE * RATE)) in (tmp_path / "a.pcm").read_bytes()
    ended = run("synthesize", "<speak><mark/></speak>", "--text-format", "ssml", "--address", daemon.address)
    assert ended.returncode == 1 and "line 1, column 8" in err(ended) and "'mark'" in err(ended)


# --- rate, volume, readings ---

def test_rate_and_volume_are_those_of_their_part(daemon):
    fast = speak(daemon, FIRST, speed=2)
    soft = array.array("f", (sample / 2 for sample in samples(speak(daemon, SECOND))))
    document = (f"<speak><prosody rate='200%'>{FIRST}</prosody><break time='1s'/><prosody volume='-6.0206dB'>{SECOND}</prosody></speak>")
    audio = samples(speak(daemon, document, text_format=SSML))
    assert audio[:len(samples(fast))] == samples(fast)
    assert audio[-len(soft):].tolist() == pytest.approx(soft.tolist(), abs=1e-5)
    silent = samples(speak(daemon, f"<speak><prosody volume='silent'>{FIRST}</prosody></speak>", text_format=SSML))
    assert silent == silence(len(samples(speak(daemon, FIRST))) / RATE)


def test_word_times_are_of_the_document_and_of_the_whole_audio(daemon):
    document = ("<speak>Good <sub alias=\"morning to you\">a.m.</sub> &amp; bye.<break time='2s'/>\n"
                "<s>The <phoneme alphabet='ipa' ph='stˈeɪʃən'>station</phoneme>, please.</s></speak>")
    answer = speak(daemon, document, text_format=SSML, word_times=True)
    words = [word.text for word in answer.words]
    assert words[:2] == ["Good", "a.m."] and words[-3:] == ["The", "station", "please"]
    for word in answer.words:
        found = document[word.character_offset:]
        assert found.startswith(word.text) or found.startswith("&amp;"), word
    bye, the = answer.words[-4], answer.words[-3]
    assert bye.text == "bye" and the.start_seconds - bye.end_seconds >= 2
    plain = speak(daemon, "The station, please.", word_times=True)
    last = answer.duration_seconds - plain.duration_seconds
    assert answer.words[-1].start_seconds == pytest.approx(last + plain.words[-1].start_seconds, abs=0.06)
    phonemes = speak(daemon, "<speak>A <phoneme alphabet='x-voice' ph='stˈeɪʃən'>x</phoneme>.</speak>", text_format=SSML, phoneme_times=True)
    assert "stˈeɪʃən" in "".join(phoneme.text for phoneme in phonemes.phonemes)


def test_say_as_is_heard_as_its_words(daemon):
    said = "<speak>The <say-as interpret-as='ordinal'>3</say-as> of <say-as interpret-as='digits'>42</say-as>.</speak>"
    assert samples(speak(daemon, said, text_format=SSML)) == samples(speak(daemon, "The third of four two."))


# --- several voices ---

def test_kokoro_speaks_with_several_voices_in_one_text(all_models):
    fields = {"model": KOKORO, "encoding": F32, "seed": 1, "voice": "jm_kumo"}
    document = "<speak>Hello.<break time='1.25s'/><voice name='jf_alpha'>Hello.</voice> <prosody rate='1.5'>Bye.</prosody></speak>"
    answer = all_models.synthesis.Synthesize(speak_request(document, text_format=SSML, word_times=True, **fields), timeout=PATIENCE)
    plain = all_models.synthesis.Synthesize(speak_request("Hello.", **fields), timeout=PATIENCE)
    audio, first = samples(answer), samples(plain)
    pause = silence(1.25, answer.sample_rate)
    assert audio[:len(first) + len(pause)] == first + pause
    assert audio[len(first) + len(pause):][:len(first)] != first
    assert [word.text for word in answer.words] == ["Hello", "Hello", "Bye"]
    tagged = "Hello.[pause:1.25s][voice:jf_alpha]Hello.[voice:jm_kumo] [rate:1.5]Bye."
    again = all_models.synthesis.Synthesize(speak_request(tagged, text_format=TAGS, **fields), timeout=PATIENCE)
    assert again.audio == answer.audio
    assert_refused(all_models.synthesis.Synthesize, speak_request("<speak>a<voice name='bob'>b</voice></speak>", text_format=SSML, **fields),
                   "INVALID_ARGUMENT", "line 1, column 9", "bob", "jf_alpha")
    assert_refused(all_models.synthesis.Synthesize, speak_request("<speak>a<prosody rate='x-slow'><prosody rate='0.9'>b</prosody></prosody></speak>",
                                                                  text_format=SSML, **fields), "INVALID_ARGUMENT", "rate", "0.5..2")


# --- what is refused ---

ENTITIES = "<!DOCTYPE speak [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><speak>&x;</speak>"
BAD = [
    (ENTITIES, ["line 1, column 1", "DOCTYPE"]),
    ("<!DOCTYPE speak SYSTEM 'http://127.0.0.1:9/x.dtd'><speak>a</speak>", ["DOCTYPE"]),
    ("<speak>a &copy; b</speak>", ["line 1, column 10", "&copy;"]),
    ("<speak>" + "<prosody rate='100%'>" * 9_000, ["prosody", "33 deep", "32"]),
    ("<speak>" + "a" * 200_000 + "</speak>", ["200015 characters", "200000"]),
    ("<speak>a", ["line 1, column 9", "not well-formed"]),
    ("Hello.", ["line 1, column 1", "not well-formed"]),
    ("<speak>\n <emphasis>a</emphasis></speak>", ["line 2, column 2", "'emphasis'"]),
    ("<speak>a<break time='1h'/></speak>", ["line 1, column 9", "<break>", "time", "'1h'"]),
    ("<speak>a" + "<break time='5s'/>" * 3 + "</speak>", ["15 s", "10 s"]),
    ("<speak><voice name='nobody'>a</voice></speak>", ["line 1, column 8", "<voice>", "nobody", "joe"]),
    ("<speak><lang xml:lang='ja'>a</lang></speak>", ["<lang>", "xml:lang", "ja"]),
    ("<speak><phoneme alphabet='ipa' ph='qqq%'>a</phoneme></speak>", ["line 1, column 8", "<phoneme>", "ph", "'%'"]),
    ("<speak><say-as interpret-as='address'>a</say-as></speak>", ["<say-as>", "address"]),
    ("<speak><break time='1s'/></speak>", ["nothing to speak"]),
]


@pytest.mark.parametrize(("text", "words"), BAD, ids=lambda value: repr(value)[:40])
def test_bad_ssml_gets_one_answer_in_each_protocol(daemon, bystander, text, words):
    assert_refused(daemon.synthesis.StreamSynthesize, request(text, text_format=SSML), "INVALID_ARGUMENT", *words)
    assert_refused(daemon.synthesis.SynthesizeTextStream,
                   stream_messages([text[at:at + 5000] for at in range(0, len(text), 5000)], text_format=SSML), "INVALID_ARGUMENT", "text: ")
    status, body = post(daemon, input=text, text_format="ssml")
    message = json.loads(body)["error"]["message"]
    assert status == (413 if "200000" in words else 400) and message.startswith("input: ")
    answer = over_wyoming(daemon, ("synthesize", {"text": text, "text_format": "ssml"}))
    assert isinstance(answer, str)
    for word in words:
        assert word in message and word in answer, (message, answer)


def test_bad_bytes_and_a_megabyte_get_one_answer_in_each_protocol(daemon, bystander):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=PATIENCE)
    for body, status in ((b'{"model": "tts-1", "text_format": "ssml", "input": "<speak>\xff</speak>"}', 400),
                         (b'{"model": "tts-1", "text_format": "ssml", "input": "' + b"a" * (1 << 20) + b'"}', 413)):
        with contextlib.closing(connection):
            connection.request("POST", "/v1/audio/speech", body, headers={"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == status and json.loads(answer.read())["error"]["message"]
    answer = over_wyoming(daemon, ("synthesize", {"text": "<speak>" + "a" * 1_000_000, "text_format": "ssml"}))
    assert "1000007" in answer and "200000" in answer
    assert_refused(daemon.synthesis.StreamSynthesize, request("<speak>" + "a" * 1_000_000, text_format=SSML), "INVALID_ARGUMENT", "1000007")


def test_bad_tags_and_formats_are_named(daemon, bystander):
    assert_refused(daemon.synthesis.Synthesize, request("a [laugh:loud]", text_format=TAGS), "INVALID_ARGUMENT", "line 1, column 3", "[laugh:loud]")
    assert_refused(daemon.synthesis.Synthesize, request("a", text_format=9), "INVALID_ARGUMENT", "text_format", "9", "SSML (3)")
    assert_refused(daemon.synthesis.Synthesize, request("", phonemes="jˈɛs", text_format=SSML), "INVALID_ARGUMENT", "phonemes", "text_format")

    def flushed():
        yield synthesis.SynthesizeTextStreamRequest(config=request("", text_format=SSML))
        yield synthesis.SynthesizeTextStreamRequest(text=DOCUMENT, flush=True)
    assert_refused(daemon.synthesis.SynthesizeTextStream, flushed(), "INVALID_ARGUMENT", "flush", "SSML")
    status, body = post(daemon, input="a", text_format="html")
    assert status == 400 and "text_format" in json.loads(body)["error"]["message"]
    assert "text_format" in over_wyoming(daemon, ("synthesize", {"text": "a", "text_format": "html"}))
