"""API keys, TLS and mutual TLS."""

import re
import signal
import ssl

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wire import daemon as daemons
from wire import repository
from wire.certificates import Authority
from wire.daemon import refused_start, run
from wire.http2 import PREFACE, RawConnection
from wire.paths import EN_PT, NULL, VOICE
from wire.polling import eventually, stays
from wire.requests import PATIENCE, assert_refused, null_request, refused, speak_request, translate_request
from wire.rest import send
from wire.stubs import admin, kserve, riva_nmt, riva_tts, translation
from wire.volume import Volume

USER, ADMIN = "the-key-of-a-user", "the-key-of-an-admin"


def key_line(name, role, key):
    made = run("hash-key", name, "--role", role, "--stdin", stdin=key.encode())
    assert made.returncode == 0
    return made.stdout.decode()


def bearer(key):
    return [("authorization", f"Bearer {key}")]


def post(daemon, path, body, **headers):
    return send(daemon, "POST", path, body, **headers)[0]


# --- API keys ---

@pytest.fixture(scope="module")
def key_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "keys"
    file.write_text("# keys for the tests\n" + key_line("alice", "user", USER) + key_line("root", "admin", ADMIN))
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, key_file):
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", NULL, EN_PT, VOICE)
    with daemons.start(folder, "--api-keys", key_file, models=models) as running:
        yield running


def calls(daemon):
    """Each method that works, or tells something, with a good request."""
    return [
        (daemon.kserve.ModelInfer, null_request()),
        (daemon.kserve.ModelMetadata, kserve.ModelMetadataRequest(name=NULL)),
        (daemon.kserve.ModelConfig, kserve.ModelConfigRequest(name=NULL)),
        (daemon.translation.Translate, translate_request("Hello.")),
        (daemon.translation.StreamTranslate, translate_request("Hello.")),
        (daemon.translation.ListLanguages, translation.ListLanguagesRequest()),
        (daemon.translation.DetectLanguage, translation.DetectLanguageRequest(texts=["Hello."])),
        (daemon.synthesis.Synthesize, speak_request("Hello.")),
        (daemon.synthesis.StreamSynthesize, speak_request("Hello.")),
        (daemon.riva_speech.Synthesize, riva_tts.SynthesizeSpeechRequest(text="Hello.")),
        (daemon.riva_speech.GetRivaSynthesisConfig, riva_tts.RivaSynthesisConfigRequest()),
        (daemon.riva_translation.TranslateText,
         riva_nmt.TranslateTextRequest(texts=["Hello."], source_language="en", target_language="pt")),
        (daemon.riva_translation.ListSupportedLanguagePairs, riva_nmt.AvailableLanguageRequest()),
    ]


def admin_calls(daemon):
    return [
        (daemon.admin.ListModels, admin.ListModelsRequest()),
        (daemon.admin.GetServerInfo, admin.GetServerInfoRequest()),
        (daemon.admin.LoadModel, admin.LoadModelRequest(model=NULL)),
        (daemon.admin.UnloadModel, admin.UnloadModelRequest(model=EN_PT)),
    ]


def test_call_without_a_key_is_unauthenticated_and_says_how_to_send_one(guarded):
    for call, request in calls(guarded) + admin_calls(guarded):
        assert_refused(call, request, "UNAUTHENTICATED", "API key", "authorization: Bearer", "x-api-key")


@pytest.mark.parametrize("metadata", [
    bearer("wrong"), [("x-api-key", "wrong")], bearer(USER + "x"), bearer(USER[:-1]), bearer(USER.upper()),
    [("authorization", f"Basic {USER}")], [("authorization", USER)], [("authorization", "Bearer ")], bearer("x" * 4000),
], ids=["bearer", "header", "longer", "shorter", "upper case", "other scheme", "no scheme", "empty", "long"])
def test_wrong_key_is_unauthenticated(guarded, metadata):
    for call, request in calls(guarded)[:1] + admin_calls(guarded)[:1]:
        error = refused(call, request, metadata=metadata)
        assert error.code() == grpc.StatusCode.UNAUTHENTICATED
        assert "API key" in error.details() and USER not in error.details()


@pytest.mark.parametrize("key", [USER, ADMIN])
@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
def test_known_key_is_let_in(guarded, key, header):
    value = f"Bearer {key}" if header == "authorization" else key
    guarded.kserve.ModelInfer(null_request(), metadata=[(header, value)], timeout=PATIENCE)


def test_scheme_may_be_written_in_any_case(guarded):
    guarded.kserve.ModelInfer(null_request(), metadata=[("authorization", f"bearer {USER}")], timeout=PATIENCE)


def test_admin_calls_need_the_key_of_an_admin(guarded):
    for call, request in admin_calls(guarded)[1:]:
        assert_refused(call, request, "PERMISSION_DENIED", "admin", metadata=bearer(USER))
    assert guarded.admin.GetServerInfo(admin.GetServerInfoRequest(), metadata=bearer(ADMIN), timeout=PATIENCE).version


@pytest.mark.parametrize("key", [USER, ADMIN])
def test_every_key_lists_the_models(guarded, key):
    models = guarded.admin.ListModels(admin.ListModelsRequest(), metadata=bearer(key), timeout=PATIENCE).models
    assert {model.name: model.state for model in models} == dict.fromkeys([NULL, EN_PT, VOICE], admin.MODEL_STATE_READY)


def test_key_is_asked_for_before_the_request_is_looked_at(guarded):
    """Otherwise its errors would tell strangers which models there are."""
    assert_refused(guarded.kserve.ModelInfer, null_request(model_name="nobody"), "UNAUTHENTICATED")


def test_health_needs_no_key(guarded):
    assert guarded.health() == "SERVING"
    # The list of all names the models.
    assert_refused(health_pb2_grpc.HealthStub(guarded.channel).List, health_pb2.HealthListRequest(), "UNAUTHENTICATED")
    assert guarded.kserve.ServerLive(kserve.ServerLiveRequest(), timeout=PATIENCE).live
    assert guarded.kserve.ServerReady(kserve.ServerReadyRequest(), timeout=PATIENCE).ready
    assert guarded.http("/v2/health/live")[0] == guarded.http("/v2/health/ready")[0] == 200


@pytest.mark.parametrize("path", ["/v2", "/v2/models", f"/v2/models/{NULL}", f"/v2/models/{NULL}/ready"])
def test_http_asks_for_a_key_too(guarded, path):
    for headers in ({}, {"x_api_key": "wrong"}, {"authorization": "Bearer wrong"}):
        status, body = guarded.http(path, **headers)
        assert status == 401 and "API key" in body["error"]
    assert guarded.http(path, x_api_key=USER)[0] == guarded.http(path, authorization=f"Bearer {USER}")[0] == 200


def test_keys_are_never_logged(guarded):
    text = guarded.log_text()
    assert USER not in text and ADMIN not in text and "wrong" not in text


def test_failed_request_is_logged_with_the_address_and_the_name_of_the_key(guarded):
    """Over gRPC and HTTP: who it was, never the key."""
    refused(guarded.kserve.ModelInfer, null_request(model_name="nobody"), metadata=[*bearer(USER), ("x-request-id", "who-grpc")])
    post(guarded, "/v1/audio/speech", b"{}", x_api_key=USER, x_request_id="who-speech")
    post(guarded, "/translate", b'{"q": "Hi.", "source": "en", "target": "xx", "api_key": "%s"}' % USER.encode(),
                 content_type="application/json", x_request_id="who-translate")
    refused(guarded.kserve.ModelInfer, null_request(), metadata=[*bearer("wrong"), ("x-request-id", "who-stranger")])

    def line(name):
        return next((line for line in guarded.log_text().splitlines() if f"request_id={name} " in line), "")
    for name in ["who-grpc", "who-speech", "who-translate", "who-stranger"]:
        eventually(f"the line of {name}", lambda name=name: line(name))
        assert re.search(r" client=127\.0\.0\.1:\d+ ", line(name)), line(name)
        assert ('key="" ' if name == "who-stranger" else " key=alice ") in line(name)


def test_server_without_keys_says_that_anybody_may_load_models(tmp_path, null_models, guarded):
    with daemons.start(tmp_path, models=null_models) as daemon:
        [note] = [line for line in daemon.log_text().splitlines() if "AdminService is open" in line]
        assert " info " in note and "--api-keys" in note   # a warning where other machines reach it
    assert "AdminService is open" not in guarded.log_text()


def test_key_file_is_read_again_when_it_changes(tmp_path, null_models):
    def replace(text):
        new = tmp_path / "keys.new"
        new.write_text(text)
        new.rename(keys)

    def admitted(key):
        try:
            daemon.kserve.ModelInfer(null_request(), metadata=bearer(key), timeout=PATIENCE)
            return True
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAUTHENTICATED
            return False

    keys = tmp_path / "keys"
    keys.write_text(key_line("first", "user", "key-1"))
    with daemons.start(tmp_path, "--api-keys", keys, models=null_models) as daemon:
        assert admitted("key-1") and not admitted("key-2")
        replace(key_line("second", "user", "key-2"))
        eventually("the new key is known", lambda: admitted("key-2"))
        assert not admitted("key-1")
        # What cannot be read leaves the keys before it in force.
        replace("not a line of keys\n")
        eventually("it is logged", lambda: "keys:1:" in daemon.log_text())
        stays("the old key", lambda: admitted("key-2"), 0.5)
        keys.unlink()
        stays("the old key", lambda: admitted("key-2"), 3)


def test_keys_in_a_volume_of_kubernetes_are_swapped_and_a_mistake_is_not(tmp_path, null_models):
    volume = Volume(tmp_path / "volume")

    def status(key):
        return daemon.http("/v2/models", X_Api_Key=key)[0]

    volume.project(keys=key_line("first", "user", "key-1"))
    with daemons.start(tmp_path, "--api-keys", tmp_path / "volume/keys", models=null_models) as daemon:
        assert (status("key-1"), status("key-2")) == (200, 401)
        volume.project(keys=key_line("second", "user", "key-2"))
        eventually("the new key is known", lambda: status("key-2") == 200)
        assert status("key-1") == 401
        volume.project(keys="mistake\n")
        eventually("it is logged", lambda: "keys:1:" in daemon.log_text())
        assert status("key-2") == 200
        daemon.process.send_signal(signal.SIGHUP)
        eventually("whoever asks is told again", lambda: daemon.log_text().count("keys:1:") == 2)


@pytest.mark.parametrize("text, words", [
    ("", ["holds no key"]),
    ("alice:user\n", [":1:", "name:role:sha256"]),
    ("# comment\nalice:king:" + "0" * 64 + "\n", [":2:", "role", "user", "admin"]),
    ("alice:user:abc\n", [":1:", "64 hexadecimal"]),
], ids=["empty", "parts", "role", "hash"])
def test_bad_key_file_is_refused_by_line(tmp_path, null_models, text, words):
    keys = tmp_path / "keys"
    keys.write_text(text)
    status, said = refused_start("--api-keys", keys, models=null_models)
    assert status == 1
    for word in [str(keys), *words]:
        assert word in said


def test_missing_key_file_is_no_open_door(tmp_path, null_models):
    status, said = refused_start("--api-keys", tmp_path / "nowhere", models=null_models)
    assert status == 1 and str(tmp_path / "nowhere") in said


# --- TLS ---

@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"), "authority")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture(scope="module")
def server_certificate(authority):
    return authority.issue("server")


@pytest.fixture(scope="module")
def tls(tmp_path_factory, null_models, server_certificate):
    certificate, key = server_certificate
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--tls-cert", certificate, "--tls-key", key, models=null_models) as running:
        yield running


@pytest.fixture(scope="module")
def mutual_tls(tmp_path_factory, null_models, server_certificate, authority):
    certificate, key = server_certificate
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--tls-cert", certificate, "--tls-key", key,
                       "--tls-client-ca", authority.certificate, models=null_models) as running:
        yield running


def fails_to_connect(daemon, credentials=None):
    with pytest.raises(grpc.RpcError) as raised:
        daemon.health(channel=daemon.connect(credentials))
    return raised.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def test_tls_client_that_trusts_the_authority_is_served(tls, authority):
    assert tls.health(channel=tls.connect(authority.client())) == "SERVING"


def test_certificates_in_a_volume_of_kubernetes_are_swapped_together(tmp_path, null_models):
    """With their keys."""
    authorities = {name: Authority(tmp_path, name) for name in ("old", "new")}
    pairs = {name: [part.read_bytes() for part in authority.issue(f"{name}-server")] for name, authority in authorities.items()}
    volume = Volume(tmp_path / "volume")

    def shows(name):
        try:
            return daemon.health(channel=daemon.connect(authorities[name].client())) == "SERVING"
        except grpc.RpcError:
            return False

    volume.project(tls_crt=pairs["old"][0], tls_key=pairs["old"][1])
    with daemons.start(tmp_path, "--tls-cert", tmp_path / "volume/tls.crt", "--tls-key", tmp_path / "volume/tls.key",
                       models=null_models) as daemon:
        assert shows("old") and not shows("new")
        volume.project(tls_crt=pairs["new"][0], tls_key=pairs["new"][1])
        eventually("the new one is shown", lambda: shows("new"))
        assert not shows("old")


def test_a_certificate_is_shown_once_its_key_has_come(tmp_path, null_models):
    """Without a signal, and the one before is shown until then."""
    authorities = {name: Authority(tmp_path, name) for name in ("old", "new")}
    certificate, key = authorities["old"].issue("server")
    renewed = authorities["new"].issue("renewed")

    def shows(name):
        try:
            return daemon.health(channel=daemon.connect(authorities[name].client())) == "SERVING"
        except grpc.RpcError:
            return False

    with daemons.start(tmp_path, "--tls-cert", certificate, "--tls-key", key, models=null_models) as daemon:
        renewed[0].rename(certificate)
        eventually("it is told", lambda: f"{key}: the key does not match the certificate {certificate}" in daemon.log_text())
        assert shows("old") and not shows("new")
        renewed[1].rename(key)
        eventually("the new one is shown", lambda: shows("new"))
        assert not shows("old")
        assert "certificates have changed" in daemon.log_text()


def test_plain_text_client_on_the_tls_port_fails_cleanly_and_alone(tls, authority):
    served = tls.connect(authority.client())
    assert tls.health(channel=served) == "SERVING"
    assert fails_to_connect(tls)
    for said in (PREFACE, b"GET / HTTP/1.1\r\n\r\n", bytes(1000)):
        with RawConnection(tls.ports["grpc"], said) as connection:
            assert connection.closed_by_server()
    assert "it speaks no TLS, which --tls-cert asks for" in tls.log_text()
    assert tls.metrics().total("millrace_connections_closed_total", reason="protocol") >= 4
    assert tls.health(channel=served) == "SERVING"
    assert tls.health(channel=tls.connect(authority.client())) == "SERVING"


def test_tls_client_that_trusts_another_authority_refuses_the_server(tls, stranger):
    assert fails_to_connect(tls, stranger.client())


def client_hello() -> bytes:
    """The first bytes of a TLS client."""
    sent = ssl.MemoryBIO()
    handshake = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        handshake.do_handshake()
    return sent.read()


def test_tls_client_on_a_plain_port_fails_cleanly_and_alone(guarded, authority):
    assert fails_to_connect(guarded, authority.client())
    # gRPC's client may reset its connection before the server has read the ClientHello. A raw socket stays open until the server answers.
    with RawConnection(guarded.ports["grpc"], client_hello()) as connection:
        assert connection.closed_by_server()
    assert guarded.health() == "SERVING"
    assert "it speaks TLS, for which --tls-cert is needed" in guarded.log_text()


def test_tls_allows_addresses_beyond_this_machine(tmp_path, null_models, server_certificate):
    certificate, key = server_certificate
    with daemons.start(tmp_path, "--grpc-address", "0.0.0.0:0", "--tls-cert", certificate, "--tls-key", key,
                       models=null_models) as daemon:
        assert daemon.ports["grpc"] > 0


def test_mutual_tls_serves_who_shows_a_certificate_of_the_authority(mutual_tls, authority):
    assert mutual_tls.health(channel=mutual_tls.connect(authority.client(authority.issue("client")))) == "SERVING"


def test_mutual_tls_refuses_who_shows_none_or_a_strangers(mutual_tls, authority, stranger):
    served = mutual_tls.connect(authority.client(authority.issue("client")))
    assert mutual_tls.health(channel=served) == "SERVING"
    assert fails_to_connect(mutual_tls, authority.client())
    foreign = tuple(part.read_bytes() for part in stranger.issue("client"))
    assert fails_to_connect(mutual_tls, grpc.ssl_channel_credentials(authority.certificate.read_bytes(), foreign[1], foreign[0]))
    assert fails_to_connect(mutual_tls)
    assert mutual_tls.health(channel=served) == "SERVING"


@pytest.mark.parametrize("damage", ["missing", "empty", "not matching", "swapped"])
def test_bad_certificate_is_refused_by_file(tmp_path, null_models, authority, server_certificate, damage):
    certificate, key = server_certificate
    if damage == "missing":
        certificate = named = tmp_path / "nowhere.pem"
    elif damage == "empty":
        certificate = named = tmp_path / "empty.pem"
        certificate.write_text("")
    elif damage == "not matching":
        key = named = authority.issue("another")[1]
    else:
        certificate, key = key, certificate
        named = certificate
    status, said = refused_start("--tls-cert", certificate, "--tls-key", key, models=null_models)
    assert status == 1 and str(named) in said


# --- the clients of the binary ---

def test_command_line_client_over_mutual_tls(mutual_tls, authority):
    certificate, key = authority.issue("client")
    trust = ["--address", mutual_tls.address, "--tls-ca", authority.certificate]
    listed = run("models", *trust, "--tls-cert", certificate, "--tls-key", key)
    assert listed.returncode == 0 and NULL in listed.stdout.decode()
    anonymous = run("models", *trust, "--timeout", "5s")
    assert anonymous.returncode == 1 and mutual_tls.address in anonymous.stderr.decode()


def test_command_line_client_with_a_key(guarded):
    address = ["--address", guarded.address]
    assert run("models", *address, "--api-key", ADMIN).returncode == 0
    assert run("models", *address, MILLRACE_API_KEY=ADMIN).returncode == 0
    assert run("models", *address, "--api-key", USER).returncode == 0
    denied = run("models", *address, "--api-key", "wrong")
    assert denied.returncode == 1 and "not known" in denied.stderr.decode()
    assert run("translate", "Hello.", "--model", EN_PT, *address, "--api-key", USER).returncode == 0
