"""A release of the chart in a namespace of its own, and the history of its pods."""

from collections.abc import Iterator

import yaml
from cluster import Cluster
from daemon import ROOT, wait_for
from kubernetes import client, watch

CHART = ROOT / "deploy" / "helm" / "millrace"
EXAMPLES = ROOT / "deploy" / "helm" / "examples"
FULL_NAME = "speech-millrace"


def is_ready(pod: client.V1Pod) -> bool:
    """A pod that gets calls: it is ready and was not asked to stop."""
    conditions = {condition.type: condition.status for condition in pod.status.conditions or []}
    return conditions.get("Ready") == "True" and pod.metadata.deletion_timestamp is None


class History:
    """The pods of a namespace after each change since this object was made."""

    def __init__(self, core: client.CoreV1Api, namespace: str) -> None:
        self._core, self._namespace = core, namespace
        listed = core.list_namespaced_pod(namespace)
        self._start = listed.metadata.resource_version
        self._pods = {pod.metadata.uid: pod for pod in listed.items}

    def moments(self) -> Iterator[list[client.V1Pod]]:
        """All states from the start up to now, none left out: the server sends each change in its order."""
        pods = dict(self._pods)
        yield list(pods.values())
        now = {pod.metadata.uid: pod.metadata.resource_version for pod in self._core.list_namespaced_pod(self._namespace).items}
        events = watch.Watch().stream(self._core.list_namespaced_pod, self._namespace, resource_version=self._start, timeout_seconds=60)
        while {uid: pod.metadata.resource_version for uid, pod in pods.items()} != now:
            event = next(events, None)
            assert event is not None, "the server did not send all changes"
            pod = event["object"]
            if event["type"] == "DELETED":
                del pods[pod.metadata.uid]
            else:
                pods[pod.metadata.uid] = pod
            yield list(pods.values())
        events.close()


class Release:
    """The release `speech` in one namespace."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster, self.namespace = cluster, namespace
        cluster.apply({"apiVersion": "v1", "kind": "Namespace",
                       "metadata": {"name": namespace, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})

    def delete_namespace(self) -> None:
        """Waits for the pods only: the namespace itself outlives their grace period."""
        self.cluster.kubectl("delete", "namespace", self.namespace, "--wait=false")
        wait_for("the pods are gone", lambda: not self.cluster.core.list_namespaced_pod(self.namespace).items, 60)

    def helm(self, *arguments: object) -> str:
        done = self.cluster.run("helm", "-n", self.namespace, *arguments)
        assert done.returncode == 0, f"helm {' '.join(map(str, arguments))}: {done.stderr}"
        return done.stdout

    def upgrade(self, *values: object) -> None:
        """Installs the chart or upgrades it to these values alone, and waits until all replicas have been available for minReadySeconds."""
        self.helm("upgrade", "--install", "speech", CHART, *values)
        self.wait_for_rollout()

    def wait_for_rollout(self) -> None:
        self.kubectl("rollout", "status", f"deployment/{FULL_NAME}", "--timeout=120s")

    def render(self, *values: object) -> list[dict]:
        return [part for part in yaml.safe_load_all(self.helm("template", "speech", CHART, *values)) if part]

    def kubectl(self, *arguments: object, stdin: str | None = None) -> str:
        return self.cluster.kubectl("-n", self.namespace, *arguments, stdin=stdin)

    def get(self, kind: str, name: str = FULL_NAME) -> dict:
        return self.cluster.get("-n", self.namespace, kind, name)

    def history(self) -> History:
        return History(self.cluster.core, self.namespace)

    def pods(self) -> list[client.V1Pod]:
        """The pods that were not asked to stop, in the order of their names."""
        pods = self.cluster.core.list_namespaced_pod(self.namespace).items
        return sorted((pod for pod in pods if pod.metadata.deletion_timestamp is None), key=lambda pod: pod.metadata.name)

    def uids(self) -> set[str]:
        return {pod.metadata.uid for pod in self.pods()}

    def nodes(self) -> list[str]:
        return sorted(pod.spec.node_name for pod in self.pods())

    def evict(self, pod: client.V1Pod) -> int:
        """The HTTP status of the answer to an eviction."""
        name = pod.metadata.name
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": self.namespace}}
        try:
            return self.cluster.core.create_namespaced_pod_eviction_with_http_info(name, self.namespace, eviction)[1]
        except client.ApiException as error:
            return error.status

    def break_pod(self, pod: client.V1Pod) -> None:
        """Reports that the pod's readiness probe fails, as its kubelet would."""
        conditions = [{"type": name, "status": "False", "reason": "ContainersNotReady"} for name in ("Ready", "ContainersReady")]
        self.cluster.core.patch_namespaced_pod_status(pod.metadata.name, self.namespace, {"status": {"conditions": conditions}})

    def wait_for_budget(self, allowed: int) -> None:
        """Waits until the budget allows so many evictions at once."""
        def current() -> bool:
            budget = self.get("poddisruptionbudget")
            return budget["status"].get("observedGeneration") == budget["metadata"]["generation"] and budget["status"]["disruptionsAllowed"] == allowed
        wait_for(f"the budget allows {allowed}", current, 60)

    def endpoints(self, service: str) -> list[client.V1Endpoint]:
        slices = self.cluster.discovery.list_namespaced_endpoint_slice(self.namespace, label_selector=f"kubernetes.io/service-name={service}")
        return [endpoint for part in slices.items for endpoint in part.endpoints or []]
