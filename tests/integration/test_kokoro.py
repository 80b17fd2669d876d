"""Speech by Kokoro on its real weights: voices and their mixes, and what bad requests get."""

import io
import math
import wave

import pytest
from wire.paths import KOKORO
from wire.requests import PATIENCE, assert_refused, speak_request
from wire.stubs import admin, riva_tts, synthesis

RATE = 24000


@pytest.fixture
def kokoro(all_models):
    return all_models


def request(text="Hello.", **fields):
    return speak_request(text, **{"model": KOKORO, "voice": ""} | fields)


def speak(daemon, text="Hello.", **fields):
    return daemon.synthesis.Synthesize(request(text, **fields), timeout=PATIENCE)


def samples(response):
    with wave.open(io.BytesIO(response.audio)) as audio:
        assert (audio.getnchannels(), audio.getsampwidth(), audio.getframerate()) == (1, 2, RATE)
        data = audio.readframes(audio.getnframes())
    return memoryview(data).cast("h")


def test_english_is_spoken_by_the_voice_that_is_understood_and_japanese_by_its_own(kokoro):
    response = speak(kokoro)
    assert (response.model, response.voice) == (KOKORO, "jm_kumo")
    assert speak(kokoro, "ねこ", language="ja").voice == "jf_alpha"
    assert speak(kokoro, "ねこ", seed=1).audio == speak(kokoro, "ねこ", seed=1, language="ja").audio   # English has none of its letters
    listed = {model.name: model for model in kokoro.admin.ListModels(admin.ListModelsRequest(), timeout=PATIENCE).models}[KOKORO]
    assert (listed.voices[0], set(listed.voice_languages)) == ("jm_kumo", {"ja"})
    audio = samples(response)
    assert 0.5 < len(audio) / RATE < 4
    assert 0.005 < math.sqrt(sum(s * s for s in audio) / len(audio)) / 32768 < 0.5


def test_the_seed_decides_the_samples_and_voices_mix(kokoro):
    first = speak(kokoro, seed=1, voice="jf_alpha").audio
    assert speak(kokoro, seed=1, voice="jf_alpha").audio == first
    assert speak(kokoro, seed=2, voice="jf_alpha").audio != first
    mixed = speak(kokoro, seed=1, voice="jf_alpha:0.5+jm_kumo:0.5").audio
    assert mixed != first
    assert speak(kokoro, seed=1, voice="jf_alpha+jm_kumo").audio == mixed


def test_speed_shortens(kokoro):
    slow, fast = (len(samples(speak(kokoro, "Good morning to all of you.", speed=speed))) for speed in (1, 2))
    assert 0.4 < fast / slow < 0.75


@pytest.mark.parametrize("fields, words", [
    ({"voice": "nobody"}, ["voice", "'nobody'", "jf_alpha", "jm_kumo"]),
    ({"voice": "jf_alpha:x"}, ["voice", "'x'", "greater than 0"]),
    ({"speed": 2.5}, ["speed", "2.5", "0.5..2"]),
    ({"speed": 0.4}, ["speed", "0.4", "0.5..2"]),
    ({"noise_scale": 0.5}, ["noise_scale", "0.5", "leave it unset"]),
], ids=["voice", "weight", "fast", "slow", "noise"])
def test_bad_requests_name_field_value_and_what_is_allowed(kokoro, fields, words):
    assert_refused(kokoro.synthesis.Synthesize, request(**fields), "INVALID_ARGUMENT", *words)


KANA = "こんにちは。きょう わ とても いい てんき です ね。さんぽ に いきましょう！"


def test_kana_is_spoken_in_japanese(kokoro):
    answer = speak(kokoro, KANA, language="ja", word_times=True)
    # Some 33 morae: people say five to nine of them in a second, and pause.
    assert 4 < len(samples(answer)) / RATE < 10
    assert [word.text for word in answer.words] == ["こんにちは", "きょう", "わ", "とても", "いい", "てんき", "です", "ね", "さんぽ", "に", "いきましょう"]
    assert all(KANA[word.character_offset:].startswith(word.text) for word in answer.words)
    assert [word.sentence_index for word in answer.words] == [0] + [1] * 7 + [2] * 3
    assert 0.3 < answer.words[0].end_seconds - answer.words[0].start_seconds < 1.5   # five morae
    messages = list(kokoro.synthesis.StreamSynthesize(request(KANA, language="ja"), timeout=PATIENCE))
    assert [message.text for message in messages if message.text] == ["こんにちは。", "きょう わ とても いい てんき です ね。", "さんぽ に いきましょう！"]
    # The same by the phonemes of a word.
    assert samples(speak(kokoro, "ねこ", language="ja")) == samples(speak(kokoro, "", phonemes="neko", voice="jf_alpha"))


# Of each language a text of two sentences, and its words.
OTHERS = {
    "es": ("¿Dónde está la biblioteca? Cuesta 1.500 pesos.", ["Dónde", "está", "la", "biblioteca", "Cuesta", "1.500", "pesos"]),
    "fr-FR": ("« Bonjour ! » dit-elle. Où est l'été ?", ["Bonjour", "dit-elle", "Où", "est", "l'été"]),
    "hi": ("मेरा नाम राहुल है। आप कैसे हैं?", ["मेरा", "नाम", "राहुल", "है", "आप", "कैसे", "हैं"]),
    "it": ("Dov'è la biblioteca? Gli gnocchi sono ottimi.", ["Dov'è", "la", "biblioteca", "Gli", "gnocchi", "sono", "ottimi"]),
    "pt-BR": ("Vocês já almoçaram? O Dr. Silva, não.", ["Vocês", "já", "almoçaram", "O", "Dr", "Silva", "não"]),
}


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_are_spoken_by_their_own_rules(kokoro, language):
    text, words = OTHERS[language]
    answer = speak(kokoro, text, language=language, word_times=True)
    assert 1 < len(samples(answer)) / RATE < 10
    assert [word.text for word in answer.words] == words
    assert all(text[word.character_offset:].startswith(word.text) for word in answer.words)
    spans = [(word.start_seconds, word.end_seconds) for word in answer.words]
    assert all(begin < end for begin, end in spans) and spans == sorted(spans)
    messages = list(kokoro.synthesis.StreamSynthesize(request(text, language=language), timeout=PATIENCE))
    sentences = [message.text for message in messages if message.text]
    assert len(sentences) == 2 and " ".join(sentences) == text
    if language == "hi":
        assert_refused(kokoro.synthesis.Synthesize, request(text), "INVALID_ARGUMENT", "Hindi", "en-US")
    else:
        assert samples(speak(kokoro, text)) != samples(answer), "it was read as English"


def test_a_pronunciation_in_a_text_of_another_language_is_spoken(kokoro):
    assert samples(speak(kokoro, "[Hola](/ˈola/).", language="es")) == samples(speak(kokoro, "", phonemes="ˈola."))


def test_english_is_the_default_language(kokoro):
    assert speak(kokoro, "Hello.", language="en-US").audio == speak(kokoro, "Hello.").audio
    models = kokoro.admin.ListModels(admin.ListModelsRequest(), timeout=PATIENCE).models
    assert {model.name: list(model.languages) for model in models}[KOKORO] == ["en-US", "ja", *OTHERS]


@pytest.mark.parametrize("text, language, words", [
    ("きょうは Дом。", "ja", ["text", "'Д'", "byte 13"]),
    ("こんにちは。きょう わ 東京の Дом。", "ja", ["text", "'Д'", "byte 42"]),
    ("你好。", "zh", ["language", "'zh'", "en-US, ja, es, fr-FR, hi, it, pt-BR"]),
    ("Un [tomate](/toß/).", "es", ["text", "'ß'", "does not know"]),
], ids=["script", "script behind a sentence", "language", "symbol"])
def test_what_a_language_cannot_read_is_refused(kokoro, text, language, words):
    assert_refused(kokoro.synthesis.Synthesize, request(text, language=language), "INVALID_ARGUMENT", *words)


def test_phonemes_are_spoken_in_place_of_a_text(kokoro):
    text = samples(speak(kokoro, "Hello. Yes.", seed=1))
    spoken = {"phonemes": "həlˈO. jˈɛs.", "seed": 1}
    assert samples(speak(kokoro, "", **spoken)) == text
    messages = list(kokoro.synthesis.StreamSynthesize(request("", **spoken), timeout=PATIENCE))
    assert [message.text for message in messages if message.text] == ["həlˈO.", "jˈɛs."]
    assert b"".join(message.audio for message in messages) == bytes(text)


@pytest.mark.parametrize("method", ["Synthesize", "StreamSynthesize"])
@pytest.mark.parametrize("fields, words", [
    ({"phonemes": "həlˈoʊ ß."}, ["phonemes", "'ß' (U+00df) at byte 10", "it knows: ", " ʤ "]),
    ({"phonemes": "..."}, ["phonemes", "nothing to speak"]),
    ({"phonemes": "jˈɛs.", "text": "Yes."}, ["phonemes", "must be empty", "one of the two"]),
], ids=["symbol", "nothing", "both"])
def test_bad_phonemes_are_refused(kokoro, method, fields, words):
    assert_refused(getattr(kokoro.synthesis, method), request(**{"text": ""} | fields), "INVALID_ARGUMENT", *words)


def test_a_pronunciation_in_the_text_is_spoken(kokoro):
    plain = speak(kokoro, "I said tomato.", seed=1).audio
    assert speak(kokoro, "I said [tomato](/təmˈɑtO/).", seed=1).audio != plain
    # The same sounds, said with other letters.
    assert speak(kokoro, "I said [tuhmaydo](/təmˈATO/).", seed=1).audio == plain


# --- over the protocol of NVIDIA Riva ---

def test_rivas_clients_choose_its_voices_and_bring_pronunciations(kokoro):
    config = kokoro.riva_speech.GetRivaSynthesisConfig(riva_tts.RivaSynthesisConfigRequest(model_name=KOKORO), timeout=PATIENCE)
    listed, = config.model_config
    names = [name.split(":")[0] for name in listed.parameters["subvoices"].split(",")]
    assert (listed.parameters["language_code"], names[0]) == ("ja", "jm_kumo") and "jf_alpha" in names
    voiced = riva_tts.SynthesizeSpeechRequest(text="A tomato.", language_code="en-US", voice_name=f"{KOKORO}.jf_alpha")
    plain = kokoro.riva_speech.Synthesize(voiced, timeout=PATIENCE).audio
    voiced.custom_dictionary = "tomato  təmˈɑtO"
    own = speak(kokoro, "A [tomato](/təmˈɑtO/).", voice="jf_alpha", language="en-US", encoding=synthesis.AUDIO_ENCODING_PCM_S16LE)
    assert kokoro.riva_speech.Synthesize(voiced, timeout=PATIENCE).audio == own.audio != plain
    voiced.custom_dictionary = "tomato  \u2603"
    assert_refused(kokoro.riva_speech.Synthesize, voiced, "INVALID_ARGUMENT", "\u2603")
    voiced.language_code = "ja"
    assert_refused(kokoro.riva_speech.Synthesize, voiced, "INVALID_ARGUMENT", "custom_dictionary", "ja")
