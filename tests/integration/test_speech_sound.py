"""What real voices sound like around their words: pauses, times against the energy, speed and level."""

import json
import urllib.error
import urllib.request

import numpy as np
import pytest
from wire.paths import KOKORO, VOICE
from wire.requests import PATIENCE, assert_refused, speak_request
from wire.stubs import synthesis

F32 = synthesis.AUDIO_ENCODING_PCM_F32LE
TEXT = "The train stops here. It is slow!\n\nNobody knows why."
# A stop at the end of a sentence is silent until it opens, and a voice's durations count the silence behind it to the word.
STOPS = "It was a quarter past eight! Nobody had a map.\n\nPlease make it quick. Wait a bit. What a big dog!"
WINDOW = 0.005  # seconds
NEAR = 0.05


@pytest.fixture(scope="module")
def daemon(all_models):
    return all_models


both_models = pytest.mark.parametrize("model", [VOICE, KOKORO])


def speak(daemon, text=TEXT, **fields):
    request = speak_request(text, **{"voice": "", "encoding": F32, "seed": 1, "word_times": True} | fields)
    return daemon.synthesis.Synthesize(request, timeout=PATIENCE)


def window_of(answer):
    return int(answer.sample_rate * WINDOW)


def heard(answer):
    """Whether each window is within 40 dB of the loudest one."""
    samples = np.frombuffer(answer.audio, np.float32)
    size = window_of(answer)
    power = (samples[:len(samples) // size * size].reshape(-1, size) ** 2).mean(1)
    return power > power.max() * 1e-4


def sounds(answer):
    """Of each sentence, by its words: when its first sound begins and when its last one ends."""
    window = window_of(answer) / answer.sample_rate
    all_times = np.flatnonzero(heard(answer)) * window
    spans = []
    for sentence in range(answer.words[-1].sentence_index + 1):
        words = [word for word in answer.words if word.sentence_index == sentence]
        first, last = words[0].start_seconds - 0.12, words[-1].end_seconds + 0.12
        times = all_times[(all_times >= first) & (all_times < last)]
        spans.append((times[0], times[-1] + window, words))
    return spans


def pauses(answer):
    spans = sounds(answer)
    return [after[0] - before[1] for before, after in zip(spans, spans[1:], strict=False)]


@pytest.mark.parametrize("model, text", [(VOICE, TEXT), (VOICE, STOPS), (KOKORO, TEXT)])
def test_sentences_begin_and_end_where_their_words_do(daemon, model, text):
    answer = speak(daemon, text, model=model)
    spans = sounds(answer)
    for begin, end, words in spans:
        assert words[0].start_seconds == pytest.approx(begin, abs=NEAR), words[0].text
        assert words[-1].end_seconds == pytest.approx(end, abs=NEAR), words[-1].text
    assert spans[0][0] < 0.08
    assert answer.duration_seconds - spans[-1][1] < 0.2


@both_models
def test_a_request_says_how_long_pauses_are(daemon, model):
    assert pauses(speak(daemon, model=model)) == pytest.approx([0.4, 0.8], abs=0.06)
    wanted = {"sentence_pause_seconds": 1.5, "paragraph_pause_seconds": 0.2}
    assert pauses(speak(daemon, model=model, **wanted)) == pytest.approx([1.5, 0.2], abs=0.06)


def test_a_word_before_a_comma_ends_with_its_sound(daemon):
    answer = speak(daemon, "In the small room, only one had it; the others, later, had none.", model=KOKORO)
    loud = heard(answer)
    for word in answer.words:
        if word.text not in ("room", "it", "none"):
            continue   # the voice makes no pause at the other commas
        end = int(round(word.end_seconds / WINDOW))
        assert loud[end - 10:end].any(), word.text          # it is heard up to there
        assert not loud[end + 10:end + 14].all(), word.text   # and no longer


@pytest.mark.parametrize("speed, near", [(0.25, 0.03), (0.5, 0.03), (1.5, 0.03), (2, 0.03), (3, 0.03), (4, 0.1)])
def test_piper_speaks_as_fast_as_it_is_told(daemon, speed, near):
    """Above 3 each sound keeps the shortest time that the voice has."""
    normal = speak(daemon).duration_seconds
    assert speak(daemon, speed=speed).duration_seconds * speed == pytest.approx(normal, rel=near)


@pytest.mark.parametrize("text", ["No.", "Hello.", "Thank you.", "Good morning, everyone.", "Please close the door now.",
                                  "The train to Boston leaves at half past nine."])
def test_piper_speaks_few_words_as_fast_as_it_is_told(daemon, text):
    for seed in range(4):
        normal = speak(daemon, text, seed=seed).duration_seconds
        for speed in (0.5, 0.75, 1.5, 2):
            duration = speak(daemon, text, seed=seed, speed=speed).duration_seconds * speed
            assert duration == pytest.approx(normal, rel=0.03), (seed, speed)


@pytest.mark.parametrize("text", ["No.", "Hello.", TEXT])
@pytest.mark.parametrize("voice", ["jm_kumo", "jf_alpha"])
def test_kokoro_speaks_exactly_as_fast_as_it_is_told(daemon, text, voice):
    normal = speak(daemon, text, model=KOKORO, voice=voice).duration_seconds
    for speed in (0.5, 1.25, 2):
        assert speak(daemon, text, model=KOKORO, voice=voice, speed=speed).duration_seconds * speed == pytest.approx(normal, rel=0.002)


@pytest.mark.parametrize("speed", [0.5, 2])
def test_words_of_stretched_speech_have_their_times(daemon, speed):
    answer = speak(daemon, model=KOKORO, speed=speed)
    for begin, end, words in sounds(answer):
        assert words[0].start_seconds == pytest.approx(begin, abs=NEAR), words[0].text
        assert words[-1].end_seconds == pytest.approx(end, abs=NEAR), words[-1].text


def test_piper_is_as_loud_as_a_voice_should_be_and_does_not_clip(daemon):
    peaks = [np.abs(np.frombuffer(speak(daemon, TEXT, seed=seed).audio, np.float32)).max() for seed in range(3)]
    assert 0.75 < min(peaks) and max(peaks) < 1


def test_a_stream_and_a_text_that_is_written_pause_as_the_whole_does(daemon):
    def messages():
        yield synthesis.SynthesizeTextStreamRequest(config=speak_request("", voice="", seed=1, encoding=F32))
        for piece in ("The train stops", " here. It is slow!\n", "\nNobody", " knows why."):
            yield synthesis.SynthesizeTextStreamRequest(text=piece)

    whole = speak(daemon).audio
    request = speak_request(TEXT, voice="", seed=1, encoding=F32)
    assert b"".join(part.audio for part in daemon.synthesis.StreamSynthesize(request, timeout=PATIENCE)) == whole
    assert b"".join(part.audio for part in daemon.synthesis.SynthesizeTextStream(messages(), timeout=PATIENCE)) == whole


def open_http(daemon, **members):
    body = {"model": VOICE, "input": TEXT, "seed": 1, "response_format": "pcm"} | members
    request = urllib.request.Request(f"http://127.0.0.1:{daemon.ports['http']}/v1/audio/speech", json.dumps(body).encode())
    return urllib.request.urlopen(request, timeout=PATIENCE)


def http(daemon, **members):
    with open_http(daemon, **members) as answer:
        return answer.read()


@pytest.mark.parametrize("model, text, script", [
    (VOICE, "你好，世界。今天天气很好。", "Chinese characters"),
    (VOICE, "Привет, мир.", "Cyrillic text"),
    (KOKORO, "Привет, мир.", "Cyrillic text"),
])
def test_a_text_only_in_a_script_that_the_voice_cannot_read_is_refused_by_name(daemon, model, text, script):
    with pytest.raises(urllib.error.HTTPError) as refused:
        http(daemon, model=model, input=text)
    error = json.loads(refused.value.read())["error"]
    assert (refused.value.code, error["param"]) == (400, "input")
    assert f"only {script}" in error["message"] and model in error["message"]


@both_models
def test_a_part_that_the_voice_cannot_read_is_named_in_a_warning_and_heard(daemon, model):
    with open_http(daemon, model=model, input="The word is 東京 in Japanese.") as answer:
        assert answer.headers["Warning"] == '299 millrace "not read: Chinese characters"'
        partly = len(answer.read())
    with open_http(daemon, model=model, input="The word is in Japanese.") as answer:
        assert answer.headers["Warning"] is None
        assert partly > len(answer.read()) + 24000   # half a second more


def test_a_call_over_grpc_warns_of_what_is_not_read(daemon):
    def warnings(text):
        _, call = daemon.synthesis.Synthesize.with_call(speak_request(text), timeout=PATIENCE)
        stream = daemon.synthesis.StreamSynthesize(speak_request(text), timeout=PATIENCE)
        assert list(stream)
        return [dict(trailers).get("warning") for trailers in (call.trailing_metadata(), stream.trailing_metadata())]

    assert warnings("The word is 東京.") == ['299 millrace "not read: Chinese characters"'] * 2
    assert warnings("The word is new.") == [None, None]


def test_pauses_are_members_over_http(daemon):
    longer = len(http(daemon, sentence_pause_seconds=1.4, paragraph_pause_seconds=2.8)) - len(http(daemon))
    assert longer / 2 / 24000 == pytest.approx(3, abs=0.01)
    for bad in (-1, 11, "long"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            http(daemon, sentence_pause_seconds=bad)
        assert (refused.value.code, json.loads(refused.value.read())["error"]["param"]) == (400, "sentence_pause_seconds")


@pytest.mark.parametrize("field", ["sentence_pause_seconds", "paragraph_pause_seconds"])
@pytest.mark.parametrize("bad", [-0.5, 10.5, float("nan")])
def test_a_pause_is_bounded(daemon, field, bad):
    assert_refused(daemon.synthesis.Synthesize, speak_request(TEXT, voice="", **{field: bad}), "INVALID_ARGUMENT", field, "10")
