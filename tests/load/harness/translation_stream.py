"""Translation calls, message by message. gRPC is imported late, as only this needs it."""

import sys
import time
from pathlib import Path

from harness.clients import LoadFailed

_TESTS_OVER_THE_WIRE = str(Path(__file__).resolve().parents[2] / "integration")


class TranslationClient:
    """A connection with one call at a time. `fields` are those of a TranslateRequest. Use as a context manager."""

    def __init__(self, server):
        import grpc
        if _TESTS_OVER_THE_WIRE not in sys.path:
            sys.path.append(_TESTS_OVER_THE_WIRE)
        from wire.stubs import translation, translation_grpc
        self._error = grpc.RpcError
        self._request = translation.TranslateRequest
        self._channel = grpc.insecure_channel(server.address)
        self._stub = translation_grpc.TranslationServiceStub(self._channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._channel.close()

    def stream(self, deadline_s, **fields):
        """Milliseconds until the first sentence that was translated and until the end, and the whole text."""
        request = self._request(**fields)
        start = time.monotonic()
        first, text = None, []
        try:
            for message in self._stub.StreamTranslate(request, timeout=deadline_s):
                if first is None and message.sentence_finished and message.target_tokens:
                    first = time.monotonic() - start
                text.append(message.text)
        except self._error as error:
            raise LoadFailed(f"StreamTranslate: {error.code().name}: {error.details()}") from None
        return {"first_ms": 1000 * first, "end_ms": 1000 * (time.monotonic() - start), "text": "".join(text)}

    def whole(self, deadline_s, **fields):
        """Milliseconds until the reply of Translate, and its only text."""
        request = self._request(**fields)
        start = time.monotonic()
        try:
            reply = self._stub.Translate(request, timeout=deadline_s)
        except self._error as error:
            raise LoadFailed(f"Translate: {error.code().name}: {error.details()}") from None
        return {"end_ms": 1000 * (time.monotonic() - start), "text": reply.translations[0].text}
