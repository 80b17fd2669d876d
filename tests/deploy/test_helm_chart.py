"""The Helm chart: what it renders is valid for Kubernetes and says what a replica needs, and wrong values are refused by name."""

import json
import os
import subprocess

import kubernetes_validate
import pytest
import yaml
from daemon import BINARY, ENVIRONMENT, ROOT, wait_for
from fleet import programs

CHART = ROOT / "deploy" / "helm" / "millrace"
EXAMPLES = ROOT / "deploy" / "helm" / "examples"
CASES = {"default": []} | {file.stem: ["-f", file] for file in sorted(EXAMPLES.glob("*.yaml"))}
# Definitions of others, of which kubernetes-validate has no schema.
CUSTOM = {"ScaledObject": "keda.sh/v1alpha1", "ServiceMonitor": "monitoring.coreos.com/v1", "PrometheusRule": "monitoring.coreos.com/v1"}
HELM = programs.find("helm")
# Where changes are gated (CI is set) a skip would go unnoticed.
pytestmark = pytest.mark.skipif(HELM is None and "CI" not in os.environ, reason="helm is not installed")
_rendered: dict[tuple, list[dict]] = {}


def helm(*arguments):
    assert HELM is not None, "helm is not installed"
    return subprocess.run([HELM, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def render(*arguments):
    """The objects of a release named `speech`."""
    if arguments not in _rendered:
        done = helm("template", "speech", CHART, "--namespace", "apps", *arguments)
        assert done.returncode == 0, done.stderr
        _rendered[arguments] = [part for part in yaml.safe_load_all(done.stdout) if part]
    return _rendered[arguments]


def one(objects, kind, name=None):
    found, = [o for o in objects if o["kind"] == kind and name in (None, o["metadata"]["name"])]
    return found


def pod_of(objects):
    return one(objects, "Deployment")["spec"]["template"]


def container_of(objects):
    container, = pod_of(objects)["spec"]["containers"]
    return container


@pytest.fixture(params=CASES)
def objects(request):
    return render(*CASES[request.param])


@pytest.mark.parametrize("case", CASES)
def test_helm_lints_the_chart(case):
    done = helm("lint", "--strict", CHART, *CASES[case])
    assert done.returncode == 0, done.stdout + done.stderr


def test_kubernetes_accepts_every_object(objects):
    for o in objects:
        if o["kind"] in CUSTOM:
            assert o["apiVersion"] == CUSTOM[o["kind"]]
        else:
            kubernetes_validate.validate(o, kubernetes_validate.latest_version(), strict=True)


def test_strict_validation_refuses_an_unknown_field():
    """So that the test above can fail."""
    deployment = json.loads(json.dumps(one(render(), "Deployment")))
    deployment["spec"]["template"]["spec"]["terminationGracePeriod"] = 5
    with pytest.raises(kubernetes_validate.ValidationError, match="terminationGracePeriod"):
        kubernetes_validate.validate(deployment, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize(("case", "kinds"), [
    ("default", {}), ("gpu", {}), ("cpu", {"ServiceMonitor", "PrometheusRule"}), ("secured", {"Secret"}),
    ("autoscaled", {"ScaledObject", "ServiceMonitor"})])
def test_release_has_what_was_asked_for(case, kinds):
    always = {"Deployment", "Service", "ConfigMap", "PodDisruptionBudget", "NetworkPolicy", "ServiceAccount"}
    assert {o["kind"] for o in render(*CASES[case])} == always | set(kinds)


def test_pod_has_no_rights_that_it_does_not_need(objects):
    pod, container = pod_of(objects)["spec"], container_of(objects)
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert all(mount.get("readOnly") or mount["mountPath"] == "/tmp" for mount in container["volumeMounts"])


def test_variables_of_services_do_not_reach_the_daemon(objects):
    """It refuses variables such as MILLRACE_PORT, which Kubernetes makes of a Service named millrace."""
    assert pod_of(objects)["spec"]["enableServiceLinks"] is False


def test_selectors_find_the_pods(objects):
    labels = pod_of(objects)["metadata"]["labels"].items()
    selectors = [o["spec"]["selector"] for o in objects if o["kind"] == "Service"]
    selectors += [o["spec"]["selector"]["matchLabels"] for o in objects if o["kind"] in ("Deployment", "PodDisruptionBudget")]
    selectors += [o["spec"]["podSelector"]["matchLabels"] for o in objects if o["kind"] == "NetworkPolicy"]
    assert len(selectors) == 5
    assert all(selector and selector.items() <= labels for selector in selectors)


def test_ports_by_name_are_ports_of_the_container(objects):
    container = container_of(objects)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    named = [port["targetPort"] for o in objects if o["kind"] == "Service" for port in o["spec"]["ports"]]
    named += [container[probe]["httpGet"]["port"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")]
    named += [port["port"] for rule in one(objects, "NetworkPolicy")["spec"]["ingress"] for port in rule["ports"]]
    assert set(named) == set(ports)
    data = one(objects, "ConfigMap", "speech-millrace")["data"]
    for name, port in ports.items():
        assert data[f"MILLRACE_{name.upper()}_ADDRESS"] == f"0.0.0.0:{port}"


def test_headless_service_has_the_ready_replicas_only():
    headless = one(render(), "Service", "speech-millrace-headless")["spec"]
    assert headless["clusterIP"] == "None" and not headless.get("publishNotReadyAddresses")


@pytest.mark.parametrize(("arguments", "seconds"), [
    ([], 10 + 60 + 30), (CASES["gpu"], 10 + 120 + 30),
    (["--set", "settings.drain_delay=4500ms,settings.drain_timeout=1h,terminationMarginSeconds=10"], 5 + 3600 + 10)])
def test_pod_gets_the_time_that_its_drain_takes(arguments, seconds):
    assert pod_of(render(*arguments))["spec"]["terminationGracePeriodSeconds"] == seconds


def test_rollout_adds_a_replica_before_it_takes_one_away(objects):
    spec = one(objects, "Deployment")["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    # A start has minutes; after that, each replica is watched closely.
    start, ready = container_of(objects)["startupProbe"], container_of(objects)["readinessProbe"]
    assert start["periodSeconds"] * start["failureThreshold"] >= 300 > ready["periodSeconds"] * ready["failureThreshold"]


def test_replicas_are_spread_among_those_of_their_own_revision(objects):
    """Otherwise a rollout leaves them where the old ones were not; tests/cluster shows it."""
    constraints = pod_of(objects)["spec"]["topologySpreadConstraints"]
    assert [constraint["topologyKey"] for constraint in constraints] == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    assert all(constraint["matchLabelKeys"] == ["pod-template-hash"] for constraint in constraints)


def test_other_settings_restart_the_pods():
    checksums = [pod_of(render(*arguments))["metadata"]["annotations"]["checksum/config"]
                 for arguments in ((), ("--set", "settings.queue_size=9"))]
    assert checksums[0] != checksums[1]


def print_config(objects):
    """What the daemon makes of the settings, as its own configuration file has them."""
    settings = one(objects, "ConfigMap", "speech-millrace")["data"]
    return subprocess.run([BINARY, "serve", "--print-config"], capture_output=True, text=True, timeout=60, check=False,
                          env={name: value for name, value in ENVIRONMENT.items() if not name.startswith("MILLRACE_")} | settings)


def test_daemon_accepts_the_settings(objects):
    printed = print_config(objects)
    assert printed.returncode == 0, printed.stderr
    for name, value in one(objects, "ConfigMap", "speech-millrace")["data"].items():
        line, = [line for line in printed.stdout.splitlines() if line.startswith(name.removeprefix("MILLRACE_").lower() + " = ")]
        assert "default" not in line, f"{name}={value} has no effect: {line}"


def test_large_numbers_are_written_as_numbers():
    assert one(render(*CASES["gpu"]), "ConfigMap")["data"]["MILLRACE_GRAPH_CACHE_ENTRIES"] == "1000000"


def test_daemon_knows_every_setting_of_the_schema():
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]["settings"]["properties"]
    printed = subprocess.run([BINARY, "serve", "--print-config"], capture_output=True, text=True, timeout=60, check=True, env=ENVIRONMENT).stdout
    known = {line.split(" = ")[0] for line in printed.splitlines() if " = " in line}
    assert sorted(set(schema) - known) == []


def test_age_of_connections_and_reports_of_load_are_passed_on():
    def passed_on(*settings):
        data = one(render(*settings), "ConfigMap")["data"]
        return data.get("MILLRACE_MAX_CONNECTION_AGE"), data.get("MILLRACE_LOAD_REPORT")

    assert passed_on() == ("10m", None)   # a Service spreads connections, so they must end
    assert passed_on("--set", "maxConnectionAge=1h,loadReport=text") == ("1h", "text")
    assert passed_on("--set", "maxConnectionAge=") == (None, None)


def test_gpu_is_asked_for_and_models_come_from_the_volume():
    objects = render(*CASES["gpu"])
    pod, container = pod_of(objects)["spec"], container_of(objects)
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 1
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in pod["tolerations"]
    assert pod["runtimeClassName"] == "nvidia"
    data = one(objects, "ConfigMap")["data"]
    assert data["MILLRACE_DEVICE"] == "cuda" and data["MILLRACE_MODELS"] == "/models"
    mount, = [mount for mount in container["volumeMounts"] if mount["name"] == "models"]
    assert mount == {"name": "models", "mountPath": "/models", "readOnly": True}
    assert container_of(render())["resources"]["limits"].keys() == {"memory"}


def test_keys_and_certificates_come_from_secrets():
    objects = render(*CASES["secured"])
    volumes = {volume["name"]: volume.get("secret", {}).get("secretName") for volume in pod_of(objects)["spec"]["volumes"]}
    secret = one(objects, "Secret")
    assert volumes == {"tmp": None, "tls": "millrace-certificate", "keys": secret["metadata"]["name"]}
    assert len(secret["stringData"]["api-keys"].splitlines()) == 2
    data = one(objects, "ConfigMap")["data"]
    folders = {mount["name"]: mount["mountPath"] for mount in container_of(objects)["volumeMounts"]}
    assert data["MILLRACE_API_KEYS"] == folders["keys"] + "/api-keys"
    assert data["MILLRACE_TLS_CLIENT_CA"] == folders["tls"] + "/ca.crt"


def test_certificates_can_be_values():
    objects = render("--set", "tls.enabled=true,tls.certificate=C,tls.key=K,tls.ca=A,tls.clientCertificates=true")
    secret = one(objects, "Secret")
    assert secret["type"] == "kubernetes.io/tls" and secret["stringData"] == {"tls.crt": "C", "tls.key": "K", "ca.crt": "A"}
    assert "appProtocol" not in one(objects, "Service", "speech-millrace")["spec"]["ports"][0]


def test_network_policy_names_who_may_call():
    calls, scrapes = one(render(*CASES["secured"]), "NetworkPolicy")["spec"]["ingress"]
    assert calls["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "gateway"}
    assert scrapes["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "monitoring"}


def test_service_monitor_scrapes_each_replica_once():
    objects = render(*CASES["cpu"])
    monitor = one(objects, "ServiceMonitor")["spec"]
    selected = [o["metadata"]["name"] for o in objects
                if o["kind"] == "Service" and monitor["selector"]["matchLabels"].items() <= o["metadata"]["labels"].items()]
    assert selected == ["speech-millrace-headless"]
    assert monitor["endpoints"][0]["port"] in [port["name"] for port in one(objects, "Service", selected[0])["spec"]["ports"]]
    # The job by which the alerts and the dashboard look for it.
    assert one(objects, "Service", selected[0])["metadata"]["labels"][monitor["jobLabel"]] == "millrace"


def test_dashboard_and_alerts_are_those_of_deploy():
    objects = render(*CASES["cpu"])
    board = one(objects, "ConfigMap", "speech-millrace-dashboard")
    assert json.loads(board["data"]["millrace.json"]) == json.loads((ROOT / "deploy/grafana/millrace.json").read_text())
    assert board["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert one(objects, "PrometheusRule")["spec"] == yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())


def test_autoscaler_owns_the_number_of_replicas():
    objects = render(*CASES["autoscaled"])
    scaled = one(objects, "ScaledObject")["spec"]
    assert "replicas" not in one(objects, "Deployment")["spec"] and one(render(), "Deployment")["spec"]["replicas"] == 3
    assert scaled["scaleTargetRef"] == {"name": one(objects, "Deployment")["metadata"]["name"]}
    assert (scaled["minReplicaCount"], scaled["maxReplicaCount"]) == (3, 30)
    for trigger in scaled["triggers"]:
        assert trigger["metricType"] == "AverageValue"   # KEDA has a fallback for no other
        assert trigger["metadata"]["ignoreNullValues"] == "false"
        assert int(trigger["metadata"]["threshold"]) >= 1


@pytest.mark.parametrize("name", ["busy", "queued", "refused"])
def test_queries_of_the_autoscaler_have_a_value(prometheus, traffic, name):
    trigger, = [t for t in one(render(*CASES["autoscaled"]), "ScaledObject")["spec"]["triggers"] if t["name"] == name]
    series = wait_for(f"a value of {name}", lambda: prometheus.query(trigger["metadata"]["query"]))
    assert len(series) == 1 and float(series[0]["value"][1]) >= 0


@pytest.mark.parametrize(("values", "words"), [
    ("replicaCont=2", ["replicaCont"]),
    ("replicaCount=two", ["replicaCount"]),
    ("settings.queue_sise=64", ["queue_sise"]),
    ("settings.queue_size=0", ["queue_size", "1"]),
    ("settings.drain_timeout=5 minutes", ["drain_timeout"]),
    ("settings.grpc_address=0.0.0.0:1", ["grpc_address"]),
    ("settings.log_level=loud", ["log_level", "debug"]),
    ("loadReport=loud", ["loadReport", "text"]),
    ("maxConnectionAge=ten minutes", ["maxConnectionAge"]),
    ("gpu.count=0", ["gpu", "count"]),
    ("gpu.resource=gpu", ["gpu", "resource"]),
    ("service.type=Cluster", ["service", "type"]),
    ("probes.readiness.period=2", ["readiness", "period"]),
    ("apiKeys.lines={alice}", ["apiKeys", "lines"]),
    ("autoscaling.busyPercent=700", ["busyPercent", "100"]),
    ("settings.drain_delay=1s", ["settings.drain_delay", "1s", "4 s"]),
    ("tls.enabled=true", ["tls.existingSecret", "tls.certificate", "tls.key"]),
    ("tls.clientCertificates=true", ["tls.clientCertificates", "tls.enabled"]),
    ("tls.enabled=true,tls.certificate=C,tls.key=K,tls.clientCertificates=true", ["tls.clientCertificates", "tls.ca"]),
    (f"apiKeys.existingSecret=a,apiKeys.lines={{a:user:{'0' * 64}}}", ["apiKeys.existingSecret", "apiKeys.lines"]),
    ("autoscaling.enabled=true,autoscaling.minReplicas=20", ["autoscaling.minReplicas", "20", "10"]),
])
def test_wrong_value_is_refused_by_its_name(values, words):
    done = helm("template", "speech", CHART, "--set", values)
    assert done.returncode != 0
    for word in words:
        assert word in done.stderr, done.stderr
