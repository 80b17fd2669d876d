"""Speech with the real voice: what comes out, and what bad requests get."""

import array
import io
import math
import threading
import time
import wave

import pytest
from wire import daemon as daemons
from wire import repository
from wire.paths import EN_PT, NULL, VOICE
from wire.requests import PATIENCE, assert_refused, speak_request
from wire.sound import decode
from wire.stubs import synthesis

RATE = 22050
TEXT = "Good morning. The children were playing in the garden! Where is the nearest station?"
SENTENCES = ["Good morning.", "The children were playing in the garden!", "Where is the nearest station?"]
FLAC, MP3, OPUS = synthesis.AUDIO_ENCODING_FLAC, synthesis.AUDIO_ENCODING_MP3, synthesis.AUDIO_ENCODING_OGG_OPUS
WAV, S16, F32 = synthesis.AUDIO_ENCODING_WAV, synthesis.AUDIO_ENCODING_PCM_S16LE, synthesis.AUDIO_ENCODING_PCM_F32LE


def speak(daemon, text=TEXT, **fields):
    return daemon.synthesis.Synthesize(speak_request(text, **fields), timeout=PATIENCE)


def stream(daemon, text=TEXT, **fields):
    return list(daemon.synthesis.StreamSynthesize(speak_request(text, **fields), timeout=PATIENCE))


def loudness(pcm):
    """Root mean square of 16-bit samples, 0..1."""
    samples = array.array("h", pcm)
    return math.sqrt(sum(sample * sample for sample in samples) / len(samples)) / 32768


# --- what comes out ---

def test_wav_has_a_true_header_and_a_voice_in_it(daemon):
    response = speak(daemon)
    assert (response.model, response.model_version, response.voice) == (VOICE, "1", "joe")
    assert (response.encoding, response.sample_rate) == (WAV, RATE)
    with wave.open(io.BytesIO(response.audio)) as audio:
        assert (audio.getnchannels(), audio.getsampwidth(), audio.getframerate()) == (1, 2, RATE)
        frames = audio.getnframes()
        pcm = audio.readframes(frames)
    assert len(response.audio) == 44 + 2 * frames == 44 + len(pcm)
    assert int.from_bytes(response.audio[4:8], "little") == len(response.audio) - 8
    assert response.duration_seconds == pytest.approx(frames / RATE)
    # 14 words: people speak two to four of them in a second.
    assert 3 < response.duration_seconds < 10
    assert 0.01 < loudness(pcm) < 0.5


def test_more_text_takes_longer_to_say(daemon):
    assert speak(daemon, "One.").duration_seconds < speak(daemon, "One, two, three, four, five, six.").duration_seconds


def test_encodings_hold_the_same_audio(daemon):
    wav, s16, f32 = (speak(daemon, encoding=encoding, seed=3).audio for encoding in (WAV, S16, F32))
    assert wav[44:] == s16
    floats = array.array("f", f32)
    assert [round(max(-1.0, min(1.0, x)) * 32767) for x in floats] == pytest.approx(array.array("h", s16).tolist(), abs=1)
    assert max(map(abs, floats)) <= 1


def test_same_seed_gives_same_audio_and_another_seed_another(daemon):
    assert speak(daemon, seed=5).audio == speak(daemon, seed=5).audio
    assert speak(daemon, seed=5).audio != speak(daemon, seed=6).audio


def test_without_noise_the_seed_does_not_matter(daemon):
    still = {"noise_scale": 0, "noise_w": 0}
    assert speak(daemon, seed=1, **still).audio == speak(daemon, seed=2, **still).audio


def test_speed_makes_it_shorter(daemon):
    still = {"noise_w": 0, "noise_scale": 0}
    normal = speak(daemon, **still).duration_seconds
    assert speak(daemon, speed=1, **still).duration_seconds == normal
    # Each phoneme lasts a whole number of frames, so it is not exactly twice as fast.
    assert 0.4 * normal < speak(daemon, speed=2, **still).duration_seconds < 0.7 * normal
    assert 1.6 * normal < speak(daemon, speed=0.5, **still).duration_seconds < 2.2 * normal


@pytest.mark.parametrize("speed", [0.25, 4])
def test_extreme_speeds_are_allowed(daemon, speed):
    assert speak(daemon, "Hello.", speed=speed).duration_seconds > 0


def test_the_only_model_and_its_voice_need_not_be_named(tmp_path):
    with daemons.start(tmp_path, models=repository.link(tmp_path / "models", VOICE)) as daemon:
        response = speak(daemon, "Hello.", model="", voice="")
        assert (response.model, response.voice) == (VOICE, "joe")


def test_of_several_models_one_speaks_for_who_names_none(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    (models / "other-voice").symlink_to(models / VOICE)
    with daemons.start(tmp_path, models=models) as daemon:
        assert speak(daemon, "Hello.", model="").audio


def test_stream_is_the_whole_audio_in_order(daemon):
    messages = stream(daemon, seed=9)
    assert b"".join(message.audio for message in messages) == speak(daemon, seed=9, encoding=S16).audio
    assert {message.sample_rate for message in messages} == {RATE}
    assert {message.encoding for message in messages} == {S16}
    assert all(0 < len(message.audio) <= 32 << 10 and len(message.audio) % 2 == 0 for message in messages)


def test_stream_of_floats_is_the_whole_audio_in_order(daemon):
    messages = stream(daemon, seed=9, encoding=F32)
    assert b"".join(message.audio for message in messages) == speak(daemon, seed=9, encoding=F32).audio


# --- phonemes ---

def test_phonemes_are_spoken_in_place_of_a_text(daemon):
    spoken = {"phonemes": "həlˈoʊ ðˈɛɹ, wˈɜːld. jˈɛs!", "seed": 3, "encoding": S16}
    audio = speak(daemon, "", **spoken).audio
    assert audio == speak(daemon, "Hello there, world. Yes!", seed=3, encoding=S16).audio
    messages = stream(daemon, "", **spoken)
    assert b"".join(message.audio for message in messages) == audio
    assert [message.text for message in messages if message.text] == ["həlˈoʊ ðˈɛɹ, wˈɜːld.", "jˈɛs!"]


def test_two_thousand_phonemes_are_cut_at_pauses(daemon):
    word = "wˈɜːld, "
    messages = stream(daemon, "", phonemes=word * (2000 // len(word)), speed=4)
    texts = [message.text for message in messages if message.text]
    assert all(len(text.encode()) <= 400 and text.endswith("d,") for text in texts)
    assert sum(text.count(",") for text in texts) == 2000 // len(word)


@pytest.mark.parametrize("method", ["Synthesize", "StreamSynthesize"])
@pytest.mark.parametrize("fields, words", [
    ({"phonemes": "həlˈoʊ 漢."}, ["phonemes", "'漢' (U+6f22) at byte 10", "it knows: "]),
    ({"phonemes": "həlˈoʊ_"}, ["phonemes", "'_' (U+005f) at byte 9"]),
    ({"phonemes": "h" * 200_001}, ["phonemes", "200001 characters"]),
    ({"phonemes": "jˈɛs.", "text": "Yes."}, ["phonemes", "must be empty", "one of the two"]),
], ids=["symbol", "mark", "long", "both"])
def test_bad_phonemes_are_refused(daemon, method, fields, words):
    assert_refused(getattr(daemon.synthesis, method), speak_request(**{"text": ""} | fields), "INVALID_ARGUMENT", *words)


def test_a_stream_of_text_takes_no_phonemes(daemon):
    def messages():
        yield synthesis.SynthesizeTextStreamRequest(config=speak_request("", phonemes="jˈɛs."))
    assert_refused(daemon.synthesis.SynthesizeTextStream, messages(), "INVALID_ARGUMENT", "config.phonemes", "must be empty")


# --- formats: an independent decoder hears the same speech ---

@pytest.mark.parametrize("encoding, kind, rate, slack", [(WAV, "wav", RATE, 0), (FLAC, "flac", RATE, 0), (MP3, "mp3", RATE, 0.12),
                                                         (OPUS, "opus", 24000, 0.01)], ids=["wav", "flac", "mp3", "opus"])
def test_every_format_is_the_whole_speech_from_both_methods(daemon, encoding, kind, rate, slack):
    plain = decode(speak(daemon, seed=4).audio, "wav")
    messages = stream(daemon, seed=4, encoding=encoding)
    assert {message.encoding for message in messages} == {encoding}
    assert all(len(message.audio) <= 1 << 20 for message in messages)
    for audio in (speak(daemon, seed=4, encoding=encoding).audio, b"".join(message.audio for message in messages)):
        sound = decode(audio, kind)
        assert sound.rate == rate
        # An MP3 is made of frames of 26 ms, and a decoder may leave out a last one.
        shortest = -0.03 if encoding == MP3 else 0
        assert shortest <= sound.seconds - plain.seconds + 0.001 <= slack + 0.002
        assert sound.loudness == pytest.approx(plain.loudness, rel=0.1)
        if encoding in (WAV, FLAC):
            assert sound.samples == plain.samples


def test_what_is_compressed_is_small(daemon):
    sizes = {encoding: len(speak(daemon, seed=4, encoding=encoding).audio) for encoding in (WAV, FLAC, MP3, OPUS)}
    assert sizes[FLAC] < 0.8 * sizes[WAV] and sizes[MP3] < 0.3 * sizes[WAV] and sizes[OPUS] < 0.2 * sizes[WAV]


@pytest.mark.parametrize("rate", [8000, 24000, 44100, 48000])
def test_any_sample_rate_is_the_same_speech(daemon, rate):
    plain = decode(speak(daemon, seed=4).audio, "wav")
    response = speak(daemon, seed=4, sample_rate=rate)
    messages = stream(daemon, seed=4, sample_rate=rate)
    assert {response.sample_rate} | {message.sample_rate for message in messages} == {rate}
    assert b"".join(message.audio for message in messages) == response.audio[44:]
    sound = decode(response.audio, "wav")
    assert (sound.rate, sound.seconds) == (rate, pytest.approx(plain.seconds, abs=0.001))
    assert response.duration_seconds == pytest.approx(plain.seconds)
    assert sound.loudness == pytest.approx(plain.loudness, rel=0.1)


def test_loudness_is_normalized(daemon):
    whole = decode(speak(daemon, seed=4, normalize_loudness=True).audio, "wav")
    streamed = decode(b"".join(m.audio for m in stream(daemon, seed=4, encoding=WAV, normalize_loudness=True)), "wav")
    for sound in (whole, streamed):
        # -19 LUFS of speech lies near -21 dB of root mean square, pauses included.
        assert 0.05 < sound.loudness < 0.16
        assert sound.peak <= 0.9
    assert len(whole.samples) == len(streamed.samples)


def test_stream_goes_sentence_by_sentence(daemon):
    messages = stream(daemon)
    by_sentence = [[message for message in messages if message.sentence_index == index] for index in range(3)]
    assert sum(by_sentence, []) == messages
    for sentence, parts in zip(SENTENCES, by_sentence, strict=True):
        assert [part.text.strip() for part in parts] == [sentence] + [""] * (len(parts) - 1)
        assert [part.sentence_finished for part in parts] == [False] * (len(parts) - 1) + [True]


def test_a_long_sentence_is_heard_before_it_is_finished(daemon):
    text = "This sentence is long enough that nobody would want to wait for all of it before the first of its words is heard."
    parts = stream(daemon, text, seed=2)
    assert [part.text for part in parts if part.text] == [text]
    assert [part.sentence_finished for part in parts] == [False] * (len(parts) - 1) + [True]
    assert len(parts[0].audio) / 2 / RATE < 0.5
    assert len(parts) > 3


def written(*pieces, **config):
    """The messages of a text that comes in pieces."""
    yield synthesis.SynthesizeTextStreamRequest(config=speak_request("", **config))
    for piece in pieces:
        yield synthesis.SynthesizeTextStreamRequest(text=piece)


def test_text_written_word_by_word_sounds_like_the_whole(daemon):
    pieces = [word + " " for word in TEXT.split(" ")]
    parts = list(daemon.synthesis.SynthesizeTextStream(written(*pieces, seed=4), timeout=PATIENCE))
    assert b"".join(part.audio for part in parts) == b"".join(part.audio for part in stream(daemon, seed=4))
    assert [part.text for part in parts if part.text] == SENTENCES
    assert [part.sentence_index for part in parts if part.sentence_finished] == [0, 1, 2]


def test_a_sentence_is_heard_while_the_next_is_written(daemon):
    heard = threading.Event()

    def writer():
        yield from written("Good morning. The ")
        assert heard.wait(PATIENCE)
        yield synthesis.SynthesizeTextStreamRequest(text="end.")

    parts = []
    for part in daemon.synthesis.SynthesizeTextStream(writer(), timeout=PATIENCE):
        parts.append(part)
        heard.set()
    assert [part.text for part in parts if part.text] == ["Good morning.", "The end."]


def test_stream_of_a_long_text_starts_long_before_it_ends(daemon):
    start, first = time.monotonic(), None
    for _ in daemon.synthesis.StreamSynthesize(speak_request(TEXT * 4), timeout=PATIENCE):
        first = first or time.monotonic() - start
    assert first < (time.monotonic() - start) / 2


@pytest.mark.parametrize("text", ["Hello 😀 world.", "It costs 5 € — “really”?", "x" * 300, "Ünïcödé wörds."],
                         ids=["emoji", "signs", "long word", "accents"])
def test_unusual_text_is_spoken(daemon, bystander, text):
    assert speak(daemon, text).duration_seconds > 0.2


# --- what bad requests get: from both methods, with the field and what is allowed ---

NAN, INF = math.nan, math.inf
BAD = {
    "empty text": ({"text": ""}, ["text", "empty"]),
    "NUL": ({"text": "with a \0 inside"}, ["text", "NUL", "byte 7"]),
    "only emoji": ({"text": "😀🎉🚀"}, ["text", "letter or a digit"]),
    "only signs": ({"text": "... ?!"}, ["text", "letter or a digit"]),
    "only space": ({"text": " \n\t"}, ["text", "letter or a digit"]),
    "unknown voice": ({"voice": "nobody"}, ["voice", "'nobody'", "joe"]),
    "path for a voice": ({"voice": "../joe"}, ["voice", "'../joe'", "joe"]),
    "speed 0": ({"speed": 0}, ["speed", "0.25..4"]),
    "speed -1": ({"speed": -1}, ["speed", "-1", "0.25..4"]),
    "speed NaN": ({"speed": NAN}, ["speed", "nan", "0.25..4"]),
    "speed infinite": ({"speed": INF}, ["speed", "inf", "0.25..4"]),
    "speed too low": ({"speed": 0.2}, ["speed", "0.2", "0.25..4"]),
    "speed too high": ({"speed": 4.5}, ["speed", "4.5", "0.25..4"]),
    "noise_scale negative": ({"noise_scale": -0.5}, ["noise_scale", "-0.5", "0", "2"]),
    "noise_scale NaN": ({"noise_scale": NAN}, ["noise_scale", "nan", "0", "2"]),
    "noise_scale infinite": ({"noise_scale": INF}, ["noise_scale", "inf", "0..2"]),
    "noise_scale too high": ({"noise_scale": 2.5}, ["noise_scale", "2.5", "0..2"]),
    "noise_w negative": ({"noise_w": -1}, ["noise_w", "-1", "0", "2"]),
    "noise_w too high": ({"noise_w": 1e30}, ["noise_w", "0..2"]),
    "unknown encoding": ({"encoding": 77}, ["encoding", "77", "WAV", "OGG_OPUS"]),
    "sample_rate too low": ({"sample_rate": 7999}, ["sample_rate", "7999", "8000..48000"]),
    "sample_rate too high": ({"sample_rate": 48001}, ["sample_rate", "48001", "8000..48000"]),
    "sample_rate that Opus lacks": ({"encoding": OPUS, "sample_rate": 22050}, ["sample_rate", "22050", "OGG_OPUS", "24000"]),
    "sample_rate that MP3 lacks": ({"encoding": MP3, "sample_rate": 23000}, ["sample_rate", "23000", "MP3", "22050"]),
}


@pytest.mark.parametrize("method", ["Synthesize", "StreamSynthesize"])
@pytest.mark.parametrize("fields, words", BAD.values(), ids=BAD.keys())
def test_bad_request_is_refused_by_field(daemon, bystander, method, fields, words):
    request = speak_request(**{"text": "Hello."} | fields)
    assert_refused(getattr(daemon.synthesis, method), request, "INVALID_ARGUMENT", *words)


@pytest.mark.parametrize("method, limit", [("Synthesize", 5_000), ("StreamSynthesize", 200_000)])
@pytest.mark.parametrize("over", ["by one", "1 MB"])
def test_text_over_the_limit_is_refused(daemon, bystander, method, limit, over):
    text = "é" * (limit + 1) if over == "by one" else "word " * 200_000
    assert_refused(getattr(daemon.synthesis, method), speak_request(text), "INVALID_ARGUMENT",
                   "text", f"{len(text)} characters", str(limit))


@pytest.mark.parametrize("method", ["Synthesize", "StreamSynthesize"])
@pytest.mark.parametrize("code, fields, words", [
    ("NOT_FOUND", {"model": "nobody"}, ["model", "'nobody'", VOICE]),
    ("NOT_FOUND", {"model": f"../{VOICE}"}, ["model", VOICE]),
    ("NOT_FOUND", {"model_version": "9"}, ["model_version", "'9'", "1"]),
    ("FAILED_PRECONDITION", {"model": NULL}, ["model", NULL, "synthesis"]),
    ("FAILED_PRECONDITION", {"model": EN_PT}, ["model", EN_PT, "synthesis"]),
], ids=["unknown", "path", "version", "generic", "translation"])
def test_model_that_cannot_do_it_is_refused(daemon, bystander, method, code, fields, words):
    assert_refused(getattr(daemon.synthesis, method), speak_request("Hello.", **fields), code, *words)


@pytest.mark.parametrize("method", ["Synthesize", "StreamSynthesize"])
@pytest.mark.parametrize("field, tag", [("model", b"\x0a"), ("voice", b"\x1a"), ("text", b"\x22")])
def test_text_that_is_not_utf8_is_refused(daemon, bystander, method, field, tag):
    path = f"/millrace.v1.SynthesisService/{method}"
    call = daemon.channel.unary_unary(path) if method == "Synthesize" else daemon.channel.unary_stream(path)
    assert_refused(call, tag + b"\x04ok\xff\xfe", "INVALID_ARGUMENT", field, "UTF-8")
