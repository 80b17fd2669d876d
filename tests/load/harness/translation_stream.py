"""StreamTranslate as its words are decided, message by message. gRPC is imported late, as only this needs it."""

import sys
import time
from pathlib import Path

from harness.clients import LoadFailed

_TESTS_OVER_THE_WIRE = str(Path(__file__).resolve().parents[2] / "integration")


def first_words(server, model, texts, deadline_s, target_tokens=None):
    """Of each text, asked for one after another, seconds: until the first words by StreamTranslate, until its end, and by Translate.
    target_tokens: how many each translation is to have; None: as many as the model finds."""
    import grpc
    if _TESTS_OVER_THE_WIRE not in sys.path:
        sys.path.append(_TESTS_OVER_THE_WIRE)
    from wire.stubs import translation, translation_grpc

    search = {"min_target_tokens": target_tokens, "max_target_tokens": target_tokens} if target_tokens else {}
    times = []
    with grpc.insecure_channel(server.address) as channel:
        stub = translation_grpc.TranslationServiceStub(channel)
        for text in texts:
            asked = {"model": model, "texts": [text], "search": search}
            try:
                start = time.monotonic()
                first, streamed = None, ""
                for message in stub.StreamTranslate(translation.TranslateRequest(**asked, partial=True), timeout=deadline_s):
                    if message.text and first is None:
                        first = time.monotonic() - start
                    streamed += message.text
                end = time.monotonic() - start
                start = time.monotonic()
                whole = stub.Translate(translation.TranslateRequest(**asked), timeout=deadline_s).translations[0].text
                times.append((first, end, time.monotonic() - start))
            except grpc.RpcError as error:
                raise LoadFailed(f"translating {len(text)} characters on {model}: {error.code().name}: {error.details()}") from None
            if streamed != whole:
                raise LoadFailed(f"StreamTranslate on {model} gave {streamed!r}, Translate {whole!r}")
    return times
