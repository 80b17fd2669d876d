"""What the judge of histories sees."""

import pytest
from history import Call, History

TEXTS = {("stream", 0): {0: "One. Two.", 1: "Three."}, ("speak", 0): b"abcdef"}
CONVICTED = "the request ended two executors of model 'voice' (signal SIGSEGV); crash executor-7"
REFUSED = "text: an equal request ended two executors (crash executor-7); it is refused for an hour"


def add(history: History, chunks: list[object], code: str = "OK", words: str = "", kind: str = "speak", seconds: float = 60, leaves: bool = False,
        network_fails: bool = False) -> Call:
    call = history.begin(kind, 0, seconds, leaves, network_fails)
    for chunk in chunks:
        call.heard(chunk)
    call.ended(code, words)
    return call


@pytest.mark.parametrize(("call", "words"), [
    ({"chunks": [b"abc", b"def"]}, None),
    ({"chunks": [(0, "One. "), (1, "Three."), (0, "Two.")], "kind": "stream"}, None),
    ({"chunks": [b"abc"], "leaves": True, "code": "CANCELLED"}, None),
    ({"chunks": [b"abc", b"ef"]}, "speak 0: has a gap, a repeat or other contents"),
    ({"chunks": [b"abc", b"cdef"]}, "speak 0: has a gap, a repeat or other contents"),
    ({"chunks": [b"abc"]}, "speak 0: has a gap, a repeat or other contents"),
    ({"chunks": [(0, "One. "), (0, "One. Two."), (1, "Three.")], "kind": "stream"}, "stream 0: has a gap, a repeat or other contents"),
    ({"chunks": [b"bc"], "leaves": True, "code": "CANCELLED"}, "speak 0: what came before the client left is not the beginning of the answer"),
    ({"chunks": [], "code": "UNAVAILABLE", "words": "x"}, "speak 0: UNAVAILABLE: x"),
    ({"chunks": [b"ab"], "code": "UNAVAILABLE", "network_fails": True}, None),
    ({"chunks": [], "code": "DEADLINE_EXCEEDED", "network_fails": True}, None),
    ({"chunks": [b"bc"], "code": "UNAVAILABLE", "network_fails": True},
     "speak 0: what came before the failure is not the beginning of the answer"),
    ({"chunks": [], "code": "INTERNAL", "words": "x", "network_fails": True}, "speak 0: INTERNAL: x"),
    ({"chunks": [b"abcdef"], "seconds": -2}, "speak 0: ended 2.0 s after its deadline"),
    ({"chunks": [], "code": "INVALID_ARGUMENT", "words": REFUSED}, f"speak 0: INVALID_ARGUMENT: {REFUSED}"),
])
def test_each_violation_is_seen(call, words):
    history = History()
    add(history, **call)
    assert history.violations(TEXTS) == ([] if words is None else [words])


def test_statuses_are_counted_and_nothing_comes_after_one():
    history = History()
    twice = add(history, [b"abcdef"])
    twice.ended("OK")
    late = add(history, [b"abc"])
    late.heard(b"def")
    assert history.violations(TEXTS) == ["speak 0: has 2 final statuses", "speak 0: a chunk came after the status"]


def test_a_fault_convicts_one_request_and_refuses_its_copies():
    history = History()
    add(history, [b"ab"], "INTERNAL", CONVICTED)
    add(history, [], "INVALID_ARGUMENT", REFUSED)
    assert history.violations(TEXTS, blaming_faults=1) == []
    assert len(history.violations(TEXTS)) == 1
    add(history, [], "INTERNAL", CONVICTED)
    assert len(history.violations(TEXTS, blaming_faults=2)) == 1
