"""Clients of all kinds, who record what they get."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable

import grpc
from history import Call, History
from wire.daemon import Daemon
from wire.requests import null_request, speak_request, translate_request
from wire.stubs import synthesis

DEADLINE_SECONDS = 60.0
S16 = synthesis.AUDIO_ENCODING_PCM_S16LE
TOPICS = ("house", "station", "garden", "river")
SPEECHES = [" ".join(f"The {topic} of sentence {number} is not far from here." for number in range(1, 5)) for topic in TOPICS]
TEXTS = [[f"The {topic} number {number} is far away, and it is very old." for number in range(12)] for topic in TOPICS]
# The name of the model that is loaded again and again.
CHANGING = "changing"


class Clients:
    """Callers that send one request after the other until they are told to stop."""

    def __init__(self, daemon: Daemon, deadline: float = DEADLINE_SECONDS, network_fails: bool = False) -> None:
        self._daemon = daemon
        self._deadline = deadline
        self._network_fails = network_fails
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        # How to make the call of each kind; each yields chunks.
        self.kinds: dict[str, Callable[[int], Iterable[object]]] = {
            "null": self._null, "translate": self._translate, "changing": self._changing, "speak": self._speak,
            "stream speech": self._stream_speech, "stream translation": self._stream_translation}

    def _null(self, number: int) -> Iterable[object]:
        request = null_request([float(number)] * 64)
        yield b"".join(self._daemon.kserve.ModelInfer(request, timeout=self._deadline).raw_output_contents)

    def _translate(self, number: int, **fields: object) -> Iterable[object]:
        answer = self._daemon.translation.Translate(translate_request(*TEXTS[number], **fields), timeout=self._deadline)
        yield from ((index, text.text) for index, text in enumerate(answer.translations))

    def _changing(self, number: int) -> Iterable[object]:
        return self._translate(number, model=CHANGING)

    def _speak(self, number: int) -> Iterable[object]:
        yield self._daemon.synthesis.Synthesize(speak_request(SPEECHES[number], encoding=S16, seed=number),
                                                timeout=self._deadline).audio

    def _stream_speech(self, number: int) -> Iterable[object]:
        with contextlib.closing(Stream(self._daemon.synthesis.StreamSynthesize(
                speak_request(SPEECHES[number], encoding=S16, seed=number), timeout=self._deadline))) as stream:
            yield from (chunk.audio for chunk in stream)

    def _stream_translation(self, number: int) -> Iterable[object]:
        with contextlib.closing(Stream(self._daemon.translation.StreamTranslate(
                translate_request(*TEXTS[number], partial=True), timeout=self._deadline))) as stream:
            yield from ((piece.text_index, piece.text) for piece in stream)

    def undisturbed(self) -> dict[tuple[str, int], object]:
        """What each request gives when nothing goes wrong."""
        expected = {}
        for kind, make in self.kinds.items():
            for number in range(len(TOPICS)):
                call = Call(kind, number, deadline=0)
                for chunk in make(number):
                    call.heard(chunk)
                expected[kind, number] = call.joined()
        return expected

    def start(self, history: History, kind: str, rest: float, leaves_after: int | None = None) -> None:
        """Adds a client who rests between its calls for `rest` times as long as they take, and leaves streams after so many chunks."""
        def run() -> None:
            number = 0
            while not self._stop.is_set():
                call = history.begin(kind, number, self._deadline, leaves=leaves_after is not None, network_fails=self._network_fails)
                begin = time.monotonic()
                record(call, self.kinds[kind](number), leaves_after)
                self._stop.wait(max(0.01, rest * (time.monotonic() - begin)))
                number = (number + 1) % len(TOPICS)
        self._threads.append(threading.Thread(target=run))
        self._threads[-1].start()

    def start_deaf(self, count: int) -> None:
        """Adds streams that nobody reads until the end."""
        text = " ".join(SPEECHES * 3)
        streams = [self._daemon.synthesis.StreamSynthesize(speak_request(text, encoding=S16), timeout=self._deadline * 10)
                   for _ in range(count)]

        def leave() -> None:
            self._stop.wait()
            for stream in streams:
                stream.cancel()
        self._threads.append(threading.Thread(target=leave))
        self._threads[-1].start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


class Stream:
    """The messages of a streaming call, which is cancelled if its reader leaves."""

    def __init__(self, call: grpc.Call) -> None:
        self._call = call

    def __iter__(self) -> Iterable[object]:
        return iter(self._call)

    def close(self) -> None:
        self._call.cancel()


def record(call: Call, chunks: Iterable[object], leaves_after: int | None) -> None:
    try:
        for count, chunk in enumerate(chunks, 1):
            call.heard(chunk)
            if count == leaves_after:
                chunks.close()
                call.ended("CANCELLED")
                return
        call.ended("OK")
    except grpc.RpcError as error:
        call.ended(error.code().name, error.details())
