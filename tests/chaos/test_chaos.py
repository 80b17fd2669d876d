"""Executors fail every second or two in all ways under load of all kinds, and what every client gets is what it would have got.

CHAOS_SECONDS is how long each test injects faults: 5 in the gate, an hour or more by hand. CHAOS_SEED chooses the faults."""

import contextlib
import os
import pathlib
import random
import shutil
import threading
import time
from collections.abc import Iterator

import faults
import grpc
import pytest
import surroundings
from clients import CHANGING, Clients
from history import History
from wire import daemon as daemons
from wire import limits, repository
from wire.daemon import Daemon
from wire.executors import serving_executors
from wire.paths import BINARY, EN_PT, NULL, VOICE, WITH_FAILPOINTS
from wire.polling import eventually
from wire.requests import PATIENCE, null_request
from wire.stubs import admin

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="faults are injected by means of Linux")

SECONDS = float(os.environ.get("CHAOS_SECONDS", "5"))
SEED = int(os.environ.get("CHAOS_SEED", "1"))


@contextlib.contextmanager
def server(folder, binary: pathlib.Path = BINARY, **environment: str) -> Iterator[Daemon]:
    models = repository.link(folder / "models", NULL, EN_PT, VOICE)
    repository.copy(models, EN_PT, CHANGING)
    with daemons.start(folder, "--workers", "2", "--executors", "2", "--spare-executors", "1", "--executor-step-timeout", "2s",
                       "--crash-directory", folder / "crashes", models=models, binary=binary, **environment) as daemon:
        yield daemon


def resident_bytes(daemon: Daemon) -> float:
    return daemon.metrics().total("process_resident_memory_bytes")


def finish(daemon: Daemon, clients: Clients, history: History, expected: dict, counts: dict[str, int]) -> None:
    """counts: the faults from outside; none if the programs fail by themselves."""
    clients.stop()
    metrics = daemon.metrics()
    deaths = {labels["cause"]: int(count) for labels, count in metrics.matching("millrace_executor_deaths_total")}
    print(f"\n{history.summary()}\nfaults: {counts}\ndeaths: {deaths}, "
          f"replays: {int(metrics.total('millrace_requests_replayed_total'))}, "
          f"convicted: {int(metrics.total('millrace_requests_convicted_total'))}")
    blaming = sum(counts.get(fault.__name__, 0) for fault in faults.BLAMING) if counts else sum(deaths.values())
    wrong = history.violations(expected, blaming)
    assert not wrong, "\n".join(wrong)
    assert len(history.calls) > SECONDS
    assert daemon.process.poll() is None
    daemon.wait_until_idle(PATIENCE)
    eventually("all serve again", lambda: daemon.metrics().total("millrace_executors", state="serving") == 2, PATIENCE)


def test_executors_are_killed_each_second(tmp_path):
    with server(tmp_path) as daemon:
        clients, history = Clients(daemon), History()
        expected = clients.undisturbed()
        for kind in clients.kinds:
            clients.start(history, kind, rest=1)
        counts = faults.inject(daemon, SECONDS, [faults.kill], SEED)
        finish(daemon, clients, history, expected, counts)
        assert daemon.metrics().total("millrace_executor_deaths_total", cause="killed") >= SECONDS / 2


def test_programs_fail_by_themselves(tmp_path):
    """In the midst of what they do, which no fault from outside hits for certain."""
    (tmp_path / "calm").mkdir()
    with server(tmp_path / "calm") as daemon:
        expected = Clients(daemon).undisturbed()
    failpoints = ("executor.forward=segv:0.002 executor.forward=abort:0.002 executor.forward=hang:0.001 executor.forward=sticky:0.002 "
                  "executor.answer=garbage:0.002 executor.answer=segv:0.002 executor.ping=garbage:0.02 front.step=garbage:0.002")
    with server(tmp_path, binary=WITH_FAILPOINTS, FAILPOINTS=failpoints) as daemon:
        clients, history = Clients(daemon), History()
        for kind in clients.kinds:
            clients.start(history, kind, rest=1)
        time.sleep(SECONDS)   # the programs fail for so long
        finish(daemon, clients, history, expected, {})


def test_a_message_over_its_limit_ends_its_executor(tmp_path):
    with server(tmp_path) as daemon:
        faults.say_a_message_over_its_limit(serving_executors(daemon)[0])
        eventually("it is dead", lambda: daemon.metrics().total("millrace_executor_deaths_total", cause="protocol") == 1, PATIENCE)
        assert "a message has a header of 2147483648 bytes; at most 67108864 are allowed" in daemon.log_text()
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_executors_fail_in_all_ways_while_clients_misbehave(tmp_path):
    with server(tmp_path) as daemon:
        clients, history = Clients(daemon), History()
        expected = clients.undisturbed()
        before = resident_bytes(daemon)
        for kind in clients.kinds:
            clients.start(history, kind, rest=1)
        for kind in ("stream speech", "stream translation"):
            clients.start(history, kind, rest=1, leaves_after=2)
        clients.start_deaf(2)
        done = threading.Event()
        failures = []

        def load_versions() -> None:
            """Each version has the same weights, so that answers are the same."""
            versions = tmp_path / "models" / CHANGING
            for version in range(2, 1000):
                if done.wait(3):
                    return
                shutil.copytree(versions / str(version - 1), versions / str(version))
                try:
                    daemon.admin.LoadModel(admin.LoadModelRequest(model=CHANGING), timeout=PATIENCE)
                except grpc.RpcError as error:   # judged below
                    failures.append(error.details())
        loader = threading.Thread(target=load_versions)
        loader.start()
        counts = faults.inject(daemon, SECONDS, faults.ALL, SEED, interval=2)
        done.set()
        loader.join()
        finish(daemon, clients, history, expected, counts)
        assert all("an executor died while it loaded model" in failure for failure in failures), failures
        daemon.admin.LoadModel(admin.LoadModelRequest(model=CHANGING), timeout=PATIENCE)
        assert resident_bytes(daemon) < before * 1.5 + (64 << 20)


def test_limits_network_and_clock_fail(tmp_path):
    """Clients with connections of their own notice nothing. Those behind a bad network get the beginning of their answers, or all."""
    clock = surroundings.MovedClock(tmp_path)
    with server(tmp_path, **clock.environment()) as daemon, contextlib.closing(surroundings.Proxy(daemon.ports["grpc"])) as proxy:
        clients, history = Clients(daemon), History()
        expected = clients.undisturbed()
        far = Daemon(daemon.process, daemon.log, daemon.ports | {"grpc": proxy.port})
        behind_proxy = Clients(far, deadline=10, network_fails=True)
        for kind in clients.kinds:
            clients.start(history, kind, rest=1)
            behind_proxy.start(history, kind, rest=1)
        choice = random.Random(SEED)

        def kill_one() -> None:
            faults.kill(choice.choice(serving_executors(daemon)))

        def kill_one_under(limit: contextlib.AbstractContextManager[None]) -> None:
            victim = choice.choice(serving_executors(daemon))
            with limit:
                faults.kill(victim)
                time.sleep(1)   # the fault lasts so long

        def without_descriptors() -> None:
            kill_one_under(limits.without_descriptors(daemon.process.pid))

        def with_a_full_disk() -> None:
            kill_one_under(limits.with_a_full_disk(daemon.process.pid))

        def slow_network() -> None:
            proxy.set_delay(0.02)
            time.sleep(1)   # the fault lasts so long
            proxy.set_delay(0)

        def kill_child() -> None:
            """Of an executor: what finds the sounds of words."""
            if found := [child for executor in serving_executors(daemon) for child in surroundings.children(executor)]:
                faults.kill(choice.choice(found))

        def clock_jumps() -> None:
            clock.jump(choice.choice([-7200, -60, 60, 3600, 86400]))

        every = [kill_one, without_descriptors, with_a_full_disk, slow_network, kill_child, clock_jumps, proxy.reset, proxy.cut_half]
        counts = {disturb.__name__: 0 for disturb in every}
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for disturb in choice.sample(every, len(every)):
                with contextlib.suppress(IndexError, ProcessLookupError):   # no executor is there, or it ended meanwhile
                    disturb()
                    counts[disturb.__name__] += 1
                time.sleep(0.3)
        behind_proxy.stop()
        far.close()
        finish(daemon, clients, history, expected, counts)
