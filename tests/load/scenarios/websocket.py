"""How soon a text that is still being written is heard over a WebSocket, against the same over gRPC, and what idle WebSockets take."""

import contextlib
import json
import statistics
import sys
import time
from pathlib import Path

from harness import machine
from harness.context import interleaved, median, spread
from harness.models import SPEECH
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
# Comes a word at a time; the first sentence is known to have ended once the second has begun.
PIECES = [word + " " for word in "The children were playing in the garden behind the old house. Then it began to rain.".split()]
TEXTS = 40  # of each kind in a trial, in turn
IDLE = 500
_TESTS_OVER_THE_WIRE = str(Path(__file__).resolve().parents[2] / "integration")


def first_over_grpc(stub, synthesis):
    """Seconds from the first word to the first audio."""
    def requests():
        yield synthesis.SynthesizeTextStreamRequest(config=synthesis.SynthesizeRequest(model=SPEECH, word_times=True))
        for piece in PIECES:
            yield synthesis.SynthesizeTextStreamRequest(text=piece)

    start = time.monotonic()
    first = None
    for message in stub.SynthesizeTextStream(requests(), timeout=60):
        if message.audio and first is None:
            first = time.monotonic() - start
    return first


def first_over_websocket(socket, context):
    start = time.monotonic()
    first = None
    for piece in PIECES:
        socket.send(json.dumps({"text": piece, "context_id": context}))
    socket.send(json.dumps({"context_id": context, "flush": True}))
    socket.send(json.dumps({"context_id": context, "close_context": True}))
    while True:
        message = json.loads(socket.recv(timeout=60))
        if message["audio"] and first is None:
            first = time.monotonic() - start
        if message["isFinal"]:
            return first


def run(context):
    import grpc
    from websockets.sync.client import connect
    if _TESTS_OVER_THE_WIRE not in sys.path:
        sys.path.append(_TESTS_OVER_THE_WIRE)
    from wire.stubs import synthesis, synthesis_grpc

    server = start_millrace(context, "millrace-websocket")
    url = f"ws://127.0.0.1:{server.ports['http']}/v1/text-to-speech/joe/multi-stream-input?output_format=pcm_22050&inactivity_timeout=180"

    def trial(_):
        seconds = {"gRPC": [], "WebSocket": []}
        with grpc.insecure_channel(server.address) as channel, connect(url, compression=None) as socket:
            stub = synthesis_grpc.SynthesisServiceStub(channel)
            for i in range(TEXTS):
                turns = [("gRPC", lambda: first_over_grpc(stub, synthesis)), ("WebSocket", lambda i=i: first_over_websocket(socket, str(i)))]
                for kind, speak in turns if i % 2 == 0 else reversed(turns):
                    seconds[kind].append(speak())
        return {kind: statistics.median(values) * 1000 for kind, values in seconds.items()}

    def idle(_):
        before = machine.memory_mib(server.pid)["private"]
        with contextlib.ExitStack() as stack:
            for _ in range(IDLE):
                stack.enter_context(connect(url, compression=None))
            context.settle()
            return {"MiB": machine.memory_mib(server.pid)["private"] - before}

    trial("warm")
    first = interleaved(context, ["first audio"], trial)["first audio"]
    memory = interleaved(context, ["idle"], idle)["idle"]
    ratio = median(first, "WebSocket") / median(first, "gRPC")
    taken = memory[0]["MiB"]  # later connections find memory that the first ones have left
    return Result(
        title="Speech over WebSockets",
        about=f"A text of {len(PIECES)} words that comes a word at a time, from its first word to the first audio: {TEXTS} over SynthesizeTextStream and "
              f"{TEXTS} over ElevenLabs' multi-stream-input in turn, from one client in Python. Then {IDLE} idle connections.",
        columns=["over", "first audio p50 ms", "lowest-highest"],
        rows=[[kind, f"{median(first, kind):.1f}", spread(first, kind)] for kind in ("gRPC", "WebSocket")],
        bars=[Bar("first audio over a WebSocket, of that over gRPC", f"{ratio:.2f}x", "<= 1.1x", ratio <= 1.1),
              Bar(f"private memory of {IDLE} idle WebSockets", f"{taken:.1f} MiB", "<= 20 MB", taken <= 20e6 / 2**20)],
        plots=[],
        trials={"first audio": first, "idle": memory})
