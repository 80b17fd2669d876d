"""Upgrades: which of them replace the pods, how many pods serve meanwhile, where the replicas are, and who owns their number."""

import pytest
from daemon import wait_for
from release import CHART, EXAMPLES, FULL_NAME, is_ready

KEYS = "apiKeys.lines={a:user:" + "0" * 64 + "}"


@pytest.mark.parametrize("values", ["settings.queue_size=9", KEYS, "image.tag=0.2.0"], ids=["settings", "keys", "image"])
def test_upgrade_replaces_all_pods_and_never_serves_with_fewer(release, values):
    release.upgrade()
    before, history = release.uids(), release.history()
    release.upgrade("--set", values)
    assert len(release.uids()) == 3 and not before & release.uids()
    moments = list(history.moments())
    assert min(sum(map(is_ready, pods)) for pods in moments) == 3
    assert max(sum(pod.metadata.deletion_timestamp is None for pod in pods) for pods in moments) == 4   # one more at a time


def test_rollout_waits_while_the_new_replica_has_no_place(release):
    release.upgrade()
    before = release.uids()
    release.kubectl("cordon", *{pod.spec.node_name for pod in release.pods()})
    try:
        release.helm("upgrade", "speech", CHART, "--set", "settings.queue_size=9")
        pending = wait_for("a new pod", lambda: [pod for pod in release.pods() if pod.metadata.uid not in before])
        assert len(pending) == 1 and not is_ready(pending[0])
        wait_for("the rollout waits", lambda: release.get("deployment")["status"].get("unavailableReplicas") == 1)
        assert before <= release.uids()
    finally:
        release.kubectl("uncordon", "a1", "a2", "b1")
    release.wait_for_rollout()
    assert not before & release.uids()


@pytest.mark.parametrize("values", ["replicaCount=4", "podDisruptionBudget.maxUnavailable=50%", "service.grpcPort=9001"])
def test_upgrade_of_something_else_keeps_the_pods(release, values):
    release.upgrade()
    before = release.uids()
    release.upgrade("--set", values)
    assert before <= release.uids()


def test_replicas_are_spread_over_zones_and_nodes(release):
    release.upgrade("--set", "replicaCount=2")
    assert {release.cluster.zone_of(node) for node in release.nodes()} == {"a", "b"}
    release.upgrade("--set", "replicaCount=3")
    assert release.nodes() == ["a1", "a2", "b1"]
    release.upgrade("--set", "replicaCount=6")
    assert release.nodes() == ["a1", "a1", "a2", "a2", "b1", "b1"]


def test_replicas_are_spread_after_a_rollout_too(release):
    """Those that are about to go do not count."""
    release.upgrade()
    for queue_size in (9, 10, 11):
        release.upgrade("--set", f"settings.queue_size={queue_size}")
        assert release.nodes() == ["a1", "a2", "b1"]


def test_upgrade_keeps_the_number_that_the_autoscaler_chose(release):
    autoscaled = ["-f", EXAMPLES / "autoscaled.yaml"]
    release.upgrade(*autoscaled)
    assert release.get("scaledobject")["spec"]["scaleTargetRef"]["name"] == FULL_NAME
    release.kubectl("scale", f"deployment/{FULL_NAME}", "--replicas=5")   # through the same subresource as a HorizontalPodAutoscaler
    release.wait_for_rollout()
    history = release.history()
    release.upgrade(*autoscaled, "--set", "settings.queue_size=9")
    assert len(release.pods()) == 5
    assert min(sum(map(is_ready, pods)) for pods in history.moments()) == 5


def test_autoscaling_can_be_switched_on_without_a_loss_of_replicas(release):
    release.upgrade("--set", "replicaCount=4")
    history = release.history()
    for values in ([], ["--set", "settings.queue_size=9"]):   # the second one before the autoscaler has done anything
        release.upgrade("-f", EXAMPLES / "autoscaled.yaml", *values)
    assert len(release.pods()) == 4
    assert min(sum(map(is_ready, pods)) for pods in history.moments()) == 4
