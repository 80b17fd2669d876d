"""Limits by API key, from a policy file."""

import re
import signal
import socket

import pytest
from wire import daemon as daemons
from wire import repository
from wire.daemon import err, out, refused_start, run
from wire.paths import EN_PT, NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, assert_refused, null_request, refused, speak_request, translate_request
from wire.rest import send
from wire.stubs import admin
from wire.volume import Volume

# A key for each test, because what one has used stays used.
NAMES = ("grpc", "stream", "http", "rest", "letters", "voice", "polite", "free", "reload", "usage", "socket")

POLICY = """
default = "unlimited"
anonymous = "guest"

[tiers.unlimited]

[tiers.guest]
requests_per_minute = 1

[tiers.two]
requests_per_minute = 2
keys = ["grpc", "stream", "http", "rest", "usage", "socket"]

[tiers.letters]
characters_per_minute = 20
keys = ["letters"]

[tiers.voice]
audio_seconds_per_minute = 1
keys = ["voice"]

[tiers.late]
priority = "low"
keys = ["polite"]
"""


def key_of(name):
    return f"the-key-of-{name}"


def bearer(name):
    return [("authorization", f"Bearer {key_of(name)}")]


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    file = tmp_path_factory.mktemp("policy") / "policy.toml"
    file.write_text(POLICY)
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def limited(tmp_path_factory, policy):
    folder = tmp_path_factory.mktemp("daemon")
    keys = folder / "keys"
    for name in NAMES:
        made = run("hash-key", name, "--stdin", "--append", keys, stdin=key_of(name).encode())
        assert made.returncode == 0, err(made)
    made = run("hash-key", "root", "--role", "admin", "--stdin", "--append", keys, stdin=key_of("root").encode())
    assert made.returncode == 0, err(made)
    models = repository.link(folder / "models", NULL, EN_PT, VOICE)
    with daemons.start(folder, "--api-keys", keys, "--policy", policy, "--wyoming-address", "127.0.0.1:0", models=models) as running:
        yield running


def trailers_of(error):
    return dict(error.trailing_metadata())


def post(daemon, name, path, body, **headers):
    """Status, headers and body of an answer over HTTP."""
    return send(daemon, "POST", path, body, "application/json", **{"X-Api-Key": key_of(name)} | headers)


# --- refusals and what they say ---

def test_key_is_refused_beyond_its_requests_and_told_when_to_come_again(limited):
    call = limited.kserve.ModelInfer.with_call
    _, first = call(null_request(), metadata=bearer("grpc"), timeout=PATIENCE)
    assert dict(first.trailing_metadata())["ratelimit-policy"] == '"requests";q=2;w=60'
    assert dict(first.trailing_metadata())["ratelimit"] == '"requests";r=1'
    call(null_request(), metadata=bearer("grpc"), timeout=PATIENCE)
    error = refused(limited.kserve.ModelInfer, null_request(), metadata=bearer("grpc"))
    assert error.code().name == "RESOURCE_EXHAUSTED"
    assert error.details() == "the API key 'grpc' has used up the limit of 2 requests a minute (tier 'two')"
    trailers = trailers_of(error)
    assert re.fullmatch(r'"requests";r=0;t=(\d+)', trailers["ratelimit"])
    assert 1 <= int(trailers["retry-after"]) <= 30
    assert 1000 * int(trailers["retry-after"]) >= int(trailers["grpc-retry-pushback-ms"]) > 1000 * (int(trailers["retry-after"]) - 1)
    # Others go on, whatever this key has used.
    limited.kserve.ModelInfer(null_request(), metadata=bearer("free"), timeout=PATIENCE)


def test_streams_count_as_well(limited):
    for _ in range(2):
        list(limited.synthesis.StreamSynthesize(speak_request("Hello."), metadata=bearer("stream"), timeout=PATIENCE))
    assert_refused(limited.synthesis.StreamSynthesize, speak_request("Hello."), "RESOURCE_EXHAUSTED", "2 requests a minute",
                   metadata=bearer("stream"))
    assert_refused(limited.translation.StreamTranslate, translate_request("Hello."), "RESOURCE_EXHAUSTED", "2 requests a minute",
                   metadata=bearer("stream"))


def test_answers_over_http_have_the_header_fields(limited):
    wanted = {"q": "Hello.", "source": "en", "target": "pt"}
    status, headers, _ = post(limited, "http", "/translate", wanted)
    assert (status, headers["RateLimit-Policy"], headers["RateLimit"]) == (200, '"requests";q=2;w=60', '"requests";r=1')
    status, headers, _ = post(limited, "http", "/v1/audio/speech", {"model": VOICE, "input": "Hello.", "voice": "joe"})
    assert status == 200 and headers["RateLimit"].startswith('"requests";r=0;t=')
    for path, body in (("/translate", wanted), ("/v1/audio/speech", {"model": VOICE, "input": "Hello.", "voice": "joe"})):
        status, headers, text = post(limited, "http", path, body)
        assert status == 429 and b"2 requests a minute" in text
        left = re.fullmatch(r'"requests";r=0;t=(\d+)', headers["RateLimit"])
        assert left and int(headers["Retry-After"]) >= int(left[1]) > 0


def test_inference_over_http_counts_as_well(limited):
    body = {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [64], "data": [0.0] * 64}]}
    assert [post(limited, "rest", f"/v2/models/{NULL}/infer", body)[0] for _ in range(3)] == [200, 200, 429]


def test_characters_are_charged_before_the_work(limited):
    limited.translation.Translate(translate_request("Good morning."), metadata=bearer("letters"), timeout=PATIENCE)
    assert_refused(limited.translation.Translate, translate_request("Good evening."), "RESOURCE_EXHAUSTED",
                   "20 characters a minute", "letters", metadata=bearer("letters"))
    assert_refused(limited.synthesis.Synthesize, speak_request("Good evening."), "RESOURCE_EXHAUSTED", metadata=bearer("letters"))
    # An inference has no characters.
    limited.kserve.ModelInfer(null_request(), metadata=bearer("letters"), timeout=PATIENCE)


def test_audio_is_charged_as_it_is_made(limited):
    speech = speak_request("This sentence takes longer than a second to speak, which is all that there is.")
    limited.synthesis.Synthesize(speech, metadata=bearer("voice"), timeout=PATIENCE)
    assert_refused(limited.synthesis.Synthesize, speech, "RESOURCE_EXHAUSTED", "1 seconds of audio a minute", metadata=bearer("voice"))
    limited.translation.Translate(translate_request("Hello."), metadata=bearer("voice"), timeout=PATIENCE)


def test_wyoming_counts_as_callers_without_a_key(limited):
    def speak():
        with socket.create_connection(("127.0.0.1", limited.ports["wyoming"]), timeout=PATIENCE) as connection:
            connection.sendall(b'{"type": "synthesize", "data": {"text": "Hello."}}\n')
            received = b""
            while b'"audio-stop"' not in received and b'"error"' not in received:
                piece = connection.recv(65536)
                if not piece:
                    break
                received += piece
            return received
    assert b'"audio-stop"' in speak()
    assert b"callers without an API key have used up the limit of 1 requests a minute" in speak()


def test_priority_may_be_lowered_and_must_be_known(limited):
    limited.kserve.ModelInfer(null_request(), metadata=[*bearer("free"), ("x-priority", "low")], timeout=PATIENCE)
    assert_refused(limited.kserve.ModelInfer, null_request(), "INVALID_ARGUMENT", "x-priority", "'urgent'", "low, normal, high",
                   metadata=[*bearer("free"), ("x-priority", "urgent")])
    status, _, text = post(limited, "free", "/translate", {"q": "Hello.", "source": "en", "target": "pt"}, **{"X-Priority": "urgent"})
    assert status == 400 and b"low, normal, high" in text


# --- what has been used ---

def test_usage_is_told_to_admins(limited):
    limited.translation.Translate(translate_request("Hello."), metadata=bearer("usage"), timeout=PATIENCE)
    assert_refused(limited.admin.ListKeyUsage, admin.ListKeyUsageRequest(), "PERMISSION_DENIED", metadata=bearer("usage"))
    def usage():
        keys = limited.admin.ListKeyUsage(admin.ListKeyUsageRequest(), metadata=bearer("root"), timeout=PATIENCE).keys
        return {key.key: key for key in keys}["usage"]
    used = eventually("the request has ended", lambda: (found := usage()) and found.requests_in_flight == 0 and found)
    assert (used.tier, used.requests, used.refused_requests, used.characters) == ("two", 1, 0, len("Hello."))
    assert used.worker_seconds > 0
    assert [(limit.name, limit.allowed, limit.left) for limit in used.limits] == [("requests", 2, 1)]
    metrics = limited.metrics()
    assert metrics.total("millrace_key_requests_total", key="usage") == 1
    assert metrics.total("millrace_key_worker_seconds_total", key="usage") > 0
    ended = run("usage", "--address", limited.address, "--api-key", key_of("root"))
    assert ended.returncode == 0, err(ended)
    assert re.search(r"^usage +two +1 +0 +6 .* requests 1/2$", out(ended), re.MULTILINE), out(ended)


def test_usage_without_a_policy_is_an_error_that_says_so(daemon):
    assert_refused(daemon.admin.ListKeyUsage, admin.ListKeyUsageRequest(), "FAILED_PRECONDITION", "--policy")
    ended = run("usage", "--address", daemon.address)
    assert ended.returncode == 1 and "--policy" in err(ended)
    assert not [name for name in daemon.metrics().names() if name.startswith("millrace_key_")]


# --- the file ---

def test_policy_is_reloaded_and_a_bad_one_is_not(limited, policy):
    def infer():
        return limited.kserve.ModelInfer.with_call(null_request(), metadata=bearer("reload"), timeout=PATIENCE)[1]
    assert "ratelimit" not in dict(infer().trailing_metadata())
    try:
        policy.write_text(POLICY + '[tiers.new]\nrequest_per_minute = 7\nkeys = ["reload"]\n')
        limited.process.send_signal(signal.SIGHUP)
        eventually("the log names the error", lambda: "did you mean requests_per_minute?" in limited.log_text())
        assert "policy not loaded; the one before, if any, stays in force" in limited.log_text()
        assert "ratelimit" not in dict(infer().trailing_metadata())
        policy.write_text(POLICY + '[tiers.new]\nrequests_per_minute = 7\nkeys = ["reload"]\n')
        limited.process.send_signal(signal.SIGHUP)
        eventually("the new limit", lambda: "q=7" in dict(infer().trailing_metadata()).get("ratelimit-policy", ""))
    finally:
        policy.write_text(POLICY)


def test_policy_in_a_volume_of_kubernetes_is_swapped_and_a_mistake_is_not(tmp_path):
    def limit():
        trailers = daemon.kserve.ModelInfer.with_call(null_request(), metadata=bearer("reload"), timeout=PATIENCE)[1].trailing_metadata()
        return dict(trailers).get("ratelimit-policy", "")

    def policy_of(requests):
        return f'default = "all"\n[tiers.all]\nrequests_per_minute = {requests}\n'

    keys = tmp_path / "keys"
    assert run("hash-key", "reload", "--stdin", "--append", keys, stdin=key_of("reload").encode()).returncode == 0
    volume = Volume(tmp_path / "volume")
    volume.project(policy_toml=policy_of(100))
    with daemons.start(tmp_path, "--api-keys", keys, "--policy", tmp_path / "volume/policy.toml",
                       models=repository.link(tmp_path / "models", NULL)) as daemon:
        assert "q=100" in limit()
        volume.project(policy_toml=policy_of(90))
        eventually("the new limit", lambda: "q=90" in limit())
        volume.project(policy_toml=policy_of(-1))
        eventually("the log names the error", lambda: "policy not loaded" in daemon.log_text())
        assert "q=90" in limit()


@pytest.mark.parametrize(("text", "words"), [
    ("default = \"a\"\n[tiers.a]\nrequests_per_minute = 0\n", ["policy.toml:3", "tiers.a.requests_per_minute: 0", "1..1000000000"]),
    ("default = \"a\"\n[tiers.a]\nweight = -1\n", ["policy.toml:3", "tiers.a.weight: -1", "0.01..100"]),
    ("[tiers.a]\n", ["policy.toml", "default: is missing"]),
    (None, ["policy.toml", "cannot be read"]),
], ids=["zero", "negative", "no default", "no file"])
def test_bad_policy_prevents_the_start(tmp_path, text, words):
    file = tmp_path / "policy.toml"
    if text is not None:
        file.write_text(text)
    status, said = refused_start("--policy", file, models=repository.link(tmp_path / "models", NULL))
    assert status == 1
    for word in words:
        assert word in said
