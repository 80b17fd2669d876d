"""KServe's objects of deploy/kserve: their pods are valid for Kubernetes, and their own fields are those that KServe knows."""

import subprocess

import kubernetes_validate
import yaml
from daemon import BINARY, ENVIRONMENT, ROOT

RUNTIME = yaml.safe_load((ROOT / "deploy/kserve/runtime.yaml").read_text())
SERVICE = yaml.safe_load((ROOT / "deploy/kserve/inference-service.yaml").read_text())
# KServe's definitions are in no package; these are the fields of its types that a runtime of one model has beside those of a pod.
RUNTIME_FIELDS = {"annotations", "labels", "supportedModelFormats", "protocolVersions", "multiModel", "disabled"}
MODEL_FIELDS = {"modelFormat", "runtime", "protocolVersion", "storageUri", "storage", "args", "env", "resources"}
SCALING_FIELDS = {"minReplicas", "maxReplicas", "scaleTarget", "scaleMetric", "timeout", "containerConcurrency"}


def validate_pod(spec):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "millrace"}, "spec": spec}
    kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)


def test_pod_of_the_runtime_is_valid():
    assert (RUNTIME["apiVersion"], RUNTIME["kind"]) == ("serving.kserve.io/v1alpha1", "ClusterServingRuntime")
    validate_pod({name: value for name, value in RUNTIME["spec"].items() if name not in RUNTIME_FIELDS})
    container, = RUNTIME["spec"]["containers"]
    assert container["name"] == "kserve-container"   # where KServe puts what a service asks for


def test_fields_of_the_service_are_known():
    assert (SERVICE["apiVersion"], SERVICE["kind"]) == ("serving.kserve.io/v1beta1", "InferenceService")
    predictor = SERVICE["spec"]["predictor"]
    assert set(predictor["model"]) <= MODEL_FIELDS
    pod = {name: value for name, value in predictor.items() if name not in SCALING_FIELDS | {"model"}}
    validate_pod(pod | {"containers": RUNTIME["spec"]["containers"], "volumes": RUNTIME["spec"]["volumes"]})


def test_service_uses_the_runtime():
    model = SERVICE["spec"]["predictor"]["model"]
    assert model["runtime"] == RUNTIME["metadata"]["name"]
    assert model["modelFormat"]["name"] in [known["name"] for known in RUNTIME["spec"]["supportedModelFormats"]]
    assert model["protocolVersion"] in RUNTIME["spec"]["protocolVersions"]


def test_daemon_accepts_the_settings_and_has_time_to_drain():
    container, = RUNTIME["spec"]["containers"]
    settings = {variable["name"]: variable["value"] for variable in container["env"]}
    printed = subprocess.run([BINARY, "serve", "--print-config"], capture_output=True, text=True, timeout=60, check=False,
                             env=ENVIRONMENT | settings)
    assert printed.returncode == 0, printed.stderr
    drain = sum(int(settings[f"MILLRACE_{name}"].removesuffix("s")) for name in ("DRAIN_DELAY", "DRAIN_TIMEOUT"))
    assert SERVICE["spec"]["predictor"]["terminationGracePeriodSeconds"] > drain
    # KServe mounts the models here, and probes and scrapes these ports.
    assert settings["MILLRACE_MODELS"] == "/mnt/models"
    ports = {container["readinessProbe"]["httpGet"]["port"], container["ports"][0]["containerPort"]}
    assert ports == {int(settings["MILLRACE_HTTP_ADDRESS"].rpartition(":")[2])}
    assert RUNTIME["spec"]["annotations"]["prometheus.kserve.io/port"] == settings["MILLRACE_METRICS_ADDRESS"].rpartition(":")[2]
