"""What a proxy of Serve and a replica say to each other about a call, beyond what Serve itself carries.

Serve hands a replica the request alone, and hands back responses without the trailers of a failed call. So a request travels in a `Call`, and
each response in a frame whose first byte tells a message from the end of the call.
"""

import pickle
from typing import NamedTuple

import grpc

Metadata = tuple[tuple[str, str | bytes], ...]

_MESSAGE = b"\x00"
_END = b"\x01"


class Call(NamedTuple):
    """A call as the client sent it. `seconds` are what is left of its deadline, None without one; `body` is empty if requests stream."""
    method: str
    metadata: Metadata
    seconds: float | None
    body: bytes


class End(NamedTuple):
    """How the daemon ended a call; `body` is the response of a unary one."""
    code: grpc.StatusCode
    details: str
    trailers: Metadata
    body: bytes = b""


class Frame:
    """A response that Serve carries as it is: it serializes whatever replicas give by this method of Protobuf's messages."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    def SerializeToString(self) -> bytes:
        return self._data


def message(body: bytes) -> Frame:
    return Frame(_MESSAGE + body)


def end(how: End) -> Frame:
    return Frame(_END + pickle.dumps(tuple(how)))


def read(data: bytes) -> bytes | End:
    """The message in a frame, or the end. Frames come from replicas, which Serve trusts with pickles of its own."""
    if data.startswith(_MESSAGE):
        return data[1:]
    if data.startswith(_END):
        return End(*pickle.loads(data[1:]))
    raise ValueError(f"a frame of a replica begins with {data[:1]!r}; proxy and replica run different versions of millrace_ray")
