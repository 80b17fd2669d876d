"""WebSockets: bytes that are no WebSocket's, clients that misbehave, many idle ones, and vLLM-Omni's protocol."""

import base64
import contextlib
import json
import os
import socket as sockets
import struct

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from wire import daemon as daemons
from wire import repository
from wire.paths import NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, speak_request
from wire.sound import decode
from wire.stubs import synthesis_grpc

PATH = "/v1/text-to-speech/joe/multi-stream-input?output_format=pcm_22050&inactivity_timeout=180"
TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", NULL, VOICE)
    with daemons.start(folder, "--workers", "2", "--cors-origin", "https://chat.example.org", models=models) as running:
        yield running


def frame(opcode, payload=b"", fin=True, masked=True, reserved=0, announced=None):
    length = len(payload) if announced is None else announced
    mask_bit, head = 0x80 if masked else 0, bytes([fin << 7 | reserved << 4 | opcode])
    if length < 126:
        head += bytes([mask_bit | length])
    elif length < 65536:
        head += bytes([mask_bit | 126]) + struct.pack(">H", length)
    else:
        head += bytes([mask_bit | 127]) + struct.pack(">Q", length)
    if not masked:
        return head + payload
    mask = b"\x12\x34\x56\x78"
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def message(**members):
    return frame(TEXT, json.dumps(members).encode())


class Raw:
    """A connection whose frames are written by hand."""

    def __init__(self, daemon, path=PATH, extra=""):
        self.socket = sockets.create_connection(("127.0.0.1", daemon.ports["http"]), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n{extra}\r\n".encode())
        self.bytes = b""
        while b"\r\n\r\n" not in self.bytes:
            self._more()
        self.head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")
        assert self.head.startswith(b"HTTP/1.1 101"), self.head

    def _more(self):
        received = self.socket.recv(65536)
        if not received:
            raise EOFError
        self.bytes += received

    def _take(self, count):
        while len(self.bytes) < count:
            self._more()
        taken, self.bytes = self.bytes[:count], self.bytes[count:]
        return taken

    def send(self, data):
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data)

    def read(self):
        """The next frame: its opcode and payload."""
        opcode, length = self._take(2)
        if length >= 126:
            length = int.from_bytes(self._take(2 if length == 126 else 8), "big")
        return opcode & 0x0F, self._take(length)

    def read_to_close(self):
        """The texts before the close, and its code; None where the connection ends without one."""
        texts = []
        while True:
            try:
                opcode, payload = self.read()
            except (EOFError, ConnectionError):
                return texts, None
            if opcode == CLOSE:
                self.reason = payload[2:].decode()
                return texts, int.from_bytes(payload[:2], "big")
            if opcode == TEXT:
                texts.append(json.loads(payload))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


BAD = {
    "no mask": (frame(TEXT, b"{}", masked=False), 1002, None),
    "compressed": (frame(TEXT, b"\xaa\x56\x2a", reserved=4), 1002, None),
    "unknown opcode": (frame(5, b"x"), 1002, None),
    "continuation of nothing": (frame(0, b"x"), 1002, None),
    "long ping": (frame(PING, b"x" * 126), 1002, None),
    "bad UTF-8": (frame(TEXT, b'{"text":"\xff"}'), 1007, None),
    "oversize frame": (frame(TEXT, b"x", announced=1 << 62), 1009, "a message has more than 1048576 bytes"),
    "oversize fragments": (frame(TEXT, b"x" * (1 << 20), fin=False) + frame(0, b"x"), 1009, "a message has more than 1048576 bytes"),
    "flood": (frame(PING) * 30_000, 1008, "frames come faster than"),
    "no JSON": (frame(TEXT, b"nonsense"), 1008, "the message is not valid JSON"),
    "deep JSON": (frame(TEXT, b"[" * 90_000), 1008, "the message is not valid JSON"),
    "many values": (frame(TEXT, b'{"x": [' + b"{}," * 300_000 + b"1]}"), 1008, "more than 100000 values"),
    "no object": (frame(TEXT, b"[]"), 1008, "the message must be a JSON object"),
    "unknown event": (message(event="of-the-future"), 1008, "the message has none of text"),
    "wrong type": (message(text=5), 1008, "text: must be a string"),
    "binary": (frame(BINARY, b"{}"), 1008, "messages must be text"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_once_and_disturbs_nobody(daemon, bystander, name):
    data, code, said = BAD[name]
    with Raw(daemon) as other, Raw(daemon) as client:
        client.send(data)
        texts, closed = client.read_to_close()
        assert closed == code, texts
        assert len(texts) == (said is not None) and client.reason
        if said:
            assert said in texts[0]["message"] and texts[0]["error"] and texts[0]["code"] == code
        other.send(message(text="Yes.", context_id="c", flush=True))
        assert json.loads(other.read()[1])["audio"]


def test_half_a_message_waits_and_nobody_waits_for_it(daemon, bystander):
    whole = message(text="Yes.", context_id="c", flush=True)
    with Raw(daemon) as half, Raw(daemon) as other:
        half.send(whole[:20])
        other.send(whole)
        assert json.loads(other.read()[1])["audio"]
        half.send(whole[20:])
        assert json.loads(half.read()[1])["audio"]


def test_a_megabyte_of_text_is_answered_at_once(daemon, bystander):
    with Raw(daemon) as client:
        client.send(message(text="word " * 209_000, context_id="more"))
        error = json.loads(client.read()[1])
        assert error["contextId"] == "more" and "1000000" in error["message"].replace(",", "")
        # The first of it is heard, unless the server has spoken enough to know that it cannot be done by its deadline.
        client.send(message(text="Yes. " * 199_000, context_id="c", flush=True))
        answer = json.loads(client.read()[1])
        assert answer["contextId"] == "c" and (answer.get("audio") or answer["error"] == "too_many_concurrent_requests"), answer
        # The connection serves the next text either way.
        client.send(message(text="Yes.", context_id="next", flush=True))
        while json.loads(client.read()[1])["contextId"] != "next":
            pass


def test_no_extension_is_agreed_to(daemon):
    with Raw(daemon, extra="Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n") as client:
        assert b"extensions" not in client.head.lower()


def test_a_client_that_never_reads_holds_no_worker(daemon, bystander):
    with Raw(daemon) as client:
        client.socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        client.send(message(text="This is a sentence that nobody hears. " * 200, context_id="c", flush=True))
        # Another text is spoken to its end meanwhile.
        stub = synthesis_grpc.SynthesisServiceStub(daemon.channel)
        assert stub.Synthesize(speak_request("And this is heard."), timeout=PATIENCE).audio


def test_pages_connect_from_allowed_origins_only(daemon):
    url = f"ws://127.0.0.1:{daemon.ports['http']}{PATH}"
    for origin in ("https://chat.example.org", f"http://127.0.0.1:{daemon.ports['http']}"):
        with connect(url, origin=origin, open_timeout=PATIENCE) as client:
            client.send(json.dumps({"text": " ", "context_id": "c"}))
    with pytest.raises(InvalidStatus) as refused:
        connect(url, origin="https://evil.example.org", open_timeout=PATIENCE)
    assert refused.value.response.status_code == 403
    assert json.loads(refused.value.response.body)["detail"]["message"] == "pages of this origin may not use the server"


def memory_of(daemon):
    for line in open(f"/proc/{daemon.process.pid}/smaps_rollup"):
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no Private_Dirty")


def test_500_idle_connections_take_little_memory_and_no_place_of_http(daemon, bystander):
    with Raw(daemon):
        pass
    before = memory_of(daemon)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Raw(daemon)) for _ in range(500)]
        assert memory_of(daemon) - before <= 20 << 20
        for client in clients[::100]:
            client.send(frame(PING, b"p"))
            assert client.read() == (10, b"p")


def test_an_operator_sets_the_limits(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--max-websockets", "2", "--max-websocket-message-bytes", "2KiB", "--websocket-idle-timeout", "1500ms",
                       models=models) as daemon:
        url = f"ws://127.0.0.1:{daemon.ports['http']}"
        with Raw(daemon) as first, Raw(daemon):
            with pytest.raises(InvalidStatus) as refused:
                connect(f"{url}{PATH}", open_timeout=PATIENCE)
            assert refused.value.response.status_code == 503
            assert b"already has 2 WebSocket connections" in refused.value.response.body
            first.send(message(text="x" * 2048, context_id="c"))
            texts, closed = first.read_to_close()
            assert closed == 1009 and "a message has more than 2048 bytes" in texts[0]["message"]
        eventually("both have ended", lambda: daemon.metrics().total("millrace_websockets") == 0)
        # The client of ElevenLabs' protocol asks for 180 s.
        with Raw(daemon) as idle:
            texts, closed = idle.read_to_close()
            assert closed == 1008 and texts[0]["error"] == "input_timeout_exceeded"
        eventually("the places are free", lambda: daemon.metrics().total("millrace_websockets") == 0, PATIENCE)
        with connect(f"{url}/v1/audio/speech/stream", open_timeout=PATIENCE) as idle:
            idle.send(json.dumps({"type": "session.config", "voice": "joe"}))
            assert "idle for too long" in json.loads(idle.recv(timeout=PATIENCE))["message"]
            with pytest.raises(ConnectionClosed) as ended:
                idle.recv(timeout=PATIENCE)
            assert ended.value.rcvd.code == 1000


def test_one_address_does_not_take_all_places(tmp_path):
    models = repository.link(tmp_path / "models", NULL)
    with daemons.start(tmp_path, "--max-websockets-per-peer", "2", models=models) as daemon:
        for path, error in ((PATH, lambda body: body["detail"]["message"]), ("/v1/audio/speech/stream", lambda body: body["error"])):
            with Raw(daemon), Raw(daemon):
                with pytest.raises(InvalidStatus) as refused:
                    connect(f"ws://127.0.0.1:{daemon.ports['http']}{path}", open_timeout=PATIENCE)
                response = refused.value.response
                assert response.status_code == 429 and response.headers["Retry-After"] == "1"
                assert error(json.loads(response.body)) == "the server already has 2 WebSocket connections of this address, which is the limit"
                # Requests of this address are served.
                assert daemon.http("/v2/health/ready")[0] == 200
            eventually("the places are free", lambda: daemon.metrics().total("millrace_websockets") == 0, PATIENCE)


def test_a_stop_closes_with_going_away(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, models=models) as daemon:
        with connect(f"ws://127.0.0.1:{daemon.ports['http']}{PATH}", open_timeout=PATIENCE) as client:
            client.send(json.dumps({"text": "Yes.", "context_id": "c", "flush": True}))
            client.send(json.dumps({"context_id": "c", "close_context": True}))
            while not json.loads(client.recv(timeout=PATIENCE))["isFinal"]:
                pass
            daemon.process.terminate()
            with pytest.raises(ConnectionClosed) as closed:
                client.recv(timeout=PATIENCE)
            assert closed.value.rcvd.code == 1001


def test_a_stop_lets_a_text_be_spoken_and_takes_no_other(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--drain-timeout", "5m", models=models) as daemon:
        with connect(f"ws://127.0.0.1:{daemon.ports['http']}{PATH}", open_timeout=PATIENCE, max_size=None) as client:
            client.send(json.dumps({"text": "This is one of several sentences. " * 40, "context_id": "long", "flush": True}))
            client.send(json.dumps({"context_id": "long", "close_context": True}))
            client.recv(timeout=PATIENCE)
            daemon.terminate()
            eventually("it drains", lambda: daemon.health() == "NOT_SERVING")
            received = [json.loads(client.recv(timeout=PATIENCE))]
            while not received[-1].get("isFinal"):
                received.append(json.loads(client.recv(timeout=PATIENCE)))
            assert any(message.get("audio") for message in received)
            with pytest.raises(ConnectionClosed) as closed:
                client.recv(timeout=PATIENCE)
            assert closed.value.rcvd.code == 1001
        assert daemon.exit_status(10) == 0


# --- vLLM-Omni ---

@contextlib.contextmanager
def vllm_session(daemon, **config):
    with connect(f"ws://127.0.0.1:{daemon.ports['http']}/v1/audio/speech/stream", open_timeout=PATIENCE, max_size=None) as client:
        client.send(json.dumps({"type": "session.config", "voice": "joe"} | config))
        yield client


def read_utterance(client):
    """The JSON messages, and the binary frames, up to the end of an utterance."""
    events, frames = [], []
    while not events or events[-1]["type"] != "session.done":
        received = client.recv(timeout=PATIENCE)
        if isinstance(received, bytes):
            frames.append(received)
        else:
            events.append(json.loads(received))
    return events, frames


def test_vllm_omni_speaks_each_sentence_and_keeps_its_configuration(daemon):
    with vllm_session(daemon) as client:
        for utterance in range(2):
            for piece in ("Good mor", "ning. How are", " you?"):
                client.send(json.dumps({"type": "input.text", "text": piece}))
            client.send(json.dumps({"type": "input.done"}))
            events, frames = read_utterance(client)
            assert [event["type"] for event in events] == ["audio.start", "audio.done"] * 2 + ["session.done"]
            assert all(event["utterance_index"] == utterance for event in events)
            assert [event["sentence_index"] for event in events[:-1]] == [0, 0, 1, 1]
            assert events[0]["sentence_text"].strip() == "Good morning." and events[0]["format"] == "wav"
            assert events[-1]["total_sentences"] == 2
            for done, audio in zip(events[1::2], frames, strict=True):
                assert done["total_bytes"] == len(audio) and not done["error"]
                assert decode(audio, "wav").seconds > 0.3
        client.send(json.dumps({"type": "session.close"}))
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1000


def test_vllm_omni_streams_samples(daemon):
    with vllm_session(daemon, response_format="pcm", stream_audio=True) as client:
        client.send(json.dumps({"type": "input.text", "text": "The children were playing in the garden. Yes"}))
        first = json.loads(client.recv(timeout=PATIENCE))
        assert first["type"] == "audio.start" and isinstance(client.recv(timeout=PATIENCE), bytes)   # before input.done
        client.send(json.dumps({"type": "input.done"}))
        events, frames = read_utterance(client)
        assert len(frames) > 1 and events[-1]["total_sentences"] == 2


def spoken(client, *pieces):
    for piece in pieces:
        client.send(json.dumps({"type": "input.text", "text": piece}))
    client.send(json.dumps({"type": "input.done"}))
    return read_utterance(client)


def silence(seconds):
    return bytes(2 * round(seconds * 22050))


def test_vllm_omni_speaks_markup(daemon):
    with vllm_session(daemon, response_format="pcm", text_format="tags") as client:
        events, frames = spoken(client, "[pause:200ms]", "Good morning. [pause:1.5s]", " Where is the station? [pause:", "2s]")
        audio = b"".join(frames)
        assert audio.startswith(silence(0.2)) and audio.endswith(silence(2)) and silence(1.5) in audio[:-len(silence(2))]
        assert [event["sentence_text"].strip() for event in events if event.get("sentence_text")] == ["Good morning.", "Where is the station?"]
        assert sum(event.get("total_bytes", 0) for event in events) == len(audio)
        error = spoken(client, "a [laugh:loud]")[0][-2]
        assert error["type"] == "error" and "line 1, column 3: the tag [laugh:loud]" in error["message"]
    with vllm_session(daemon, response_format="pcm", stream_audio=True, text_format="ssml") as client:
        events, frames = spoken(client, "<speak>Good mor", "ning.<bre", "ak time='1.5s'/>Where is the station?</speak>")
        assert silence(1.5) in b"".join(frames) and events[-1]["total_sentences"] == 2
        error = spoken(client, "<speak><mark/></speak>")[0][-2]
        assert error["type"] == "error" and "line 1, column 8" in error["message"] and "'mark'" in error["message"]
        # Without the field, tags and brackets are read out.
        client.send(json.dumps({"type": "session.config", "voice": "joe", "response_format": "pcm"}))
        assert silence(1.5) not in b"".join(spoken(client, "Good morning. [pause:1.5s] Yes.")[1])


@pytest.mark.parametrize("sent, said", [
    ("nonsense", "the message is not valid JSON"),
    ({"type": "of-the-future"}, "type: 'of-the-future' is not known"),
    ({"text": "a"}, "type: is missing"),
    ({"type": "input.text", "text": 5}, "text: must be a string"),
    ({"type": "session.config", "response_format": "aac"}, "response_format: 'aac' is not available"),
    ({"type": "session.config", "text_format": "html"}, "text_format: 'html' is not allowed; it is text, tags or ssml"),
    ({"type": "session.config", "split_granularity": "clause"}, "split_granularity: 'clause' is not available; sentence is"),
    ({"type": "session.config", "voice": "joe", "speed": 9}, "speed: 9 is not allowed; it is 0.25..4"),
    ({"type": "session.config", "ref_audio": "x"}, "ref_audio: voices cannot be cloned"),
    ({"type": "session.config", "voice": "nobody"}, "nobody"),
    ({"type": "session.config", "response_format": "mp3", "stream_audio": True}, "stream_audio: needs the response_format pcm"),
])
def test_vllm_omni_errors_do_not_end_the_session(daemon, bystander, sent, said):
    with vllm_session(daemon) as client:
        client.send(sent if isinstance(sent, str) else json.dumps(sent))
        error = json.loads(client.recv(timeout=PATIENCE))
        assert error["type"] == "error" and said in error["message"]
        client.send(json.dumps({"type": "input.text", "text": "Yes."}))
        client.send(json.dumps({"type": "input.done"}))
        assert len(read_utterance(client)[1]) == 1


def test_vllm_omni_needs_a_configuration_first(daemon):
    with connect(f"ws://127.0.0.1:{daemon.ports['http']}/v1/audio/speech/stream", open_timeout=PATIENCE) as client:
        client.send(json.dumps({"type": "input.text", "text": "a"}))
        assert "needs session.config before it" in json.loads(client.recv(timeout=PATIENCE))["message"]


def test_work_of_a_client_that_leaves_ends(daemon):
    with vllm_session(daemon) as client:
        client.send(json.dumps({"type": "input.text", "text": "This is a sentence that nobody hears. " * 100}))
        client.recv(timeout=PATIENCE)
    eventually("its request ends", lambda: daemon.metrics().total("millrace_requests_total", method="VllmOmniTextStream", code="CANCELLED"), PATIENCE)
