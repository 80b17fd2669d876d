"""What clients recorded of each call, and what must be true of it whatever happened to the server."""

import collections
import dataclasses
import re
import threading
import time

# How late a client may learn that its deadline has passed.
SLACK_SECONDS = 1.0


@dataclasses.dataclass
class Call:
    """A call, as its client saw it."""
    kind: str
    number: int               # of the request among those of its kind
    deadline: float           # seconds of the monotonic clock
    leaves: bool = False      # the client goes away before the end
    network_fails: bool = False   # its connection may end, or say nothing more
    chunks: list[tuple[float, object]] = dataclasses.field(default_factory=list)
    statuses: list[tuple[float, str, str]] = dataclasses.field(default_factory=list)   # time, code, words

    def heard(self, chunk: object) -> None:
        self.chunks.append((time.monotonic(), chunk))

    def ended(self, code: str, words: str = "") -> None:
        self.statuses.append((time.monotonic(), code, words))

    def joined(self) -> object:
        """What all chunks say together: bytes, or the text of each index."""
        if self.chunks and isinstance(self.chunks[0][1], tuple):
            texts: dict[int, str] = collections.defaultdict(str)
            for _, (index, text) in self.chunks:
                texts[index] += text
            return dict(texts)
        return b"".join(chunk for _, chunk in self.chunks)


def is_prefix(part: object, whole: object) -> bool:
    if not part:
        return True
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(whole.get(index, "").startswith(text) for index, text in part.items())
    return isinstance(whole, bytes) and whole.startswith(part)


class History:
    """All calls of a run. Clients on any thread add theirs."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._lock = threading.Lock()

    def begin(self, kind: str, number: int, seconds: float, leaves: bool = False, network_fails: bool = False) -> Call:
        call = Call(kind, number, time.monotonic() + seconds, leaves, network_fails)
        with self._lock:
            self.calls.append(call)
        return call

    def convictions(self) -> list[str]:
        """The crashes for which requests were convicted: a fault from outside has hit two of their steps."""
        return [found[1] for call in self.calls for _, code, words in call.statuses if code == "INTERNAL"
                and (found := re.fullmatch(r"the request ended two executors of model '.*' \(.*\); crash (executor-\d+)", words))]

    def violations(self, undisturbed: dict[tuple[str, int], object], blaming_faults: int = 0) -> list[str]:
        """What is wrong, a line each. `undisturbed` has what each request gives when nothing goes wrong. The server cannot know that
        `blaming_faults` were not the doing of the requests that were in a step: each may convict one, whose copies are refused."""
        wrong = []
        convictions = self.convictions()
        if len(convictions) > blaming_faults or len(set(convictions)) < len(convictions):
            wrong.append(f"{len(convictions)} requests were convicted for {blaming_faults} faults: {convictions}")
        for call in self.calls:
            name = f"{call.kind} {call.number}"
            expected = undisturbed[call.kind, call.number]
            if len(call.statuses) != 1:
                wrong.append(f"{name}: has {len(call.statuses)} final statuses")
                continue
            ended, code, words = call.statuses[0]
            if call.chunks and call.chunks[-1][0] > ended:
                wrong.append(f"{name}: a chunk came after the status")
            if ended > call.deadline + SLACK_SECONDS:
                wrong.append(f"{name}: ended {ended - call.deadline:.1f} s after its deadline")
            if call.leaves:
                if not is_prefix(call.joined(), expected):
                    wrong.append(f"{name}: what came before the client left is not the beginning of the answer")
            elif code != "OK":
                crash = re.search(r"crash (executor-\d+)", words)
                if call.network_fails and code in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
                    pass
                elif code not in ("INTERNAL", "INVALID_ARGUMENT") or crash is None or crash[1] not in convictions:
                    wrong.append(f"{name}: {code}: {words}")
                if not is_prefix(call.joined(), expected):
                    wrong.append(f"{name}: what came before the failure is not the beginning of the answer")
            elif call.joined() != expected:
                wrong.append(f"{name}: has a gap, a repeat or other contents")
        return wrong

    def summary(self) -> str:
        kinds: dict[str, list[Call]] = collections.defaultdict(list)
        for call in self.calls:
            kinds[call.kind].append(call)
        return ", ".join(f"{len(calls)} {kind} ({sum(call.statuses[0][1] == 'OK' for call in calls if call.statuses)} OK)"
                         for kind, calls in sorted(kinds.items()))
