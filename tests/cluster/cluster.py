"""What all tests need of the cluster: its programs and API, the definitions of others, nodes, and what the examples expect to find."""

import json
import os
import pathlib
import subprocess

import yaml
from control_plane import TOOLS, find
from kubernetes import client, config

# Name, zone and whether it has GPUs. As on the nodes of most providers, pods that need no GPU are kept off by a taint.
NODES = [("a1", "a", False), ("a2", "a", False), ("b1", "b", False), ("gpu-a", "a", True), ("gpu-b", "b", True)]
GPU = "nvidia.com/gpu"


class Cluster:
    """A running control plane, as an administrator sees it."""

    def __init__(self, kubeconfig: pathlib.Path, helm_folder: pathlib.Path) -> None:
        self._environment = os.environ | {"KUBECONFIG": str(kubeconfig), "HELM_CACHE_HOME": str(helm_folder), "HELM_CONFIG_HOME": str(helm_folder),
                                          "HELM_DATA_HOME": str(helm_folder)}
        connection = config.new_client_from_config(str(kubeconfig))
        self.core = client.CoreV1Api(connection)
        self.apps = client.AppsV1Api(connection)
        self.policy = client.PolicyV1Api(connection)
        self.discovery = client.DiscoveryV1Api(connection)

    def run(self, program: str, *arguments: object, stdin: str | None = None) -> subprocess.CompletedProcess:
        return subprocess.run([find(program), *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=300, check=False,
                              env=self._environment)

    def kubectl(self, *arguments: object, stdin: str | None = None) -> str:
        done = self.run("kubectl", *arguments, stdin=stdin)
        assert done.returncode == 0, f"kubectl {' '.join(map(str, arguments))}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: dict, namespace: str = "default") -> None:
        self.kubectl("-n", namespace, "apply", "--server-side", "--validate=strict", "-f", "-", stdin=yaml.safe_dump_all(objects))

    def get(self, *arguments: object) -> dict:
        return json.loads(self.kubectl("get", "-o", "json", *arguments))

    def define(self) -> None:
        """Adds the kinds of KEDA and of the Prometheus operator, without their controllers, and the runtime class of NVIDIA's operator."""
        files = sorted((TOOLS / "kubernetes" / "definitions").glob("*.yaml"))
        self.kubectl("apply", "--server-side", *(argument for file in files for argument in ("-f", file)))
        self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        self.apply({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"})

    def add_nodes(self) -> None:
        for name, zone, has_gpus in NODES:
            resources = {"cpu": "32", "memory": "128Gi", "pods": "110"} | ({GPU: "4"} if has_gpus else {})
            labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone} | ({f"{GPU}.present": "true"} if has_gpus else {})
            self.core.create_node({"metadata": {"name": name, "labels": labels},
                                   "spec": {"taints": [{"key": GPU, "value": "present", "effect": "NoSchedule"}] if has_gpus else []},
                                   "status": {"allocatable": resources, "capacity": resources}})
        self.kubectl("wait", "--for=condition=Ready", "nodes", "--all", "--timeout=60s")

    def zone_of(self, node: str) -> str:
        return next(zone for name, zone, _ in NODES if name == node)
