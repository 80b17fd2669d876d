"""Clients that break off, stay silent, never read, take all connections: nobody else notices, and nothing of them stays."""

import contextlib
import os
import socket
import threading

import grpc
import pytest
from wire import daemon as daemons
from wire import http2, repository
from wire.http2 import RawConnection, grpc_message
from wire.paths import EN_PT, NULL, VOICE
from wire.polling import eventually, stays
from wire.requests import PATIENCE, null_request, speak_request, translate_request
from wire.stubs import synthesis

STALL_SECONDS = 3
INFER = "inference.GRPCInferenceService/ModelInfer"
TRANSLATE = "millrace.v1.TranslationService/Translate"
SPEAK = "millrace.v1.SynthesisService/StreamSynthesize"
LONG = "This is one of very many sentences that nobody will ever listen to. "


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    with daemons.start(folder, "--workers", "2", "--write-stall-timeout", f"{STALL_SECONDS}s", "--max-buffered-bytes", "64KiB",
                       "--max-message-bytes", "1MiB", "--max-request-time", "24h", models=repository.link(folder / "models", NULL, EN_PT, VOICE)) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_stays(daemon, bystander):
    """After each test no request is in flight, apart from the bystander's."""
    yield
    eventually("the misbehaving client's requests are gone",
               lambda: daemon.metrics().total("millrace_requests_in_flight") <= 1)


def port(daemon):
    return daemon.ports["grpc"]


# --- connections that say too little or nonsense ---

@pytest.mark.parametrize("said", [b"", http2.PREFACE[:10], http2.PREFACE, http2.PREFACE + b"\0\0\6\4\0"],
                         ids=["nothing", "half a preface", "a preface", "half a frame"])
def test_silent_connections_do_no_harm(daemon, said):
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(RawConnection(port(daemon), said))
        assert daemon.health(channel=daemon.connect()) == "SERVING"


@pytest.mark.parametrize("nonsense", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
                                      http2.PREFACE + http2.frame(http2.SETTINGS, 0, 1, b"abc"),
                                      http2.PREFACE + b"\xff" * 9 + bytes(100)],
                         ids=["HTTP/1.1", "TLS hello", "broken settings", "huge frame"])
def test_nonsense_ends_the_connection(daemon, nonsense):
    with RawConnection(port(daemon), nonsense) as connection:
        assert connection.closed_by_server()


# --- calls that break off ---

def test_half_a_message_then_a_closed_connection(daemon):
    with RawConnection(port(daemon)) as connection:
        connection.call(TRANSLATE, grpc_message(translate_request("Hello.").SerializeToString())[:-5], end=False)


def test_half_a_message_then_the_end_of_the_stream_is_answered(daemon):
    with RawConnection(port(daemon)) as connection:
        connection.call(TRANSLATE, grpc_message(translate_request("Hello.").SerializeToString())[:-5], end=True)
        assert connection.stream_ended()


def test_no_message_at_all_is_answered(daemon):
    with RawConnection(port(daemon)) as connection:
        connection.call(TRANSLATE, b"", end=True)
        assert connection.stream_ended()


def test_half_sent_streams_wait_without_holding_anybody(daemon):
    """Many calls whose message never gets complete, on connections that stay open."""
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            connection = stack.enter_context(RawConnection(port(daemon)))
            for stream in range(1, 21, 2):
                connection.call(TRANSLATE, grpc_message(bytes(1000))[:100], end=False, stream=stream)
        answer = daemon.translation.Translate(translate_request("Good morning."), timeout=PATIENCE)
        assert answer.translations[0].text
        # A message that has not arrived is no request yet. The answer above may arrive before its request is counted as done.
        eventually("nothing is in flight", lambda: daemon.metrics().total("millrace_requests_in_flight") == 0)


def test_announced_message_over_the_limit_harms_nobody(daemon):
    with RawConnection(port(daemon)) as connection:
        connection.call(TRANSLATE, b"\0\x7f\xff\xff\xff" + bytes(1000), end=False)
        assert daemon.translation.Translate(translate_request("Good morning."), timeout=PATIENCE).translations[0].text


def test_message_over_the_limit_is_refused_and_one_below_it_is_not(daemon):
    below = null_request(id="x" * 100)
    below.parameters["padding"].string_param = "x" * ((1 << 20) - 1000)
    daemon.kserve.ModelInfer(below, timeout=PATIENCE)
    below.parameters["padding"].string_param += "x" * 2000
    with pytest.raises(grpc.RpcError) as raised:
        daemon.kserve.ModelInfer(below, timeout=PATIENCE)
    assert raised.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(1 << 20) in raised.value.details()


def test_compressed_message_is_refused(daemon):
    """It may be small on the wire and large once unpacked."""
    bomb = null_request()
    bomb.parameters["padding"].string_param = "x" * 100_000
    with pytest.raises(grpc.RpcError) as raised:
        daemon.kserve.ModelInfer(bomb, timeout=PATIENCE, compression=grpc.Compression.Gzip)
    assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED


# --- clients that go away ---

def cancelled(daemon, method):
    return daemon.metrics().total("millrace_requests_total", method=method, code="CANCELLED")


@pytest.mark.parametrize("leave", ["cancel the call", "close the connection"])
def test_client_gone_mid_stream_ends_its_work(daemon, leave):
    before = cancelled(daemon, "StreamSynthesize")
    channel = daemon.connect()
    stream = channel.unary_stream("/" + SPEAK, synthesis.SynthesizeRequest.SerializeToString,
                                  synthesis.StreamSynthesizeResponse.FromString)(speak_request(LONG * 200))
    assert next(stream).audio
    if leave == "cancel the call":
        stream.cancel()
    else:
        channel.close()
    eventually("the call ends as CANCELLED", lambda: cancelled(daemon, "StreamSynthesize") == before + 1)
    made = daemon.metrics().total("millrace_audio_seconds_total")
    stays("no more audio is made", lambda: daemon.metrics().total("millrace_audio_seconds_total") == made, 1)


def test_client_gone_without_a_word_ends_its_work(daemon):
    """The connection is reset, with a call running and its answer not read."""
    def spoken():
        return daemon.metrics().total("millrace_audio_seconds_total")
    before, spoken_before = cancelled(daemon, "StreamSynthesize"), spoken()
    with RawConnection(port(daemon)) as connection:
        connection.call(SPEAK, grpc_message(speak_request(LONG * 200).SerializeToString()), end=True)
        eventually("audio is made", lambda: spoken() > spoken_before)   # a forward may be the bystander's
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")   # close resets
    eventually("the call ends as CANCELLED", lambda: cancelled(daemon, "StreamSynthesize") == before + 1)


# --- clients that never read ---

def test_client_that_never_reads_holds_neither_worker_nor_memory_and_is_ended(daemon):
    """More such clients than workers. Each gets what fits into its buffer; then its job is parked, the workers are free, and in
    the end the calls are ended."""
    clients = 4
    before = daemon.metrics()
    ended = cancelled(daemon, "StreamSynthesize")
    with contextlib.ExitStack() as stack:
        for _ in range(clients):
            connection = stack.enter_context(RawConnection(port(daemon)))
            message = speak_request(LONG * 250, encoding=synthesis.AUDIO_ENCODING_PCM_F32LE).SerializeToString()
            connection.call(SPEAK, grpc_message(message), end=True)

        def made():
            return daemon.metrics().total("millrace_audio_seconds_total") - before.total("millrace_audio_seconds_total")

        eventually("audio is made for each", lambda: daemon.metrics().total("millrace_time_to_first_audio_seconds_count")
                   >= before.total("millrace_time_to_first_audio_seconds_count") + clients, PATIENCE)
        # Others are served meanwhile.
        assert daemon.translation.Translate(translate_request("Good morning."), timeout=PATIENCE).translations
        eventually("the calls are ended", lambda: cancelled(daemon, "StreamSynthesize") == ended + clients,
                   STALL_SECONDS + PATIENCE)
        # About 4 s of audio a sentence, 250 sentences each. What was made fits the transport's window and the buffer, plus one
        # sentence that was under way.
        assert made() < clients * 25
    grown = daemon.metrics().total("process_resident_memory_bytes") - before.total("process_resident_memory_bytes")
    assert grown < 100e6


def test_slow_reader_that_goes_on_reading_gets_everything(daemon):
    """Its job is parked again and again, and resumed when it has read."""
    request = speak_request(LONG * 4, encoding=synthesis.AUDIO_ENCODING_PCM_F32LE, seed=1)
    whole = daemon.synthesis.Synthesize(request, timeout=PATIENCE).audio
    pause = threading.Event()
    received = b""
    for message in daemon.synthesis.StreamSynthesize(request, timeout=PATIENCE):
        received += message.audio
        pause.wait(0.2)
    assert received == whole


# --- limits on connections and calls ---

def test_connections_beyond_the_limit_are_closed_and_the_others_go_on(tmp_path, null_models):
    with daemons.start(tmp_path, "--max-connections", "3", models=null_models) as limited:
        held = limited.connect()
        assert limited.health(channel=held) == "SERVING"
        with RawConnection(port(limited)) as second, RawConnection(port(limited)) as third:
            for connection in (second, third):   # one without a call would make room
                connection.call(INFER, b"", end=True)
                assert connection.stream_ended()
            with RawConnection(port(limited)) as fourth:
                assert fourth.closed_by_server()
            assert limited.health(channel=held) == "SERVING"
        eventually("a place is free again", lambda: is_open(limited))
        assert limited.health(channel=held) == "SERVING"


def test_connections_that_only_hold_places_keep_nobody_out(tmp_path, null_models):
    """Silent ones, ones that never make a call, and ones that never end its headers."""
    opening = http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0, b"") + http2.frame(http2.SETTINGS, http2.ACK, 0, b"")
    headers = http2.call_headers(INFER)
    announced = http2.frame(http2.HEADERS, http2.END_HEADERS, 1, headers)[:-1]
    unfinished = [opening + http2.frame(http2.HEADERS, 0, 1, headers), opening + announced]
    with daemons.start(tmp_path, "--max-connections", "8", models=null_models) as limited, contextlib.ExitStack() as stack:
        for said in [b"", opening[:33], *unfinished] * 2:
            stack.enter_context(RawConnection(port(limited), said))
        for _ in range(8):
            eventually("others get in", lambda: serves(limited))   # for the first second in vain
        assert limited.metrics().total("millrace_connections_closed_total", reason="made_room") >= 8


def test_one_peer_cannot_take_all_connections(tmp_path, null_models):
    with daemons.start(tmp_path, "--max-connections-per-peer", "2", models=null_models) as limited, contextlib.ExitStack() as stack:
        for _ in range(2):
            connection = stack.enter_context(RawConnection(port(limited)))
            connection.call(INFER, b"", end=True)
            assert connection.stream_ended()
        with RawConnection(port(limited)) as third:
            assert third.closed_by_server()
        eventually("the log says why", lambda: "too many of its peer" in limited.log_text())
        assert limited.metrics().total("millrace_connections_closed_total", reason="refused") == 1


@pytest.mark.parametrize("said", [b"", http2.PREFACE[:10], http2.PREFACE], ids=["nothing", "half a preface", "a preface"])
def test_a_connection_that_does_not_begin_is_closed_in_time(tmp_path, null_models, said):
    with daemons.start(tmp_path, "--handshake-timeout", "500ms", models=null_models) as limited:
        with RawConnection(port(limited), said) as connection:
            assert connection.closed_by_server()


def test_a_connection_without_a_call_is_told_to_go(tmp_path, null_models):
    with daemons.start(tmp_path, "--idle-connection-timeout", "500ms", models=null_models) as limited:
        held = limited.connect()
        with RawConnection(port(limited)) as connection:
            while (received := connection.next_frame()) is not None and received[0] != http2.GOAWAY:
                pass
            assert received is not None
        for _ in range(2):   # a real client comes back by itself, though a call may meet the server's goodbye on its way
            eventually("it serves", lambda: serves(limited, held))
            threading.Event().wait(1)


def serves(daemon, channel=None):
    try:
        return daemon.health(channel=channel or daemon.connect()) == "SERVING"
    except grpc.RpcError:
        return False


def is_open(daemon):
    try:
        with RawConnection(port(daemon)) as connection:
            return connection.next_frame() is not None
    except OSError:
        return False


def test_connections_leave_no_descriptor_behind(daemon):
    before = daemon.metrics().total("process_open_fds")
    for _ in range(50):
        with RawConnection(port(daemon)) as connection:
            connection.call(INFER, grpc_message(null_request().SerializeToString()), end=True)
            assert connection.stream_ended()
    eventually("descriptors are closed", lambda: daemon.metrics().total("process_open_fds") <= before + 2)


def test_client_that_pings_too_often_is_disconnected(daemon):
    with RawConnection(port(daemon)) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(20):
                connection.socket.sendall(http2.frame(http2.PING, 0, 0, os.urandom(8)))
        kinds = []
        while (received := connection.next_frame()) is not None:
            kinds.append(received[0])
    assert http2.GOAWAY in kinds


def test_more_calls_than_allowed_on_a_connection_wait_their_turn(tmp_path, null_models):
    with daemons.start(tmp_path, "--max-streams-per-connection", "2", models=null_models) as limited:
        calls = [limited.kserve.ModelInfer.future(null_request(), timeout=PATIENCE) for _ in range(50)]
        assert all(call.result().outputs for call in calls)


def test_a_client_that_drops_all_its_calls_at_once_stays_connected(daemon):
    """As a gateway does whose listeners leave: no flood, though far more than a client resets in a second."""
    with RawConnection(port(daemon)) as connection:
        streams = range(1, 1601, 2)
        for stream in streams:
            connection.call(INFER, b"", end=False, stream=stream)
        threading.Event().wait(2.5)
        connection.socket.sendall(b"".join(http2.frame(http2.RST_STREAM, 0, stream, bytes([0, 0, 0, 8])) for stream in streams))
        connection.call(INFER, grpc_message(null_request().SerializeToString()), end=True, stream=1601)
        assert connection.stream_ended(1601)
