"""NVIDIA Riva's services beside our own: by stubs from our .proto, and by Riva's own client with what its scripts and Pipecat do."""

import array
import base64
import ctypes
import ctypes.util
import json
import math
import queue
import struct
import subprocess

import grpc
import pytest
from wire import daemon as daemons
from wire import repository
from wire.keys import user_key
from wire.paths import EN_PT, NULL, PT_EN, RIVA_PYTHON, ROOT, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, assert_refused, refused, speak_request, translate_request
from wire.sound import decode
from wire.stubs import riva_nmt, riva_tts, synthesis

TEXT = "Good morning. How are you today?"
LONG = " ".join(f"This is sentence number {number}, which is spoken while the next one is written." for number in range(8))
RATE = 22050
ONLINE = "RivaSynthesizeOnline"


def speech(text=TEXT, **fields):
    return riva_tts.SynthesizeSpeechRequest(**{"text": text, "language_code": "en-US", "encoding": "LINEAR_PCM"} | fields)


def texts(*all_texts, **fields):
    return riva_nmt.TranslateTextRequest(**{"texts": all_texts, "source_language": "en", "target_language": "pt"} | fields)


def whole(daemon, text=TEXT, **fields):
    """The samples of our own API."""
    request = speak_request(text, encoding=synthesis.AUDIO_ENCODING_PCM_S16LE, **fields)
    return daemon.synthesis.Synthesize(request, timeout=PATIENCE).audio


def online(daemon, *requests):
    return list(daemon.riva_speech.SynthesizeOnline(iter(requests), timeout=PATIENCE))


def audio_of(answers):
    return b"".join(answer.audio for answer in answers)


def text_of(answers):
    return " ".join(answer.meta.text.strip() for answer in answers if answer.meta.text)


def counted(daemon, method, code):
    return daemon.metrics().total("millrace_requests_total", method=method, code=code)


# --- speech ---

def test_speech_is_that_of_our_own_service(daemon):
    answer = daemon.riva_speech.Synthesize(speech(id={"value": "mine"}), timeout=PATIENCE)
    assert answer.audio == whole(daemon)
    assert answer.id.value == "mine" and answer.meta.text == TEXT and not answer.meta.words


def test_streamed_speech_is_that_of_our_own_service(daemon):
    request = speak_request(TEXT, encoding=synthesis.AUDIO_ENCODING_PCM_S16LE)
    own = b"".join(part.audio for part in daemon.synthesis.StreamSynthesize(request, timeout=PATIENCE))
    answers = online(daemon, speech(id={"value": "mine"}))
    assert audio_of(answers) == own
    assert {answer.id.value for answer in answers} == {"mine"}
    assert text_of(answers) == TEXT
    assert max(len(answer.audio) for answer in answers) <= 32 << 10


@pytest.mark.parametrize("rate", [8000, 16000, 24000, 44100])
def test_any_rate_is_the_same_length(daemon, rate):
    seconds = len(whole(daemon)) / 2 / RATE
    for audio in [daemon.riva_speech.Synthesize(speech(sample_rate_hz=rate), timeout=PATIENCE).audio,
                  audio_of(online(daemon, speech(sample_rate_hz=rate)))]:
        assert abs(len(audio) / 2 / rate - seconds) < 0.1


def test_encodings_hold_the_same_sound(daemon):
    plain = array.array("h", whole(daemon))
    flac = decode(daemon.riva_speech.Synthesize(speech(encoding="FLAC"), timeout=PATIENCE).audio, "flac")
    assert flac.rate == RATE and flac.samples == plain
    for encoding, law in [("MULAW", "ul"), ("ALAW", "al")]:
        audio = daemon.riva_speech.Synthesize(speech(encoding=encoding, sample_rate_hz=8000), timeout=PATIENCE).audio
        sox = subprocess.run(["sox", "-V1", "-t", law, "-r", "8000", "-c", "1", "-", "-t", "s16", "-"], input=audio,
                             capture_output=True, check=True, timeout=PATIENCE)
        decoded = array.array("h", sox.stdout)
        linear = array.array("h", daemon.riva_speech.Synthesize(speech(sample_rate_hz=8000), timeout=PATIENCE).audio)
        assert len(decoded) == len(audio) == len(linear)
        noise = sum((one - other) ** 2 for one, other in zip(decoded, linear))
        assert noise < 0.001 * sum(sample * sample for sample in linear)
        assert audio_of(online(daemon, speech(encoding=encoding, sample_rate_hz=8000)))


def test_our_own_service_has_the_laws_too(daemon):
    for encoding, other in [("MULAW", synthesis.AUDIO_ENCODING_MULAW), ("ALAW", synthesis.AUDIO_ENCODING_ALAW)]:
        own = daemon.synthesis.Synthesize(speak_request(TEXT, encoding=other), timeout=PATIENCE)
        assert own.encoding == other
        assert own.audio == daemon.riva_speech.Synthesize(speech(encoding=encoding), timeout=PATIENCE).audio


def test_word_times_are_milliseconds(daemon):
    own = daemon.synthesis.Synthesize(speak_request(TEXT, word_times=True), timeout=PATIENCE).words
    expected = [(word.text, int(1000 * word.start_seconds + 1e-6), int(1000 * word.end_seconds + 1e-6)) for word in own]
    words = daemon.riva_speech.Synthesize(speech(enable_word_time_offsets=True), timeout=PATIENCE).meta.words
    assert [(word.word, word.start_time, word.end_time) for word in words] == expected
    streamed = [word for answer in online(daemon, speech(enable_word_time_offsets=True)) for word in answer.meta.words]
    assert [word.word for word in streamed] == [word.word for word in words]
    assert all(before.end_time <= after.start_time for before, after in zip(streamed, streamed[1:]))


def test_pieces_are_joined_by_a_space(daemon):
    pieces = [speech("Good morning."), speech("How are"), speech("you today?")]
    answers = online(daemon, *pieces)
    assert text_of(answers) == TEXT
    assert audio_of(answers) == audio_of(online(daemon, speech()))


def test_a_sentence_is_heard_while_the_next_is_written(daemon):
    texts_to_come = queue.Queue()
    texts_to_come.put(speech("Good morning."))
    texts_to_come.put(speech("How are"))
    answers = daemon.riva_speech.SynthesizeOnline(iter(texts_to_come.get, None), timeout=PATIENCE)
    assert next(answers).meta.text.strip() == "Good morning."
    texts_to_come.put(speech("you today?"))
    texts_to_come.put(None)
    assert text_of(answers) == "How are you today?"


def test_voices_are_listed(daemon):
    config, = daemon.riva_speech.GetRivaSynthesisConfig(riva_tts.RivaSynthesisConfigRequest(), timeout=PATIENCE).model_config
    assert config.model_name == VOICE
    assert dict(config.parameters) == {"language_code": "en-US", "voice_name": VOICE, "subvoices": "joe:0"}
    assert_refused(daemon.riva_speech.GetRivaSynthesisConfig, riva_tts.RivaSynthesisConfigRequest(model_name="x"), "NOT_FOUND", "'x'")


@pytest.mark.parametrize("name", ["", VOICE, f"{VOICE}.joe", "joe", "Magpie-Multilingual.EN-US.Aria"])
def test_a_voice_has_several_names(daemon, name):
    assert daemon.riva_speech.Synthesize(speech("Hello.", voice_name=name), timeout=PATIENCE).audio == whole(daemon, "Hello.")


# --- markup ---

PAUSED = "<speak>Good morning.<break time='1.5s'/>How are you today?</speak>"
TAGGED = "Good morning. [pause:1.5s] How are you today?"
PAUSE = bytes(2 * round(1.5 * RATE))


def test_a_text_in_speak_is_ssml(daemon):
    own = whole(daemon, PAUSED, text_format=synthesis.SPEECH_TEXT_FORMAT_SSML)
    assert PAUSE in own
    answer = daemon.riva_speech.Synthesize(speech(PAUSED), timeout=PATIENCE)
    assert answer.audio == own and answer.meta.text == "Good morning.How are you today?"
    pieces = online(daemon, *(speech(piece) for piece in PAUSED.split(" ")))
    assert PAUSE in audio_of(pieces) and text_of(pieces) == TEXT


def test_the_configuration_says_what_a_text_is(daemon):
    tags = {"text_format": "tags"}
    own = whole(daemon, TAGGED, text_format=synthesis.SPEECH_TEXT_FORMAT_TAGS)
    assert daemon.riva_speech.Synthesize(speech(TAGGED, custom_configuration=tags), timeout=PATIENCE).audio == own
    assert PAUSE in audio_of(online(daemon, *(speech(piece, custom_configuration=tags) for piece in TAGGED.split(" "))))
    # Only a text that is SSML by Riva's convention, or by its field, is taken for markup.
    assert daemon.riva_speech.Synthesize(speech(TAGGED), timeout=PATIENCE).audio == whole(daemon, TAGGED)
    as_text = speech(PAUSED, custom_configuration={"text_format": "text"})
    assert daemon.riva_speech.Synthesize(as_text, timeout=PATIENCE).audio == whole(daemon, PAUSED)


BAD_MARKUP = [
    ("<speak>\n <emphasis>a</emphasis></speak>", {}, ["text", "line 2, column 2", "'emphasis'"]),
    ("<!DOCTYPE speak [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><speak>&x;</speak>", {}, ["text", "DOCTYPE"]),
    ("<speak>" + "<prosody rate='100%'>" * 100, {}, ["text", "33 deep", "32"]),
    ("<speak>a", {}, ["text", "line 1, column 9"]),
    ("a", {"text_format": "ssml"}, ["text", "line 1, column 1"]),
    ("[laugh:loud]", {"text_format": "tags"}, ["text", "[laugh:loud]"]),
    ("a", {"text_format": "html"}, ["custom_configuration.text_format", "'html'", "text, tags or ssml"]),
]


@pytest.mark.parametrize(("text", "configuration", "words"), BAD_MARKUP, ids=lambda value: str(value)[:40])
def test_bad_markup_is_refused_by_name_and_place(daemon, bystander, text, configuration, words):
    request = speech(text, custom_configuration=configuration)
    assert_refused(daemon.riva_speech.Synthesize, request, "INVALID_ARGUMENT", *words)
    assert_refused(daemon.riva_speech.SynthesizeOnline, iter([request]), "INVALID_ARGUMENT", *words)


# --- translation ---

def test_translation_is_that_of_our_own_service(daemon):
    sentences = ["Where is the station?", "", "Good morning."]
    own = daemon.translation.Translate(translate_request(*sentences), timeout=PATIENCE).translations
    for source, target, model in [("en", "pt", ""), ("en-US", "pt-BR", ""), ("en", "pt", EN_PT)]:
        answer = daemon.riva_translation.TranslateText(
            texts(*sentences, source_language=source, target_language=target, model=model, id={"value": "mine"}), timeout=PATIENCE)
        assert [one.text for one in answer.translations] == [one.text for one in own]
        assert {one.language for one in answer.translations} == {"pt"} and answer.id.value == "mine"


def test_phrases_are_a_glossary(daemon):
    answer = daemon.riva_translation.TranslateText(
        texts("The Millrace is in Wonderland.", dnt_phrases=["Wonderland##Maravilândia,Millrace##"]), timeout=PATIENCE)
    assert "Maravilândia" in answer.translations[0].text and "Millrace" in answer.translations[0].text


def test_language_pairs_are_listed(daemon):
    pairs = daemon.riva_translation.ListSupportedLanguagePairs(riva_nmt.AvailableLanguageRequest(), timeout=PATIENCE).languages
    assert {name: (list(pair.src_lang), list(pair.tgt_lang)) for name, pair in pairs.items()} == {
        EN_PT: (["en"], ["pt"]), PT_EN: (["pt"], ["en"])}
    assert_refused(daemon.riva_translation.ListSupportedLanguagePairs, riva_nmt.AvailableLanguageRequest(model=VOICE), "NOT_FOUND", VOICE)


@pytest.mark.parametrize("method", ["StreamingTranslateSpeechToText", "StreamingTranslateSpeechToSpeech"])
def test_speech_is_not_translated(daemon, method):
    call = daemon.channel.stream_stream(f"/nvidia.riva.nmt.RivaTranslation/{method}")
    with pytest.raises(grpc.RpcError) as raised:
        list(call(iter([b""]), timeout=PATIENCE))
    assert raised.value.code().name == "UNIMPLEMENTED"
    assert method in raised.value.details() and "TranslateText" in raised.value.details()


# --- bad input: one answer, and nothing else disturbed ---

BAD_SPEECH = [
    ({"text": ""}, ["text"]),
    ({"text": "..."}, ["text"]),
    ({"text": "a\0b"}, ["text", "NUL"]),
    ({"text": "a" * 1_000_000}, ["text"]),
    ({"language_code": "xx"}, ["language_code", "xx", "en-US"]),
    ({"encoding": "OGGOPUS", "sample_rate_hz": 44100}, ["sample_rate_hz", "44100", "48000"]),
    ({"encoding": 9}, ["encoding", "9", "OGGOPUS"]),
    ({"sample_rate_hz": -1}, ["sample_rate_hz", "-1"]),
    ({"sample_rate_hz": 7999}, ["sample_rate_hz", "7999", "8000"]),
    ({"voice_name": "aria"}, ["voice_name", "aria", f"{VOICE}.joe"]),
    ({"zero_shot_data": {"audio_prompt": b"x"}}, ["zero_shot_data.audio_prompt"]),
    ({"custom_configuration": {"pitch": "2"}}, ["custom_configuration", "pitch", "text_format"]),
    ({"custom_dictionary": "tomato  t"}, ["custom_dictionary", VOICE]),
    ({"custom_dictionary": "tomato"}, ["custom_dictionary", "tomato"]),
]


@pytest.mark.parametrize(("fields", "words"), BAD_SPEECH, ids=lambda value: str(value)[:40])
def test_bad_speech_is_refused_by_field(daemon, bystander, fields, words):
    assert_refused(daemon.riva_speech.Synthesize, speech(**fields), "INVALID_ARGUMENT", *words)
    assert_refused(daemon.riva_speech.SynthesizeOnline, iter([speech(**fields)]), "INVALID_ARGUMENT", *words)


BAD_TEXTS = [
    ([], {}, "INVALID_ARGUMENT", ["texts"]),
    ([""], {}, "INVALID_ARGUMENT", ["texts[0]"]),
    (["fine", "a\0b"], {}, "INVALID_ARGUMENT", ["texts[1]", "NUL"]),
    (["a" * 1_000_000], {}, "INVALID_ARGUMENT", ["texts", "100000"]),
    (["a"] * 10_001, {}, "INVALID_ARGUMENT", ["texts", "10000"]),
    (["Hello."], {"target_language": "xx"}, "NOT_FOUND", ["xx"]),
    (["Hello."], {"model": "none"}, "NOT_FOUND", ["none"]),
    (["Hello."], {"max_len_variation": "10"}, "INVALID_ARGUMENT", ["max_len_variation", "10"]),
    (["Hello."], {"dnt_phrases": ["##x"]}, "INVALID_ARGUMENT", ["dnt_phrases[0]", "##x"]),
    (["Hello."], {"dnt_phrases": ["a##b,a##c"]}, "INVALID_ARGUMENT", ["dnt_phrases"]),
    (["Hello."], {"dnt_phrases": [",".join(str(number) for number in range(1001))]}, "INVALID_ARGUMENT", ["dnt_phrases", "1000"]),
]


@pytest.mark.parametrize(("all_texts", "fields", "code", "words"), BAD_TEXTS, ids=lambda value: str(value)[:40])
def test_bad_texts_are_refused_by_field(daemon, bystander, all_texts, fields, code, words):
    assert_refused(daemon.riva_translation.TranslateText, texts(*all_texts, **fields), code, *words)


BAD_BYTES = [
    (b"\x0a\x02\xff\xfe", "UTF-8"),                # field 1, not UTF-8
    (b"\x0a\x7fshort", "is not a valid nvidia.riva"),   # a length beyond the end
    (b"\xff" * 20, "is not a valid nvidia.riva"),
]


@pytest.mark.parametrize(("message", "words"), BAD_BYTES, ids=str)
def test_bytes_that_are_no_message_are_refused(daemon, bystander, message, words):
    for method in ["tts.RivaSpeechSynthesis/Synthesize", "tts.RivaSpeechSynthesis/GetRivaSynthesisConfig",
                   "nmt.RivaTranslation/TranslateText", "nmt.RivaTranslation/ListSupportedLanguagePairs"]:
        error = refused(daemon.raw(f"nvidia.riva.{method}"), message)
        assert error.code().name == "INVALID_ARGUMENT" and words in error.details()
    call = daemon.channel.stream_stream("/nvidia.riva.tts.RivaSpeechSynthesis/SynthesizeOnline")
    assert_refused(call, iter([message]), "INVALID_ARGUMENT", words)


def test_other_settings_within_a_call_are_refused(daemon, bystander):
    requests = [speech(), speech(voice_name="joe")]
    assert_refused(daemon.riva_speech.SynthesizeOnline, iter(requests), "INVALID_ARGUMENT", "settings")


def test_a_flood_of_text_is_read_no_faster_than_it_is_spoken(daemon, bystander):
    """A client that sends without end, and reads nothing but the end."""
    sent = []

    def requests():
        for number in range(10_000):
            sent.append(number)
            yield speech("All work and no play makes Jack a dull boy. " * 100)

    with pytest.raises(grpc.RpcError) as raised:
        for _ in daemon.riva_speech.SynthesizeOnline(requests(), timeout=5):
            pass
    # The others mean that the next sentences would not be spoken in time, now or ever.
    assert raised.value.code().name in {"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "INVALID_ARGUMENT"}
    assert len(sent) < 2_000   # gRPC's window holds some 4 MiB, or 950 messages, of a client that it knows to be fast
    daemon.wait_until_idle()


def test_a_client_that_leaves_stops_its_speech(daemon, bystander):
    before = counted(daemon, ONLINE, "CANCELLED")
    call = daemon.riva_speech.SynthesizeOnline(iter([speech(LONG)] * 4), timeout=PATIENCE)
    next(call)
    call.cancel()
    eventually("the call is counted", lambda: counted(daemon, ONLINE, "CANCELLED") == before + 1)
    daemon.wait_until_idle()


def test_a_client_that_never_reads_is_ended(tmp_path):
    models = repository.link(tmp_path / "models", NULL, VOICE)
    with daemons.start(tmp_path, "--write-stall-timeout", "2s", "--max-buffered-bytes", "64KiB", models=models) as daemon:
        channel = daemon.connect(**{"http2.bdp_probe": 0, "http2.lookahead_bytes": 65536})
        call = channel.stream_stream("/nvidia.riva.tts.RivaSpeechSynthesis/SynthesizeOnline",
                                     riva_tts.SynthesizeSpeechRequest.SerializeToString)(
            iter([speech(LONG, sample_rate_hz=48000)] * 4), timeout=PATIENCE)
        eventually("the call is ended", lambda: counted(daemon, ONLINE, "CANCELLED") == 1)
        daemon.wait_until_idle()
        call.cancel()
        assert daemon.riva_speech.Synthesize(speech(), timeout=PATIENCE).audio


def test_a_call_that_sends_nothing_more_is_ended(tmp_path):
    models = repository.link(tmp_path / "models", NULL, VOICE)
    with daemons.start(tmp_path, "--write-stall-timeout", "2s", models=models) as daemon:
        nothing_more = queue.Queue()
        nothing_more.put(speech("Good"))
        call = daemon.riva_speech.SynthesizeOnline(iter(nothing_more.get, None), timeout=PATIENCE)
        with pytest.raises(grpc.RpcError) as raised:
            list(call)
        nothing_more.put(None)
        assert raised.value.code().name == "CANCELLED"


# --- the client of NVIDIA ---

def client(daemon, command, **options):
    """What riva_client.py prints."""
    assert RIVA_PYTHON.is_file(), f"{RIVA_PYTHON} is not there: run `scripts/deps.sh serve test` first"
    ended = subprocess.run([RIVA_PYTHON, ROOT / "tests" / "integration" / "riva_client.py", daemon.address, command, json.dumps(options)],
                           capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_talk_lists_the_voices(daemon):
    assert client(daemon, "voices") == {"en-US": [f"{VOICE}.joe"]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("voice", [None, f"{VOICE}.joe"])
def test_talk_speaks(daemon, stream, voice):
    audio = base64.b64decode(client(daemon, "speak", text=TEXT, stream=stream, voice_name=voice)["audio"])
    assert abs(len(audio) / 2 / 44100 - len(whole(daemon)) / 2 / RATE) < 0.1


def test_the_client_takes_a_list_of_texts(daemon):
    options = {"stream": True, "sample_rate_hz": RATE, "enable_word_time_offsets": True}
    assert client(daemon, "speak", text=["Good morning.", "How are", "you today?"], **options) == client(
        daemon, "speak", text=TEXT, **options)


@pytest.mark.parametrize("rate", [24000, 48000])
@pytest.mark.parametrize("stream", [False, True])
def test_opus_is_what_rivas_clients_decode(daemon, stream, rate):
    """As riva_tts_client --audio_encoding=opus reads it: packets of raw Opus after their lengths."""
    options = {"text": TEXT, "stream": stream, "sample_rate_hz": rate}
    audio = base64.b64decode(client(daemon, "speak", encoding="OGGOPUS", **options)["audio"])
    samples = array.array("h", base64.b64decode(client(daemon, "speak", **options)["audio"]))
    heard = decoded_packets(audio, rate)
    assert len(samples) <= len(heard) <= len(samples) + rate // 10
    # The codec delays sound by 6.5 ms. It keeps the energy of each tenth of a second.
    heard = heard[rate * 65 // 10000:]
    tenth = rate // 10
    for begin in range(0, len(samples) - tenth, tenth):
        meant, got = (math.sqrt(sum(value * value for value in some[begin:begin + tenth]) / tenth) for some in (samples, heard))
        assert abs(meant - got) < 0.25 * meant + 100, begin


def decoded_packets(audio, rate):
    library = ctypes.CDLL(ctypes.util.find_library("opus"))
    library.opus_decoder_create.restype = ctypes.c_void_p
    error = ctypes.c_int()
    decoder = ctypes.c_void_p(library.opus_decoder_create(rate, 1, ctypes.byref(error)))
    longest = rate * 6 // 50
    samples = array.array("h")
    while audio:
        size, = struct.unpack_from("<i", audio)
        packet, audio = audio[4:4 + size], audio[4 + size:]
        assert len(packet) == size
        out = (ctypes.c_int16 * longest)()
        count = library.opus_decode(decoder, packet, size, out, longest, 0)
        assert count > 0
        samples.extend(out[:count])
    library.opus_decoder_destroy(decoder)
    return samples


def test_the_clients_dictionary_and_configuration_are_understood(daemon, bystander):
    """Piper takes no pronunciations, which is said once the list could be read."""
    answer = client(daemon, "speak", text=TEXT, custom_dictionary={"morning": "mˈɔɹnɪŋ", "you": "ju"})
    assert answer["error"] == "INVALID_ARGUMENT" and f"'{VOICE}' takes no pronunciations" in answer["details"]
    answer = client(daemon, "speak", text=TEXT, custom_configuration={"pitch": 2})
    assert answer["error"] == "INVALID_ARGUMENT" and "'pitch'" in answer["details"]


@pytest.mark.parametrize("stream", [False, True])
def test_the_client_speaks_markup(daemon, stream):
    options = {"stream": stream, "sample_rate_hz": RATE}
    ssml = base64.b64decode(client(daemon, "speak", text=PAUSED, **options)["audio"])
    assert PAUSE in ssml
    tagged = client(daemon, "speak", text=TAGGED, custom_configuration={"text_format": "tags"}, **options)
    assert PAUSE in base64.b64decode(tagged["audio"])
    as_text = client(daemon, "speak", text=PAUSED, custom_configuration={"text_format": "text"}, **options)
    assert PAUSE not in base64.b64decode(as_text["audio"])
    answer = client(daemon, "speak", text="<speak>a<mark/></speak>", **options)
    assert answer["error"] == "INVALID_ARGUMENT" and "line 1, column 9" in answer["details"] and "'mark'" in answer["details"]
    answer = client(daemon, "speak", text=PAUSED, custom_dictionary={"morning": "mˈɔɹnɪŋ"}, **options)
    assert answer["error"] == "INVALID_ARGUMENT" and "custom_dictionary" in answer["details"] and "markup" in answer["details"]


def test_pipecat_speaks_turns_and_interrupts_them(daemon, bystander):
    before = counted(daemon, ONLINE, "CANCELLED")
    turn = client(daemon, "pipecat", text=LONG, interrupt=True)
    assert turn["models"] == [VOICE] and turn["pieces"] > 1 and turn["interrupted"] == "CANCELLED"
    eventually("the interrupted call is counted", lambda: counted(daemon, ONLINE, "CANCELLED") == before + 1)
    spoken = base64.b64decode(turn["audio"])
    assert abs(len(spoken) / 2 / 24000 - len(audio_of(online(daemon, speech(LONG)))) / 2 / RATE) < 0.1


def test_the_client_translates(daemon):
    own = daemon.translation.Translate(translate_request("Good morning."), timeout=PATIENCE).translations[0].text
    assert client(daemon, "translate", texts=["Good morning."], source="en-US", target="pt-BR") == {"translations": [[own, "pt"]]}
    answer = client(daemon, "translate", texts=["The Millrace is in Wonderland."], source="en", target="pt",
                    dnt_phrases_dict={"Wonderland": "Maravilândia", "Millrace": ""})
    assert "Maravilândia" in answer["translations"][0][0] and "Millrace" in answer["translations"][0][0]
    assert client(daemon, "pairs") == {EN_PT: [["en"], ["pt"]], PT_EN: [["pt"], ["en"]]}


def test_the_client_is_told_that_speech_is_not_translated(daemon):
    answer = client(daemon, "speech_in")
    assert answer["error"] == "UNIMPLEMENTED" and "TranslateText" in answer["details"]


def test_the_clients_key_is_asked_for(tmp_path):
    models = repository.link(tmp_path / "models", NULL, VOICE)
    keys = user_key(tmp_path, "the-key-of-alice")
    with daemons.start(tmp_path, "--api-keys", keys, models=models) as daemon:
        for key in ["None", "wrong"]:
            for command, options in [("speak", {"text": TEXT}), ("speak", {"text": TEXT, "stream": True})]:
                answer = client(daemon, command, key=key, **options)
                assert answer["error"] == "UNAUTHENTICATED" and "not known" in answer["details"]
        assert client(daemon, "speak", key="the-key-of-alice", text=TEXT, stream=True)["audio"]
