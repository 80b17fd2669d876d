"""Clients that send calls at a steady pace until they are told to stop, and keep a record of each."""

import dataclasses
import json
import statistics
import struct
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator

import grpc
from wire.stubs import kserve, kserve_grpc, synthesis, synthesis_grpc, translation, translation_grpc

from .balancers import Balancer

# A call that takes longer has failed.
DEADLINE = 30
MODELS = ("null", "bergamot-en-pt", "piper-en-us-joe")
TEXT = "The children were playing in the garden."
# What a stream says, a sentence at a time, at the pace at which a language model may write.
SENTENCES = ["It is one. ", "It is two. ", "It is three. ", "It is four. "]
SENTENCE_SECONDS = 0.7


@dataclasses.dataclass(frozen=True)
class Pace:
    """Clients of each kind behind each balancer, and calls per second of each client."""
    null_clients: int = 6
    null_rate: float = 12
    translation_rate: float = 4
    speech_rate: float = 1
    http_rate: float = 5
    streams: int = 1


@dataclasses.dataclass(frozen=True)
class Call:
    """A finished call: when it began by time.monotonic, for how many seconds it went on, and what was wrong, "" if nothing.
    Each client makes one call at a time."""
    balancer: str
    kind: str
    start: float
    seconds: float
    error: str
    client: int

    @property
    def end(self) -> float:
        return self.start + self.seconds


def _null_request() -> kserve.ModelInferRequest:
    tensor = kserve.ModelInferRequest.InferInputTensor(name="INPUT0", datatype="FP32", shape=[64])
    return kserve.ModelInferRequest(model_name="null", inputs=[tensor], raw_input_contents=[struct.pack("<64f", *range(64))])


def _translate_request() -> translation.TranslateRequest:
    return translation.TranslateRequest(model="bergamot-en-pt", texts=[TEXT])


def _speak_request() -> synthesis.SynthesizeRequest:
    return synthesis.SynthesizeRequest(model="piper-en-us-joe", text="Good morning.", seed=1)


class Expected:
    """The answers of an undisturbed replica, with which all others are compared."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.translated = translation_grpc.TranslationServiceStub(channel).Translate(_translate_request(), timeout=DEADLINE)
        self.spoken = synthesis_grpc.SynthesisServiceStub(channel).Synthesize(_speak_request(), timeout=DEADLINE)
        self.streamed = _read_stream(channel, lambda _: None)


def _read_stream(channel: grpc.Channel, pause: Callable[[float], object]) -> list[tuple[int, int]]:
    """Speaks the sentences in a stream; [(index of the sentence, bytes of its audio)]."""
    def requests() -> Iterator[synthesis.SynthesizeTextStreamRequest]:
        yield synthesis.SynthesizeTextStreamRequest(config=synthesis.SynthesizeRequest(model="piper-en-us-joe", seed=1))
        for sentence in SENTENCES:
            yield synthesis.SynthesizeTextStreamRequest(text=sentence)
            pause(SENTENCE_SECONDS)

    sizes: Counter[int] = Counter()
    for message in synthesis_grpc.SynthesisServiceStub(channel).SynthesizeTextStream(requests(), timeout=DEADLINE):
        sizes[message.sentence_index] += len(message.audio)
    return sorted(sizes.items())


def _http(port: int) -> Callable[[], str]:
    """The null model over HTTP, by a client that does not repeat what fails, with a connection for each call."""
    tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [64], "data": list(range(64))}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v2/models/null/infer", json.dumps({"inputs": [tensor]}).encode(),
                                     {"Content-Type": "application/json"})

    def send() -> str:
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return "" if json.load(answer)["model_name"] == "null" else "an answer of another model"
    return send


class Traffic:
    """The load behind all of the balancers, from threads of this process. Use as a context manager; its end waits for the calls."""

    def __init__(self, balancers: list[Balancer], expected: Expected, pace: Pace = Pace()) -> None:
        self.calls: list[Call] = []   # appended to by all threads, which the interpreter's lock allows
        self._stop = threading.Event()
        self._channels: list[grpc.Channel] = []
        self._threads = []
        self._unary_clients = 0
        for balancer in balancers:
            channels = [self._open(balancer) for _ in range(2)]
            paced = [("null", pace.null_rate)] * pace.null_clients + [("translation", pace.translation_rate), ("speech", pace.speech_rate)]
            self._unary_clients += len(paced)
            for i, (kind, rate) in enumerate(paced):
                send = self._unary(kind, channels[i % 2], expected)
                self._threads.append(threading.Thread(target=self._repeat, args=(balancer.name, kind, send, 1 / rate, len(self._threads)), daemon=True))
            if balancer.http_port is not None:
                send = _http(balancer.http_port)
                self._threads.append(threading.Thread(target=self._repeat, args=(balancer.name, "http", send, 1 / pace.http_rate, len(self._threads)),
                                                      daemon=True))
            for _ in range(pace.streams):
                send = self._stream(self._open(balancer), expected)
                self._threads.append(threading.Thread(target=self._repeat, args=(balancer.name, "stream", send, 0, len(self._threads)), daemon=True))

    def __enter__(self) -> "Traffic":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(DEADLINE + 10)
        for channel in self._channels:
            channel.close()

    def of(self, balancer: str | None = None, *kinds: str) -> list[Call]:
        """Finished calls of a balancer, or of all, and of these kinds, or of all."""
        return [call for call in list(self.calls) if balancer in (None, call.balancer) and (not kinds or call.kind in kinds)]

    def unary(self, balancer: str | None = None) -> list[Call]:
        return self.of(balancer, "null", "translation", "speech")

    def all_answered_since(self, start: float) -> bool:
        """Whether every client of unary calls over gRPC has finished one that it began after that time: none of them waits for a replica
        that does not answer."""
        return len({call.client for call in self.unary() if call.start > start}) == self._unary_clients

    def _open(self, balancer: Balancer) -> grpc.Channel:
        self._channels.append(balancer.connect())
        return self._channels[-1]

    def _repeat(self, balancer: str, kind: str, send: Callable[[], str], period: float, client: int) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            start = time.monotonic()
            try:
                error = send()
            except grpc.RpcError as failed:
                error = f"{failed.code().name}: {failed.details()}"
            except OSError as failed:   # of HTTP
                error = repr(failed)
            self.calls.append(Call(balancer, kind, start, time.monotonic() - start, error, client))
            due = max(due + period, time.monotonic())
            self._stop.wait(due - time.monotonic())

    def _unary(self, kind: str, channel: grpc.Channel, expected: Expected) -> Callable[[], str]:
        if kind == "null":
            infer, request = kserve_grpc.GRPCInferenceServiceStub(channel).ModelInfer, _null_request()
            return lambda: "" if infer(request, timeout=DEADLINE).raw_output_contents else "an answer without contents"
        if kind == "translation":
            translate, text = translation_grpc.TranslationServiceStub(channel).Translate, _translate_request()
            return lambda: ("" if translate(text, timeout=DEADLINE).translations == expected.translated.translations
                            else "another translation than that of an undisturbed replica")
        speak, words = synthesis_grpc.SynthesisServiceStub(channel).Synthesize, _speak_request()
        return lambda: ("" if len(speak(words, timeout=DEADLINE).audio) == len(expected.spoken.audio)
                        else "audio of another length than that of an undisturbed replica")

    def _stream(self, channel: grpc.Channel, expected: Expected) -> Callable[[], str]:
        def send() -> str:
            sizes = _read_stream(channel, self._stop.wait)
            return "" if sizes == expected.streamed else f"sentences of {sizes} bytes rather than {expected.streamed}"
        return send


def percentile(calls: list[Call], share: float) -> float:
    """Seconds within which that share of the calls was answered."""
    if len(calls) < 2:
        return calls[0].seconds if calls else 0.0
    return statistics.quantiles((call.seconds for call in calls), n=1000, method="inclusive")[min(998, int(share * 1000) - 1)]
