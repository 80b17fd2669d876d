"""What is done to a fleet under load, and when."""

import dataclasses
import time
from collections.abc import Callable

import grpc
from wire.stubs import admin, admin_grpc

from .balancers import Balancer
from .process import wait_for
from .replica import Replica
from .traffic import Traffic

# At most: longer than each balancer takes to see that a replica does not answer, and shorter than the deadline of those that wait.
FROZEN_SECONDS = 20
DEAD_SECONDS = 2
# Between the starts of any two replicas.
APART_SECONDS = 0.5


@dataclasses.dataclass(frozen=True)
class Phase:
    """A fault with its time by time.monotonic."""
    name: str
    start: float
    end: float


class Journal:
    """The phases of a run in their order."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []

    def run(self, name: str, fault: Callable[[], object]) -> Phase:
        start = time.monotonic()
        fault()
        self.phases.append(Phase(name, start, time.monotonic()))
        return self.phases[-1]


def reached(balancer: Balancer, replicas: int, seconds: float = 30) -> None:
    """Waits until calls behind the balancer reach that many replicas, which are told apart by the time at which they were started."""
    starts: list[float] = []

    def all_reached() -> bool:
        # A connection of its own each time: a proxy may keep to one replica for a connection.
        with balancer.connect() as channel:
            stub = admin_grpc.AdminServiceStub(channel)
            for _ in range(4 * replicas):
                sent = time.monotonic()
                try:
                    answer = stub.GetServerInfo(admin.GetServerInfoRequest(), timeout=10, wait_for_ready=True)
                except grpc.RpcError:
                    continue   # failures count where the load is; this one only looks
                if time.monotonic() - sent < APART_SECONDS / 2:
                    starts.append(time.monotonic() - answer.uptime_seconds)
        starts.sort()
        return 1 + sum(later - earlier > APART_SECONDS for earlier, later in zip(starts, starts[1:])) >= replicas
    wait_for(f"calls through {balancer.name} reach {replicas} replicas", all_reached, seconds)


def start_apart(replicas: list[Replica]) -> None:
    """Starts replicas one after the other, so that `reached` can tell them apart."""
    for replica in replicas:
        replica.start()
        replica.wait_until_ready()
        time.sleep(APART_SECONDS)


def scale_up(replica: Replica) -> None:
    replica.start()
    replica.wait_until_ready()
    replica.wait_until_served()


def rolling_restart(replicas: list[Replica], balancers: list[Balancer]) -> None:
    for replica in replicas:
        for balancer in balancers:
            balancer.take_out(replica)
        replica.restart()
        for balancer in balancers:
            balancer.put_back(replica)
        replica.wait_until_served()


def kill_and_replace(replica: Replica) -> None:
    replica.kill()
    time.sleep(DEAD_SECONDS)
    replica.start()
    replica.wait_until_ready()
    replica.wait_until_served()


def freeze_and_thaw(replica: Replica, traffic: Traffic) -> None:
    """Thaws it only when no unary call over gRPC waits for it any more, though in the first second many were sent to it."""
    replica.freeze()
    try:
        began = time.monotonic() + 1
        wait_for("calls on a frozen replica are repeated elsewhere", lambda: traffic.all_answered_since(began), FROZEN_SECONDS)
    finally:
        replica.thaw()
    replica.wait_until_served()


def is_served(channel: grpc.Channel) -> bool:
    try:
        admin_grpc.AdminServiceStub(channel).ListModels(admin.ListModelsRequest(), timeout=5, wait_for_ready=True)
    except grpc.RpcError:
        return False
    return True
