"""Three replicas behind each of the configurations of deploy/: what users notice while replicas come, go, crash and freeze."""

import contextlib
import os

import pytest
from daemon import BINARY, MODELS
from fleet import balancers, faults, programs
from fleet.balancers import ALL
from fleet.process import free_ports, wait_for
from fleet.replica import Replica
from fleet.traffic import Expected, Traffic
from fleet.traffic import MODELS as SERVED

MISSING = [name for name in ("envoy", "haproxy", "nginx") if programs.find(name) is None]
# Where changes are gated (CI is set) a skip would go unnoticed.
pytestmark = pytest.mark.skipif(bool(MISSING) and "CI" not in os.environ, reason=f"not installed: {', '.join(MISSING)}")
UNARY_CALLS = 10_000


class Run:
    """What a run of all faults has left: the calls of all clients, and when each fault was."""

    def __init__(self) -> None:
        self.journal = faults.Journal()
        self.traffic: Traffic | None = None

    def phase(self, name: str) -> faults.Phase:
        return next(phase for phase in self.journal.phases if phase.name == name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fleet")


@pytest.fixture(scope="module")
def replicas(folder):
    models = folder / "models"
    models.mkdir()
    for name in SERVED:
        (models / name).symlink_to(MODELS / name)
    ports = free_ports(9)
    fleet = [Replica(i, ports[3 * i:3 * i + 3], BINARY, models, folder) for i in range(3)]
    yield fleet
    for replica in fleet:
        replica.stop()


@pytest.fixture(scope="module")
def run(replicas, folder):
    """All balancers at once, each with clients of its own, in front of one fleet, so that each fault is waited for only once."""
    with contextlib.ExitStack() as stack:
        faults.start_apart(replicas[:2])
        fronts = []
        for make in ALL.values():
            fronts.append(make(replicas, folder))
            stack.callback(fronts[-1].stop)
        for front in fronts:
            with front.connect() as channel:
                wait_for(f"{front.name} serves", lambda c=channel: faults.is_served(c))
        with balancers.client_side(replicas, folder).connect() as channel:
            expected = Expected(channel)
        run = Run()
        with Traffic(fronts, expected) as run.traffic:
            for front in fronts:
                faults.reached(front, 2)
            run.journal.run("scale up", lambda: faults.scale_up(replicas[2]))
            for front in fronts:
                faults.reached(front, 3)
            run.journal.run("rolling restart", lambda: faults.rolling_restart(replicas, fronts))
            run.journal.run("kill", lambda: faults.kill_and_replace(replicas[0]))
            run.journal.run("freeze", lambda: faults.freeze_and_thaw(replicas[1], run.traffic))
            for front in fronts:
                faults.reached(front, 3)
            wait_for(f"{UNARY_CALLS} calls", lambda: len(run.traffic.unary()) >= UNARY_CALLS, 120)
            for front in fronts:
                front.check_runs()
    return run


@pytest.mark.parametrize("balancer", ALL)
def test_no_unary_call_fails(run, balancer):
    calls = run.traffic.unary(balancer)
    failed = [f"{call.kind} {call.error}, {describe(run, call)}" for call in calls if call.error]
    assert len(calls) >= UNARY_CALLS / len(ALL) / 2
    assert failed == []


@pytest.mark.parametrize("balancer", [name for name in ALL if name != "client-side"])
def test_no_http_call_fails(run, balancer):
    calls = run.traffic.of(balancer, "http")
    assert len(calls) >= 50
    assert [f"{call.error}, {describe(run, call)}" for call in calls if call.error] == []


def test_there_were_enough_calls_of_each_kind(run):
    assert len(run.traffic.unary()) >= UNARY_CALLS
    for balancer in ALL:
        for kind in ("translation", "speech", "stream"):
            assert len(run.traffic.of(balancer, kind)) >= 5, f"{kind} through {balancer}"


@pytest.mark.parametrize("balancer", ALL)
def test_planned_restart_cuts_no_stream(run, balancer):
    """Streams that end before the first replica is killed; each takes part in a restart or begins just before or after one."""
    killed = run.phase("kill").start
    streams = [call for call in run.traffic.of(balancer, "stream") if call.end < killed]
    restart = run.phase("rolling restart")
    assert sum(restart.start < call.end < restart.end for call in streams) >= 3
    assert [f"{call.error}, {describe(run, call)}" for call in streams if call.error] == []


@pytest.mark.parametrize("balancer", ALL)
def test_stream_of_a_dead_or_frozen_replica_ends_and_the_next_ones_succeed(run, balancer):
    """An error within seconds is what a client can act on, rather than silence."""
    killed = run.phase("kill").start
    streams = [call for call in run.traffic.of(balancer, "stream") if call.end >= killed]
    cut = [call for call in streams if call.error]
    assert len(cut) <= 3   # one stream at a time, of which two replicas that fail cut at most one each, or a frozen one two
    assert max(call.seconds for call in streams) < faults.FROZEN_SECONDS + 10
    assert streams[-1].error == ""


def describe(run, call):
    during = [phase.name for phase in run.journal.phases if call.start < phase.end and call.end > phase.start]
    return f"after {call.seconds:.1f} s, during {' and '.join(during) or 'no fault'}"
