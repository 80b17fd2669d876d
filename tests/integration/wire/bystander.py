"""A well-behaved client beside the one that a test is about."""

import threading

import grpc

from .daemon import Daemon
from .paths import NULL
from .polling import eventually
from .requests import PATIENCE, null_request
from .stubs import kserve_grpc


class Bystander:
    """Calls the null model again and again on a connection of its own, and checks each answer, until the with block ends."""

    def __init__(self, daemon: Daemon) -> None:
        self.calls = 0
        self.failure = ""
        self._channel = daemon.connect()
        self._stub = kserve_grpc.GRPCInferenceServiceStub(self._channel)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Bystander":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._channel.close()
        assert not self.failure, f"another request noticed: {self.failure}"

    def wait_for_calls(self, count: int) -> None:
        eventually("another client gets its answers", lambda: self.failure or self.calls >= count, PATIENCE)

    def _run(self) -> None:
        while not self._stop.is_set() and not self.failure:
            request = null_request([float(self.calls)] * 64)
            try:
                answer = self._stub.ModelInfer(request, timeout=PATIENCE)
                if answer.raw_output_contents[0] != request.raw_input_contents[0]:
                    self.failure = f"{NULL} gave other values"
            except grpc.RpcError as error:
                self.failure = f"{error.code().name}: {error.details()}"
            self.calls += 1
