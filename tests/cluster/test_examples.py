"""Each example of the chart is admitted by the API server, scheduled and rolled out, in a namespace that admits restricted pods only."""

import copy

import pytest
import yaml
from daemon import wait_for
from release import EXAMPLES, FULL_NAME, is_ready

CASES = {"default": []} | {file.stem: ["-f", file] for file in sorted(EXAMPLES.glob("*.yaml"))}


@pytest.fixture(params=CASES)
def example(request, release):
    """The values of an example, and beside the release what the example expects to find."""
    if request.param == "gpu":
        volume, claim = f"{release.namespace}-models", "millrace-models"
        size = {"storage": "10Gi"}
        release.cluster.apply(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
             "spec": {"capacity": size, "accessModes": ["ReadOnlyMany"], "storageClassName": "models", "nfs": {"server": "127.0.0.1", "path": "/models"},
                      "claimRef": {"name": claim, "namespace": release.namespace}}},
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": claim},
             "spec": {"accessModes": ["ReadOnlyMany"], "storageClassName": "models", "volumeName": volume, "resources": {"requests": size}}},
            namespace=release.namespace)
    return CASES[request.param]


def test_example_is_rolled_out(release, example):
    # Helm itself does not ask the server to refuse unknown fields.
    objects = release.render(*example)
    release.kubectl("apply", "--server-side", "--validate=strict", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump_all(objects))
    release.upgrade(*example)
    replicas = release.get("deployment")["spec"]["replicas"]
    pods = release.pods()
    assert len(pods) == replicas and all(map(is_ready, pods))
    for kind in {(o["kind"], o["metadata"]["name"]) for o in objects}:
        release.get(*kind)
    # The budget's selector finds the pods, and its controller can tell how many there should be.
    budget = wait_for("the budget counts all pods", lambda: (status := release.get("poddisruptionbudget")["status"]).get("currentHealthy") == replicas
                      and status, 60)
    assert budget["expectedPods"] == replicas and all(condition["status"] == "True" for condition in budget["conditions"])


def test_replicas_with_gpus_are_put_where_these_are(release):
    """Without the labels of the example's nodes: the resource alone leads there, and the toleration lets them in."""
    release.upgrade("--set", "gpu.enabled=true,replicaCount=2")
    assert release.nodes() == ["gpu-a", "gpu-b"]


def test_server_refuses_an_unknown_field(release):
    """So that the strict validation above can fail."""
    deployment, = (o for o in release.render() if o["kind"] == "Deployment")
    deployment["spec"]["template"]["spec"]["terminationGracePeriod"] = 5
    done = release.cluster.run("kubectl", "-n", release.namespace, "apply", "--server-side", "--validate=strict", "--dry-run=server", "-f", "-",
                               stdin=yaml.safe_dump(deployment))
    assert done.returncode != 0 and "terminationGracePeriod" in done.stderr


@pytest.mark.parametrize(("where", "field", "value", "words"), [
    ("pod", "runAsNonRoot", False, "runAsNonRoot"),
    ("pod", "seccompProfile", None, "seccompProfile"),
    ("container", "allowPrivilegeEscalation", True, "allowPrivilegeEscalation"),
    ("container", "capabilities", None, "capabilities"),
])
def test_namespace_admits_no_pod_with_more_rights(release, where, field, value, words):
    """Each restriction that the chart's pods meet is enforced here, so that their admission proves something."""
    deployment, = (o for o in release.render() if o["kind"] == "Deployment")
    template = copy.deepcopy(deployment["spec"]["template"])
    context = (template["spec"] if where == "pod" else template["spec"]["containers"][0])["securityContext"]
    context[field] = value
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "with-more-rights"}, "spec": template["spec"] | {"serviceAccountName": "default"}}
    wait_for("the account of the namespace", lambda: release.cluster.run("kubectl", "-n", release.namespace, "get", "serviceaccount", "default").returncode == 0)
    done = release.cluster.run("kubectl", "-n", release.namespace, "create", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(pod))
    assert done.returncode != 0 and 'violates PodSecurity "restricted' in done.stderr and words in done.stderr


def test_pods_get_no_token_and_their_account_has_no_rights(release):
    release.upgrade()
    for pod in release.pods():
        assert pod.spec.service_account_name == FULL_NAME
        assert [volume.name for volume in pod.spec.volumes if volume.projected] == []
    for verb, kind in [("get", "secrets"), ("list", "pods"), ("get", "configmaps"), ("create", "pods")]:
        done = release.cluster.run("kubectl", "-n", release.namespace, "auth", "can-i", verb, kind,
                                   "--as", f"system:serviceaccount:{release.namespace}:{FULL_NAME}")
        assert done.stdout.strip() == "no", done.stderr


def test_removal_leaves_nothing(release):
    release.upgrade("-f", EXAMPLES / "secured.yaml")
    kinds = "deployment,replicaset,pod,service,configmap,secret,serviceaccount,networkpolicy,poddisruptionbudget"

    def names() -> set[str]:
        return set(release.kubectl("get", kinds, "-l", "app.kubernetes.io/instance=speech", "-o", "name").split())

    assert {f"deployment.apps/{FULL_NAME}", f"secret/{FULL_NAME}-keys"} <= names()
    release.helm("uninstall", "speech", "--wait")
    wait_for("all objects are gone", lambda: names() == set(), 60)
