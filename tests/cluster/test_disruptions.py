"""What a node that is taken away, an eviction and a replica that stops do to the replicas and to their endpoints."""

import pytest
from daemon import wait_for
from release import FULL_NAME, is_ready

HEADLESS = f"{FULL_NAME}-headless"
NODES = ["a1", "a2", "b1"]


@pytest.fixture
def cordoned(release):
    """No pod is scheduled during a test, so that one that is evicted is not replaced."""
    release.upgrade()
    release.wait_for_budget(1)
    release.kubectl("cordon", *NODES)
    yield
    release.kubectl("uncordon", *NODES)


def test_budget_allows_one_eviction_and_refuses_the_next(release, cordoned):
    first, second, _ = release.pods()
    assert release.evict(first) == 201
    assert release.evict(second) == 429
    wait_for("the first one is gone", lambda: first.metadata.uid not in release.uids())
    release.wait_for_budget(0)
    assert release.evict(second) == 429
    release.kubectl("uncordon", *NODES)
    release.wait_for_budget(1)   # its replacement is ready
    assert release.evict(second) == 201


def test_broken_replica_is_evicted_although_the_budget_is_used_up(release, cordoned):
    broken, healthy, _ = release.pods()
    release.break_pod(broken)
    release.wait_for_budget(0)
    assert release.evict(healthy) == 429
    assert release.evict(broken) == 201


def test_budget_of_a_percentage_grows_with_the_replicas(release):
    release.upgrade("--set", "replicaCount=6,podDisruptionBudget.maxUnavailable=30%")
    release.wait_for_budget(2)


def test_drain_moves_the_replicas_one_at_a_time(release):
    release.upgrade("--set", "replicaCount=6")
    release.wait_for_budget(1)
    assert release.nodes().count("a1") == 2
    history = release.history()
    try:
        release.kubectl("drain", "a1", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=120s")
        release.wait_for_rollout()
    finally:
        release.kubectl("uncordon", "a1")
    assert len(release.pods()) == 6 and "a1" not in release.nodes()
    serving = [sum(map(is_ready, pods)) for pods in history.moments()]
    assert min(serving) == 5 and serving[-1] == 6


@pytest.mark.parametrize(("service", "ports"), [(FULL_NAME, {"grpc": 8001, "http": 8000}), (HEADLESS, {"grpc": 8001, "http": 8000, "metrics": 8002})])
def test_service_lists_all_ready_replicas(release, service, ports):
    release.upgrade()

    def serving() -> set[str]:
        return {address for endpoint in release.endpoints(service) if endpoint.conditions.ready for address in endpoint.addresses}

    assert wait_for("three endpoints", lambda: len(serving()) == 3 and serving()) == {pod.status.pod_ip for pod in release.pods()}
    slices = release.cluster.discovery.list_namespaced_endpoint_slice(release.namespace, label_selector=f"kubernetes.io/service-name={service}").items
    assert all({port.name: port.port for port in part.ports} == ports for part in slices)
    assert {endpoint.zone for endpoint in release.endpoints(service)} == {"a", "b"}
    release.upgrade("--set", "replicaCount=5")
    wait_for("five endpoints", lambda: serving() == {pod.status.pod_ip for pod in release.pods()} and len(serving()) == 5)


def test_replica_that_is_broken_or_stops_gets_no_new_calls(release):
    release.upgrade()
    broken, stopping, working = release.pods()

    def conditions(pod) -> tuple[bool, bool] | None:
        """Whether its endpoint is ready, and whether it stops."""
        for endpoint in release.endpoints(HEADLESS):
            if endpoint.target_ref.uid == pod.metadata.uid:
                return endpoint.conditions.ready, endpoint.conditions.terminating
        return None

    wait_for("all are ready", lambda: all(conditions(pod) == (True, False) for pod in (broken, stopping, working)))
    release.break_pod(broken)
    wait_for("the broken one is left out", lambda: conditions(broken) == (False, False))
    # The finalizer keeps it as its grace period would: it still drains.
    name, core = stopping.metadata.name, release.cluster.core
    core.patch_namespaced_pod(name, release.namespace, {"metadata": {"finalizers": ["millrace.invalid/drains"]}})
    core.delete_namespaced_pod(name, release.namespace)
    try:
        wait_for("the one that stops is left out", lambda: conditions(stopping) == (False, True))
        assert conditions(working) == (True, False)
    finally:
        core.patch_namespaced_pod(name, release.namespace, {"metadata": {"finalizers": None}})
