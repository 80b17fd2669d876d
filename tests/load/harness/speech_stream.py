"""One StreamSynthesize call, message by message, for what the generator in C++ does not do: readers that pause. gRPC is imported late, as
only this needs it."""

import sys
import time
from pathlib import Path

from harness.clients import LoadFailed

_SAMPLE_BYTES = 2
_TESTS_OVER_THE_WIRE = str(Path(__file__).resolve().parents[2] / "integration")


def read_stream(server, model, text, deadline_s, after_message):
    """Reads the speech of a text to its end. after_message(share of the text that was begun) is called with each message and may take its
    time. Returns seconds: until the first audio, all, and of audio."""
    import grpc
    if _TESTS_OVER_THE_WIRE not in sys.path:
        sys.path.append(_TESTS_OVER_THE_WIRE)
    from wire.stubs import synthesis, synthesis_grpc

    request = synthesis.SynthesizeRequest(model=model, text=text)
    start = time.monotonic()
    first = None
    characters = audio = 0
    # Without probes the client's window stays at 64 KiB: a reader that pauses is felt soon.
    with grpc.insecure_channel(server.address, options=[("grpc.http2.bdp_probe", 0)]) as channel:
        try:
            for message in synthesis_grpc.SynthesisServiceStub(channel).StreamSynthesize(request, timeout=deadline_s):
                if message.audio and first is None:
                    first = time.monotonic() - start
                audio += len(message.audio) / _SAMPLE_BYTES / message.sample_rate
                characters += len(message.text)
                after_message(characters / len(text))
        except grpc.RpcError as error:
            raise LoadFailed(f"StreamSynthesize of {len(text)} characters on {model}: {error.code().name}: {error.details()}") from None
    return {"first_s": first, "wall_s": time.monotonic() - start, "audio_s": audio}
