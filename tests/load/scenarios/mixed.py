"""The three demo models under load at once, for the scenarios that look at the process and not at speed."""

from concurrent.futures import ThreadPoolExecutor

from harness import clients
from harness.models import SPEECH, SPEECH_TEXTS, TRANSLATION, TRANSLATION_BACK, TRANSLATION_TEXTS


PATIENT_MS = 300000  # the longest that the daemon accepts


def run_mixed(context, server, *, seconds, rates=None, concurrency=None):
    """All models at once for so long: at fixed rates (calls a second by kind) or with so many calls of each kind in flight.
    Returns the generators' results by kind."""
    kinds = {
        "infer": ("infer", clients.NULL_MODEL, None),
        "translate": ("translate", TRANSLATION, TRANSLATION_TEXTS),
        "translate back": ("translate", TRANSLATION_BACK, TRANSLATION_TEXTS),
        "speech": ("synthesize", SPEECH, SPEECH_TEXTS),
        "speech stream": ("stream-synthesize", SPEECH, SPEECH_TEXTS),
    }

    def one(kind):
        method, model, texts = kinds[kind]
        return clients.loadgen(context, server, method, model, texts=texts, seconds=seconds, deadline_ms=PATIENT_MS,
                               rate=rates and rates[kind], concurrency=concurrency)

    with ThreadPoolExecutor(len(kinds)) as pool:
        futures = {kind: pool.submit(one, kind) for kind in kinds}
        try:
            return {kind: future.result() for kind, future in futures.items()}
        except BaseException:
            clients.kill_running()  # or leaving the pool would wait for the others to the end
            raise
