"""Runs the pod of the Helm chart with `podman kube play`, which takes Kubernetes' own objects: the image, the ConfigMap and the security
context of the chart in effect, without a cluster. Secrets are left out, since podman 4.3 does not decode them. On demand:
scripts/check-packages.sh makes the image and says its name in IMAGE."""

import json
import os
import subprocess
import time

import pytest
import yaml
from daemon import BINARY, ENVIRONMENT, free_port, get, wait_for
from test_helm_chart import CHART, helm

IMAGE = os.environ["IMAGE"]
# The longest time from the installation of the chart to the first answer.
FIRST_ANSWER_SECONDS = 60


def podman(*arguments, check=True):
    return subprocess.run(["podman", *map(str, arguments)], capture_output=True, text=True, check=check, timeout=300)


class Pod:
    """The one replica of a release, with its ports on loopback."""

    def __init__(self, deployment: dict) -> None:
        pod = deployment["spec"]["template"]["spec"]
        [container] = pod["containers"]
        self.grace_seconds = pod["terminationGracePeriodSeconds"]
        self.ports = {port["name"]: port["hostPort"] for port in container["ports"]}
        self.mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
        # podman names it so.
        self.container = f"{deployment['metadata']['name']}-pod-0-{container['name']}"

    def translate(self, text):
        return subprocess.run([BINARY, "translate", text, "--model", "bergamot-en-pt", "--address", f"127.0.0.1:{self.ports['grpc']}"],
                              capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT)

    def is_ready(self):
        return get(f"http://127.0.0.1:{self.ports['http']}/v2/health/ready") is not None

    def inspect(self):
        [described] = json.loads(podman("inspect", self.container).stdout)
        return described


@pytest.fixture(scope="module")
def pod(tmp_path_factory):
    rendered = helm("template", "speech", CHART, "--set", "replicaCount=1", "--set", f"image.repository={IMAGE}", "--set", "image.tag=latest",
                    "--set", "settings.drain_delay=4s", "--set", "settings.drain_timeout=20s")
    assert rendered.returncode == 0, rendered.stderr
    objects = [part for part in yaml.safe_load_all(rendered.stdout) if part]
    [deployment] = [part for part in objects if part["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    for port in container["ports"]:
        # Without these podman publishes the ports on all addresses.
        port |= {"hostIP": "127.0.0.1", "hostPort": free_port()}
    file = tmp_path_factory.mktemp("chart") / "objects.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    pod = Pod(deployment)
    start = time.monotonic()
    try:
        podman("kube", "play", file)
        wait_for("the first answer", lambda: pod.translate("Good morning.").stdout == "Bom dia.\n", FIRST_ANSWER_SECONDS)
        print(f"first answer {time.monotonic() - start:.1f} s after the installation")
        yield pod
    finally:
        podman("kube", "down", file, check=False)


def test_replica_serves_all_its_ports(pod):
    assert pod.is_ready()
    assert "bergamot-en-pt" in get(f"http://127.0.0.1:{pod.ports['metrics']}/metrics")


def test_container_has_the_rights_that_the_chart_grants(pod):
    described = pod.inspect()
    assert described["Config"]["User"] == "10001:10001"
    assert described["HostConfig"]["ReadonlyRootfs"]
    assert not described["EffectiveCaps"]
    # It can write into the chart's volume, and nowhere else.
    [mount] = pod.mounts
    podman("exec", pod.container, "touch", f"{mount}/x")
    assert "Read-only file system" in podman("exec", "--user=root", pod.container, "touch", "/x", check=False).stderr


def test_replica_answers_while_it_stops_and_is_not_killed(pod):
    stopping = subprocess.Popen(["podman", "stop", "--time", str(pod.grace_seconds), pod.container], stdout=subprocess.DEVNULL)
    try:
        wait_for("the probe to say that no new calls are wanted", lambda: not pod.is_ready(), 30)
        done = pod.translate("Good morning.")
        assert done.stdout == "Bom dia.\n", done.stderr
    finally:
        stopping.wait(pod.grace_seconds + 30)
    assert pod.inspect()["State"]["ExitCode"] == 0
