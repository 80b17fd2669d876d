"""Spoken sentences that come again come from the cache, and nothing else changes."""

import pytest
from wire import daemon as daemons
from wire.paths import VOICE
from wire.requests import PATIENCE, speak_request
from wire.stubs import admin, synthesis

SERVED = (VOICE,)
TEXT = "Good morning. The children were playing in the garden, and nobody knew where the others had gone!"
FIRST = "Good morning."
F32 = synthesis.AUDIO_ENCODING_PCM_F32LE


@pytest.fixture
def cached(tmp_path, models):
    with daemons.start(tmp_path, "--workers", "2", "--speech-cache-bytes", "64MiB", models=models) as running:
        yield running


@pytest.fixture(scope="module")
def plain(tmp_path_factory, models):
    with daemons.start(tmp_path_factory.mktemp("plain"), "--workers", "2", models=models) as running:
        yield running


def request(text=TEXT, **fields):
    return speak_request(text, **{"encoding": F32, "word_times": True, "phoneme_times": True} | fields)


def speak(daemon, text=TEXT, **fields):
    return daemon.synthesis.Synthesize(request(text, **fields), timeout=PATIENCE)


def stream(daemon, text=TEXT, **fields):
    return list(daemon.synthesis.StreamSynthesize(request(text, **fields), timeout=PATIENCE))


def cache_metrics(daemon):
    metrics = daemon.metrics()
    return {name: metrics.total(f"millrace_speech_cache_{name}")
            for name in ("entries", "bytes", "hits_total", "misses_total", "evictions_total")}


def test_the_cache_is_off_unless_asked_for(plain):
    assert speak(plain) == speak(plain)
    assert set(cache_metrics(plain).values()) == {0}


def test_what_comes_again_is_the_same_without_the_network(plain, cached):
    expected = speak(plain)
    assert speak(cached) == expected
    counts = cache_metrics(cached)
    assert (counts["hits_total"], counts["misses_total"], counts["entries"]) == (0, 2, 2)
    assert 0.8 * len(expected.audio) < counts["bytes"] <= 64 << 20   # pauses are not kept
    forwards = cached.metrics().total("millrace_compute_duration_seconds_count")
    assert speak(cached) == expected
    after = cached.metrics()
    assert after.total("millrace_speech_cache_hits_total") == 2
    assert after.total("millrace_compute_duration_seconds_count") == forwards


def test_a_stream_is_the_same_message_by_message(plain, cached):
    expected = stream(plain)
    assert len(expected) > 2
    assert stream(cached) == expected
    assert stream(cached) == expected
    assert cache_metrics(cached)["hits_total"] == 2
    assert speak(cached) == speak(plain)
    assert cache_metrics(cached)["hits_total"] == 4


def test_encodings_rates_and_pauses_share_what_was_spoken(plain, cached):
    speak(cached)
    for fields in ({"encoding": synthesis.AUDIO_ENCODING_WAV}, {"sample_rate": 8000}, {"sentence_pause_seconds": 1},
                   {"normalize_loudness": True}):
        assert speak(cached, **fields) == speak(plain, **fields), fields
    assert cache_metrics(cached)["hits_total"] == 8


def test_a_request_from_the_cache_counts_as_any_other(cached):
    names = ("millrace_requests_total", "millrace_audio_seconds_total", "millrace_characters_total",
             "millrace_time_to_first_audio_seconds_count")

    def counted():
        before = {name: cached.metrics().total(name) for name in names}
        speak(cached)
        stream(cached)
        cached.wait_until_idle()
        after = cached.metrics()
        return {name: after.total(name) - before[name] for name in names}

    spoken = counted()
    assert 0 not in spoken.values()
    assert counted() == pytest.approx(spoken)
    assert cache_metrics(cached)["hits_total"] == 6   # the first stream found what was spoken before it


def test_a_text_synthesises_only_what_is_not_known(plain, cached):
    speak(cached, FIRST)
    assert speak(cached) == speak(plain)
    counts = cache_metrics(cached)
    assert (counts["hits_total"], counts["misses_total"]) == (1, 2)


# The short one of the sentences is stored at the speed 1 and stretched to others.
@pytest.mark.parametrize("fields, shared", [({"speed": 1.1}, 1), ({"seed": 1}, 0), ({"noise_scale": 0.1}, 0)], ids=str)
def test_other_settings_are_other_audio(plain, cached, fields, shared):
    speak(cached)
    assert speak(cached, **fields) == speak(plain, **fields)
    assert cache_metrics(cached)["hits_total"] == shared


def test_a_model_that_is_loaded_again_begins_anew(cached):
    before = speak(cached)
    cached.admin.LoadModel(admin.LoadModelRequest(model=VOICE), timeout=PATIENCE)
    assert speak(cached) == before
    assert cache_metrics(cached)["hits_total"] == 0


def test_a_size_that_is_none_is_refused():
    status, message = daemons.refused_start("--speech-cache-bytes", "2048GiB")
    assert status != 0
    assert "speech-cache-bytes" in message and "0..1024GiB" in message, message
