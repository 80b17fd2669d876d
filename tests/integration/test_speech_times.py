"""When words and phonemes are heard, as real voices tell it: against the audio, and by both methods."""

import array
import base64
import functools
import itertools
import json
import math
import pathlib
import urllib.error
import urllib.request

import pytest
from wire.paths import KOKORO, VOICE
from wire.requests import PATIENCE, speak_request
from wire.stubs import synthesis

TEXT = "Good morning, everybody! Of the 42 men in the room, only one had $5; the others, in 1984, had none."
WORDS = ["Good", "morning", "everybody", "Of", "the", "42", "men", "in", "the", "room", "only", "one", "had", "$5", "the", "others",
         "in", "1984", "had", "none"]
DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "synthesis"
KOKORO_VOICES = ["jf_alpha", "jf_gongitsune", "jf_nezumi", "jf_tebukuro", "jm_kumo"]
F32 = synthesis.AUDIO_ENCODING_PCM_F32LE
both_models = pytest.mark.parametrize("model", [VOICE, KOKORO])


@pytest.fixture(scope="module")
def daemon(all_models):
    return all_models


def speak(daemon, text=TEXT, **fields):
    request = speak_request(text, **{"voice": "", "encoding": F32, "seed": 1, "word_times": True, "phoneme_times": True} | fields)
    return daemon.synthesis.Synthesize(request, timeout=PATIENCE)


@functools.cache
def answer_of(daemon, model, speed=1):
    """What several tests look at is spoken once."""
    return speak(daemon, model=model, speed=speed)


def stream(daemon, text=TEXT, **fields):
    request = speak_request(text, **{"voice": "", "encoding": F32, "seed": 1, "word_times": True, "phoneme_times": True} | fields)
    return list(daemon.synthesis.StreamSynthesize(request, timeout=PATIENCE))


def loudness(samples):
    return math.sqrt(sum(sample * sample for sample in samples) / max(1, len(samples)))


def between(answer, start, end):
    return array.array("f", answer.audio)[int(start * answer.sample_rate):int(end * answer.sample_rate)]


def assert_in_order(spans, duration):
    assert spans[0].start_seconds >= 0 and spans[-1].end_seconds <= duration
    assert all(span.start_seconds < span.end_seconds for span in spans)
    for before, after in zip(spans, spans[1:], strict=False):
        assert before.end_seconds <= after.start_seconds
        assert before.sentence_index <= after.sentence_index


def assert_times_of_the_whole(streamed, whole, model=VOICE):
    """A stream of a Piper voice tells a sentence's times before the end of its sound is known: those that the network predicts."""
    assert [(span.text, span.character_offset, span.sentence_index) for span in streamed] == [
        (span.text, span.character_offset, span.sentence_index) for span in whole]
    for kind in ("start_seconds", "end_seconds"):
        near = 0.15 if model == VOICE else 0
        assert [getattr(span, kind) for span in streamed] == pytest.approx([getattr(span, kind) for span in whole], abs=near, rel=0)


@both_models
@pytest.mark.parametrize("speed", [0.5, 1, 2])
def test_words_are_those_of_the_text_in_order_within_the_audio(daemon, model, speed):
    answer = answer_of(daemon, model, speed)
    assert [word.text for word in answer.words] == WORDS
    assert all(TEXT[word.character_offset:].startswith(word.text) for word in answer.words)
    assert [word.sentence_index for word in answer.words] == [0] * 3 + [1] * 17
    assert_in_order(answer.words, answer.duration_seconds)
    assert_in_order(answer.phonemes, answer.duration_seconds)


@both_models
def test_a_word_is_its_phonemes(daemon, model):
    answer = answer_of(daemon, model)
    starts = {phoneme.start_seconds for phoneme in answer.phonemes}
    ends = {phoneme.end_seconds for phoneme in answer.phonemes}
    assert all(word.start_seconds in starts and word.end_seconds in ends for word in answer.words)
    # Within a sentence one phoneme follows another.
    for before, after in zip(answer.phonemes, answer.phonemes[1:], strict=False):
        if before.sentence_index == after.sentence_index:
            assert before.end_seconds == after.start_seconds
    said = [phoneme.text for phoneme in answer.phonemes if answer.words[1].start_seconds <= phoneme.start_seconds < answer.words[1].end_seconds]
    assert "".join(said).replace("ː", "") == "mˈɔɹnɪŋ"


@both_models
def test_words_are_heard_and_pauses_are_not(daemon, model):
    answer = answer_of(daemon, model)
    whole = loudness(array.array("f", answer.audio))
    for word in answer.words:
        assert loudness(between(answer, word.start_seconds, word.end_seconds)) > 0.2 * whole, word.text
    # Behind "everybody!" is silence; where exactly it begins, the voice's own blur says.
    pause = between(answer, answer.words[2].end_seconds + 0.08, answer.words[3].start_seconds - 0.05)
    assert len(pause) > 0.05 * answer.sample_rate
    assert loudness(pause) < 0.02 * whole


@both_models
def test_times_change_no_sample_and_both_methods_tell_the_same(daemon, model):
    answer = answer_of(daemon, model)
    quiet = speak(daemon, model=model, word_times=False, phoneme_times=False)
    assert quiet.audio == answer.audio and not quiet.words and not quiet.phonemes
    messages = stream(daemon, model=model)
    assert b"".join(message.audio for message in messages) == answer.audio
    for kind in ("words", "phonemes"):
        assert_times_of_the_whole([span for message in messages for span in getattr(message, kind)], getattr(answer, kind), model)
        assert [bool(getattr(message, kind)) for message in messages] == [bool(message.text) for message in messages]


def test_kokoros_times_are_the_durations_of_its_reference(daemon):
    """What PyTorch's Kokoro gives each symbol of a sentence, in frames of 25 ms. Next to a pause times follow the sound instead."""
    lines = zip((DATA / "kokoro_phonemes.txt").read_text().splitlines(), (DATA / "kokoro_frames.txt").read_text().splitlines(), strict=True)
    checked = 0
    for i, (sentence, frames) in enumerate(itertools.islice(lines, 10)):
        answer = speak(daemon, "", phonemes=sentence, model=KOKORO, voice=sorted(KOKORO_VOICES)[i % 5])
        assert "".join(phoneme.text for phoneme in answer.phonemes) == sentence
        expected = [int(count) for count in frames.split()][1:-1]
        heard = [(phoneme.end_seconds - phoneme.start_seconds) / 0.025 for phoneme in answer.phonemes]
        # Away from pauses: the three symbols before one are of the sound that lasts into it.
        marks = [-1, *(at for at, symbol in enumerate(sentence) if symbol in ".,!?;:—…“”()"), len(sentence)]
        steady = [at for at in range(len(sentence)) if all(not mark - 4 <= at <= mark + 2 for mark in marks)]
        checked += len(steady)
        assert [heard[at] for at in steady] == pytest.approx([expected[at] for at in steady], abs=1.01), sentence
        # One that is next to a half may be rounded either way.
        assert sum(abs(heard[at] - expected[at]) > 0.01 for at in steady) <= 1
    assert checked > 150


def test_sample_rate_and_encoding_change_no_time(daemon):
    answer = speak(daemon)
    other = speak(daemon, sample_rate=48000, encoding=synthesis.AUDIO_ENCODING_OGG_OPUS)
    assert list(other.words) == list(answer.words)


def test_words_of_phonemes_are_what_stands_between_spaces(daemon):
    answer = speak(daemon, "", phonemes="həlˈoʊ ðˈɛɹ, wˈɜːld. jˈɛs!")
    assert [(word.text, word.character_offset) for word in answer.words] == [("həlˈoʊ", 0), ("ðˈɛɹ", 7), ("wˈɜːld", 13), ("jˈɛs", 21)]
    assert_in_order(answer.words, answer.duration_seconds)


def test_a_text_that_is_written_has_the_times_of_the_whole(daemon):
    def messages():
        yield synthesis.SynthesizeTextStreamRequest(config=speak_request("", seed=1, encoding=F32, word_times=True))
        for piece in TEXT.split(" "):
            yield synthesis.SynthesizeTextStreamRequest(text=piece + " ")

    parts = list(daemon.synthesis.SynthesizeTextStream(messages(), timeout=PATIENCE))
    assert_times_of_the_whole([word for part in parts for word in part.words], speak(daemon).words)


def http(daemon, **members):
    body = {"model": VOICE, "input": TEXT, "seed": 1, "response_format": "pcm"} | members
    request = urllib.request.Request(f"http://127.0.0.1:{daemon.ports['http']}/v1/audio/speech", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.read()


def test_over_http_times_are_events(daemon):
    content = http(daemon, stream_format="sse", timestamps=["word", "phoneme"])
    events = [json.loads(event.removeprefix("data: ")) for event in content.decode().split("\n\n")[:-1]]
    messages = stream(daemon)
    words, phonemes = ([span for message in messages for span in getattr(message, kind)] for kind in ("words", "phonemes"))
    times = [event for event in events if event["type"] == "speech.timestamps"]
    assert [event["sentence_index"] for event in times] == [0, 1]
    assert [(word["text"], word["start"], word["end"], word["character_offset"]) for event in times for word in event["words"]] == [
        (word.text, word.start_seconds, word.end_seconds, word.character_offset) for word in words]
    assert [(phoneme["text"], phoneme["start"], phoneme["end"]) for event in times for phoneme in event["phonemes"]] == [
        (phoneme.text, phoneme.start_seconds, phoneme.end_seconds) for phoneme in phonemes]
    assert events[0]["type"] == "speech.timestamps"
    audio = b"".join(base64.b64decode(event["audio"]) for event in events if event["type"] == "speech.audio.delta")
    assert audio == http(daemon)


def test_without_events_there_is_no_place_for_times(daemon):
    with pytest.raises(urllib.error.HTTPError) as refused:
        http(daemon, timestamps=["word"])
    assert refused.value.code == 400
    error = json.loads(refused.value.read())["error"]
    assert error["param"] == "timestamps"
    assert "stream_format" in error["message"]
