"""Speech over the Wyoming protocol, as Home Assistant asks for it: its sequences replayed with the protocol's own library, a published
benchmark, and bytes that are no events."""

import asyncio
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys

import pytest
from wire import daemon as daemons
from wire import repository, rest
from wire.daemon import refused_start, run
from wire.paths import KOKORO, NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE
from wire.stubs import synthesis
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info, SelectProgram
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped, SynthesizeVoice

TEXT = "Good morning. Where is the nearest station?"
# As a language model writes it: in pieces that end anywhere.
PIECES = ["Good mor", "ning.", " Where is the near", "est station? It is ", "", "two streets", " from here."]
LONG = "The children were playing in the garden behind the old house. " * 60
RATE = 22050


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", NULL, VOICE)
    with daemons.start(folder, "--workers", "2", "--wyoming-address", "127.0.0.1:0", models=models) as running:
        yield running


class HomeAssistant:
    """What its integration does with a voice server: a connection for each question and each utterance."""

    def __init__(self, daemon):
        self.port = daemon.ports["wyoming"]

    def connect(self):
        return AsyncTcpClient("127.0.0.1", self.port, read_timeout=PATIENCE)

    async def load_info(self):
        """Raises where the answer does not come within a second, of which it then makes "not ready"."""
        async with self.connect() as client, asyncio.timeout(1):
            await client.write_event(Describe().event())
            while True:
                event = await client.read_event()
                assert event is not None, "connection closed unexpectedly"
                if Info.is_type(event.type):
                    return Info.from_event(event)

    async def speak(self, text, voice=None):
        """Samples as bytes, and their rate."""
        async with self.connect() as client:
            await client.write_event(Synthesize(text=text, voice=voice).event())
            return await self._read_audio(client, until=AudioStop)

    async def stream(self, pieces, voice=None):
        """Writes the text while it reads the audio, and the whole text once more at its end."""
        async with self.connect() as client:
            await client.write_event(SynthesizeStart(voice=voice).event())

            async def write():
                for piece in pieces:
                    await client.write_event(SynthesizeChunk(text=piece).event())
                    await asyncio.sleep(0)
                await client.write_event(Synthesize(text="".join(pieces), voice=voice).event())
                await client.write_event(SynthesizeStop().event())

            writing = asyncio.create_task(write())
            audio = await self._read_audio(client, until=SynthesizeStopped)
            await writing
            return audio

    @staticmethod
    async def _read_audio(client, until):
        rate, audio = None, b""
        while True:
            event = await client.read_event()
            assert event is not None, "connection lost"
            if until.is_type(event.type):
                return audio, rate
            if AudioStart.is_type(event.type) and rate is None:
                start = AudioStart.from_event(event)
                assert (start.width, start.channels) == (2, 1)
                rate = start.rate
            elif AudioChunk.is_type(event.type) and rate is not None:
                chunk = AudioChunk.from_event(event)
                assert (chunk.rate, chunk.timestamp) == (rate, len(audio) // 2 * 1000 // rate)
                audio += chunk.audio


@pytest.fixture
def home_assistant(daemon):
    return HomeAssistant(daemon)


def connect(daemon):
    return socket.create_connection(("127.0.0.1", daemon.ports["wyoming"]), timeout=PATIENCE)


def exchange(daemon, sent, ends=False):
    """What the server answers to bytes until it closes the connection: the types of its events, and the data of the last."""
    with connect(daemon) as peer:
        with contextlib.suppress(ConnectionError):   # it stops reading when it has seen enough
            peer.sendall(sent)
            if ends:
                peer.shutdown(socket.SHUT_WR)
        answer = b""
        while got := peer.recv(1 << 16):
            answer += got
    types, data = [], {}
    while answer:
        line, answer = answer.split(b"\n", 1)
        head = json.loads(line)
        data = json.loads(answer[:head.get("data_length", 0)] or b"{}")
        answer = answer[head.get("data_length", 0) + head.get("payload_length", 0):]
        types.append(head["type"])
    return types, data


def event(kind, **data):
    text = json.dumps(data).encode()
    return json.dumps({"type": kind, "data_length": len(text)}).encode() + b"\n" + text


def counted(daemon, code, method="WyomingSpeech"):
    return daemon.metrics().total("millrace_requests_total", method=method, code=code)


# --- Home Assistant ---

def test_home_assistant_finds_the_voices(home_assistant):
    info = asyncio.run(home_assistant.load_info())
    program = next(program for program in info.tts if program.installed)
    assert (program.name, program.supports_synthesize_streaming) == ("millrace", True)
    voice, = [voice for voice in program.voices if voice.installed]
    assert (voice.name, voice.languages, voice.description) == (f"{VOICE}/joe", ["en-US"], f"joe ({VOICE})")
    assert voice.attribution.name == VOICE
    assert not (info.asr or info.wake or info.intent or info.handle) and info.satellite is None


def test_home_assistant_speaks(daemon, home_assistant):
    before = counted(daemon, "OK")
    spoken, rate = asyncio.run(home_assistant.speak(TEXT))
    assert rate == RATE
    assert spoken == rest.spoken(daemon, TEXT)
    eventually("the request is counted", lambda: counted(daemon, "OK") == before + 1)


def test_home_assistant_speaks_while_a_text_is_written(daemon, home_assistant):
    async def both():
        return await home_assistant.stream(PIECES), await home_assistant.stream(PIECES, SynthesizeVoice(name=f"{VOICE}/joe"))

    before = counted(daemon, "OK", "WyomingTextStream")
    (spoken, rate), named = asyncio.run(both())
    assert (spoken, rate) == named and rate == RATE

    def messages():
        yield synthesis.SynthesizeTextStreamRequest(
            config=synthesis.SynthesizeRequest(model=VOICE, encoding=synthesis.AUDIO_ENCODING_PCM_S16LE))
        for piece in PIECES:
            yield synthesis.SynthesizeTextStreamRequest(text=piece)

    over_grpc = b"".join(answer.audio for answer in daemon.synthesis.SynthesizeTextStream(messages(), timeout=PATIENCE))
    # How the pieces fall together into jobs depends on time, which moves no word, but pauses.
    assert len(spoken) == pytest.approx(len(over_grpc), rel=0.05)
    assert len(spoken) > 3 * 2 * RATE
    eventually("the requests are counted", lambda: counted(daemon, "OK", "WyomingTextStream") == before + 2)


def test_the_first_sentence_is_heard_before_the_text_ends(home_assistant):
    async def listen():
        async with home_assistant.connect() as client:
            await client.write_event(SynthesizeStart().event())
            await client.write_event(SynthesizeChunk(text="Good morning. And").event())
            while not AudioChunk.is_type((await client.read_event()).type):
                pass
            await client.write_event(SynthesizeStop().event())
            while not SynthesizeStopped.is_type((await client.read_event()).type):
                pass

    asyncio.run(listen())


def test_an_answer_without_words_is_silent(home_assistant):
    async def all_kinds():
        return [await home_assistant.speak(""), await home_assistant.speak("\N{THUMBS UP SIGN}"), await home_assistant.stream([]),
                await home_assistant.stream(["...", ""])]

    assert asyncio.run(all_kinds()) == [(b"", RATE)] * 4


def test_many_utterances_at_once(daemon, home_assistant):
    async def all_at_once():
        return await asyncio.gather(*(home_assistant.speak(TEXT) for _ in range(10)), *(home_assistant.stream(PIECES) for _ in range(10)))

    spoken = asyncio.run(all_at_once())
    assert {audio for audio, _ in spoken[:10]} == {rest.spoken(daemon, TEXT)}
    assert all(len(audio) > 3 * 2 * RATE for audio, _ in spoken[10:])


# --- voices, and the rest of the protocol ---

@pytest.mark.parametrize("voice", [
    SynthesizeVoice(name=f"{VOICE}/joe"), SynthesizeVoice(name="joe"), SynthesizeVoice(name=VOICE), SynthesizeVoice(name=VOICE, speaker="joe"),
    SynthesizeVoice(language="en"), SynthesizeVoice(language="en_US"), SynthesizeVoice()], ids=repr)
def test_voices_by_name_speaker_and_language(daemon, home_assistant, voice):
    assert asyncio.run(home_assistant.speak(TEXT, voice))[0] == rest.spoken(daemon, TEXT)


def test_a_voice_speaks_its_own_language(tmp_path):
    models = repository.link(tmp_path / "models", VOICE, KOKORO)
    with daemons.start(tmp_path, "--workers", "2", "--wyoming-address", "127.0.0.1:0", models=models, seconds=180) as daemon:
        home_assistant = HomeAssistant(daemon)
        voices = {voice.name: voice.languages for voice in asyncio.run(home_assistant.load_info()).tts[0].voices}
        assert voices[f"{KOKORO}/jf_alpha"] == ["ja"] and len(voices) > 2
        spoken, rate = asyncio.run(home_assistant.speak("ねこ", SynthesizeVoice(name=f"{KOKORO}/jf_alpha")))
        assert rate == 24_000
        assert spoken == rest.spoken(daemon, "ねこ", model=KOKORO, voice="jf_alpha", language="ja", sample_rate=rate)


def test_ping_program_and_events_of_the_future(home_assistant):
    async def talk():
        async with home_assistant.connect() as client:
            await client.write_event(SelectProgram(name="millrace").event())
            await client.write_event(Event("transcribe", {"language": "en"}))
            await client.write_event(AudioChunk(rate=16_000, width=2, channels=1, audio=bytes(4096)).event())
            await client.write_event(Ping(text="x").event())
            return Pong.from_event(await client.read_event())

    assert asyncio.run(talk()) == Pong(text="x")


def test_an_error_ends_the_connection(daemon, home_assistant):
    async def talk():
        async with home_assistant.connect() as client:
            await client.write_event(Synthesize(text=TEXT, voice=SynthesizeVoice(name="nobody")).event())
            return Error.from_event(await client.read_event()), await client.read_event()

    before = counted(daemon, "INVALID_ARGUMENT")
    error, after = asyncio.run(talk())
    assert (error.code, after) == ("INVALID_ARGUMENT", None)
    assert "nobody" in error.text and f"{VOICE}/joe" in error.text
    eventually("the request is counted", lambda: counted(daemon, "INVALID_ARGUMENT") == before + 1)


def test_the_published_benchmark(daemon):
    """Its own verdict: both ways to synthesise give whole answers."""
    benchmark = [sys.executable, "-m", "wyoming_bench.cli"]
    address = f"127.0.0.1:{daemon.ports['wyoming']}"
    ended = subprocess.run([*benchmark, "info", address], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 0 and VOICE in ended.stdout, ended.stdout + ended.stderr
    ended = subprocess.run([*benchmark, "tts", address, "--rounds", "2", "--verbose", "--programs", "millrace", "--texts", TEXT],
                           capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for mode in ("streaming", "non_streaming"):
        assert len(re.findall(rf"^\[{mode}\] r\d .*audio=[1-9]", ended.stdout, re.MULTILINE)) == 2, ended.stdout
    assert "FAIL" not in ended.stdout and "NOT SUPPORTED" not in ended.stdout


# --- what is no good request ---

@pytest.mark.parametrize(("sent", "words"), [
    (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", ["line", "not valid JSON"]),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64) + b"\n", ["line", "TLS is not spoken"]),
    (b'{"type": "ping", "data": {"text": "\xff"}}\n', ["line", "UTF-8"]),
    (b'{"type": "ping", "data_length": 10}\n{"text": \xff', ["data", "UTF-8"]),
    (b"x" * 70_000, ["line", "65536"]),
    (b'{"type": "ping", "data_length": 2000000}\n', ["data_length", "1048576"]),
    (b'{"type": "ping", "data_length": -1}\n', ["data_length"]),
    (b'{"type": "ping", "data_length": 1e30}\n', ["data_length"]),
    (b'{"type": "audio-chunk", "payload_length": 99999999999999999999}\n', ["payload_length", "1048576"]),
    (b'{"type": "synthesize", "data_length": 4}\n{"text": "longer"}', ["data", "not valid JSON"]),
    (b'{"data": {}}\n', ["type", "missing"]),
    (b'{"type": "synthesize", "data_length": 900010}\n{"x": [' + b"[]," * 300_000 + b"1]}", ["data", "more than 100000 values"]),
    (b"[" * 60_000 + b"\n", ["line"]),
    (event("synthesize"), ["text", "missing"]),
    (event("synthesize", text="a" * 1_000_000), ["text", "1000000", "200000"]),
    (event("synthesize", text="a\0b"), ["text", "NUL"]),
    (event("synthesize", text=TEXT, text_format="html"), ["text_format", "html"]),
    (event("synthesize", text=TEXT, voice={"name": "nobody"}), ["voice.name", "nobody", "joe"]),
    (event("synthesize", text=TEXT, voice={"language": "fr"}), ["voice.language", "fr", "en-US"]),
    (event("synthesize", text=TEXT, voice={"language": "tlh"}), ["language", "tlh"]),
    (event("synthesize-chunk", text="a"), ["synthesize-chunk", "synthesize-start"]),
    (event("synthesize-start") + event("synthesize-chunk", text=[]), ["text", "string"]),
    (event("synthesize-start") + event("nonsense") + b"nonsense\n", ["line"]),
], ids=lambda value: repr(value)[:40])
def test_bad_input_gets_one_error(daemon, bystander, sent, words):
    types, data = exchange(daemon, sent)
    assert types == ["error"]
    for word in words:
        assert word in data["text"], data


@pytest.mark.parametrize("sent", [b"", b"{", b'{"type": "describe"', b'{"type": "ping", "data_length": 10}\n{', event("synthesize-start"),
                                  event("synthesize-start") + event("synthesize-chunk", text="Good mor")], ids=repr)
def test_half_of_a_conversation_gets_nothing(daemon, bystander, sent):
    assert exchange(daemon, sent, ends=True) == ([], {})
    daemon.wait_until_idle()


def test_deep_nesting_is_as_good_as_any_other_data(daemon, bystander):
    deep = b'{"text": "Yes.", "context": ' + b"[" * 90_000 + b"]" * 90_000 + b"}"
    with connect(daemon) as peer:
        peer.sendall(b'{"type": "synthesize", "data_length": %d}\n' % len(deep) + deep)
        answer = b""
        while b'"audio-stop"' not in answer:
            answer += peer.recv(1 << 16)


def test_a_flood_of_pings_is_ended(daemon, bystander):
    types, data = exchange(daemon, b'{"type": "ping"}\n' * 60_000)
    assert set(types) == {"pong", "error"} and data["code"] == "RESOURCE_EXHAUSTED"


def test_many_connections_that_say_nothing(daemon, bystander, home_assistant):
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(connect(daemon))
        assert asyncio.run(home_assistant.speak(TEXT))[1] == RATE


def test_connections_in_use_keep_no_other_address_out(tmp_path):
    """As many as an address may have, each in the middle of a text, and one more; then as many as there may be, from two addresses."""
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--wyoming-address", "127.0.0.1:0", models=models) as daemon, contextlib.ExitStack() as stack:

        def ask(source, sent):
            peer = stack.enter_context(socket.create_connection(("127.0.0.1", daemon.ports["wyoming"]), PATIENCE, (source, 0)))
            peer.sendall(sent)
            return json.loads(peer.makefile("rb").readline())

        for _ in range(64):
            assert ask("127.0.0.1", event("synthesize-start") + event("ping"))["type"] == "pong"
        assert ask("127.0.0.1", event("describe"))["type"] == "error"
        assert ask("127.0.0.2", event("describe"))["type"] == "info"
        for _ in range(63):
            assert ask("127.0.0.2", event("synthesize-start") + event("ping"))["type"] == "pong"
        for source in ("127.0.0.3", "127.0.0.4"):
            assert ask(source, event("synthesize-start") + event("ping"))["type"] == "pong"


def test_a_client_that_leaves_stops_its_speech(daemon, bystander):
    before = counted(daemon, "CANCELLED")
    with connect(daemon) as peer:
        peer.sendall(event("synthesize", text=LONG))
        assert peer.recv(100)
    eventually("its request ends", lambda: counted(daemon, "CANCELLED") == before + 1)
    daemon.wait_until_idle()


def test_a_client_that_never_reads_is_closed(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    options = ["--wyoming-address", "127.0.0.1:0", "--write-stall-timeout", "500ms", "--max-buffered-bytes", "64KiB"]
    with daemons.start(tmp_path, *options, models=models) as daemon, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)   # before it connects, so that both sides hold little
        deaf.connect(("127.0.0.1", daemon.ports["wyoming"]))
        deaf.sendall(event("synthesize", text=LONG * 3))
        eventually("its speech is given up", lambda: counted(daemon, "CANCELLED") == 1, PATIENCE)
        daemon.wait_until_idle()


# --- serving ---

def test_it_is_off_unless_asked_for(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        assert daemon.ports["wyoming"] == 0


def test_a_server_without_voices_says_so(tmp_path, null_models):
    with daemons.start(tmp_path, "--wyoming-address", "127.0.0.1:0", models=null_models) as daemon:
        assert asyncio.run(HomeAssistant(daemon).load_info()).tts[0].voices == []
        assert exchange(daemon, event("synthesize", text=TEXT))[1] == {"text": "no speech model is loaded", "code": "NOT_FOUND"}


def test_keys_do_not_hold_for_wyoming_so_it_stays_on_this_machine(tmp_path, null_models):
    keys = tmp_path / "api-keys"
    assert run("hash-key", "alice", "--append", keys).returncode == 0
    status, error = refused_start("--wyoming-address", "0.0.0.0:0", "--insecure", "--api-keys", keys, models=null_models)
    assert status == 2 and "--wyoming-address" in error and "--wyoming-anonymous" in error
    with daemons.start(tmp_path, "--wyoming-address", "127.0.0.1:0", "--api-keys", keys, models=null_models) as daemon:
        assert asyncio.run(HomeAssistant(daemon).load_info()).tts
    with daemons.start(tmp_path, "--wyoming-address", "0.0.0.0:0", "--wyoming-anonymous", "--insecure", "--api-keys", keys,
                       models=null_models) as daemon:
        assert asyncio.run(HomeAssistant(daemon).load_info()).tts


def test_a_drain_lets_speech_end_and_takes_no_new(tmp_path):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, "--wyoming-address", "127.0.0.1:0", "--write-stall-timeout", "60s", models=models) as daemon:
        with connect(daemon) as speaking, connect(daemon) as late:
            speaking.sendall(event("synthesize", text=LONG[:600]))
            answer = speaking.recv(100)
            assert answer
            daemon.process.send_signal(signal.SIGTERM)
            eventually("the daemon is not ready", lambda: daemon.http("/v2/health/ready")[0] != 200)
            late.sendall(event("synthesize", text=TEXT))
            refusal = b""
            while got := late.recv(1 << 16):
                refusal += got
            assert b'"error"' in refusal and b"UNAVAILABLE" in refusal
            while got := speaking.recv(1 << 16):
                answer += got
            assert b'"audio-stop"' in answer[-300:]
        assert daemon.exit_status(PATIENCE) == 0
