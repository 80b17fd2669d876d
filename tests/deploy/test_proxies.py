"""The configurations of deploy/ are accepted by the programs that they are for; test_fleet.py runs them."""

import json
import os
import subprocess

import grpc
import pytest
import yaml
from daemon import BINARY
from fleet import balancers, programs
from fleet.balancers import DEPLOY
from fleet.process import free_ports
from fleet.replica import Replica
from wire.stubs import admin, admin_grpc

ENVOY_FILES = ["envoy.yaml", "envoy-orca.yaml"]


def run(name, *arguments):
    program = programs.find(name)
    if program is None:
        # Where changes are gated (CI is set) a skip would go unnoticed.
        assert "CI" not in os.environ, f"{name} is not installed"
        pytest.skip(f"{name} is not installed")
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False,
                          env=os.environ | programs.environment())


@pytest.fixture
def replicas(tmp_path):
    """Some that are not started."""
    ports = free_ports(9)
    return [Replica(i, ports[3 * i:3 * i + 3], BINARY, tmp_path, tmp_path) for i in range(3)]


@pytest.mark.parametrize("file", ENVOY_FILES)
def test_envoy_accepts_its_configuration(file):
    checked = run("envoy", "--mode", "validate", "-c", DEPLOY / "envoy" / file, "--disable-hot-restart")
    assert checked.returncode == 0, checked.stderr
    assert "deprecated" not in checked.stderr.lower()


def test_envoy_refuses_a_field_that_it_does_not_know(tmp_path):
    """So that the test above can fail."""
    config = tmp_path / "envoy.yaml"
    config.write_text((DEPLOY / "envoy" / "envoy.yaml").read_text().replace("num_retries", "number_of_retries"))
    checked = run("envoy", "--mode", "validate", "-c", config, "--disable-hot-restart")
    assert checked.returncode != 0 and "number_of_retries" in checked.stderr


def test_configurations_of_envoy_differ_only_in_the_balancing():
    plain, weighted = (yaml.safe_load((DEPLOY / "envoy" / file).read_text()) for file in ENVOY_FILES)
    clusters = [config["static_resources"]["clusters"][0] for config in (plain, weighted)]
    assert clusters[0].pop("lb_policy") == "LEAST_REQUEST"
    assert "ClientSideWeightedRoundRobin" in json.dumps(clusters[1].pop("load_balancing_policy"))
    assert plain == weighted


def test_haproxy_accepts_its_configuration():
    checked = run("haproxy", "-c", "-f", DEPLOY / "haproxy" / "haproxy.cfg")
    assert checked.returncode == 0, checked.stderr
    assert "warning" not in checked.stderr.lower()


def test_nginx_accepts_its_configuration(replicas, tmp_path):
    # Its own places for files that the test's user may not have.
    config = tmp_path / "nginx.conf"
    config.write_text(balancers.nginx_config(replicas, *free_ports(2), tmp_path))
    checked = run("nginx", "-t", "-e", "stderr", "-p", tmp_path, "-c", config)
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr


def test_service_configs_retry_what_another_replica_may_serve_and_nothing_else():
    for file in ("service_config.json", "service_config_proxy.json"):
        config = json.loads((DEPLOY / "grpc" / file).read_text())
        method, = config["methodConfig"]
        assert set(method["retryPolicy"]["retryableStatusCodes"]) == {"UNAVAILABLE", "RESOURCE_EXHAUSTED"}
        assert 2 <= method["retryPolicy"]["maxAttempts"] <= 5   # what gRPC allows
        # A health check through a proxy would tell of one replica and stop the calls to all of them.
        assert ("healthCheckConfig" in config) == (file == "service_config.json")


@pytest.mark.parametrize("make", [balancers.envoy, balancers.haproxy, balancers.nginx])
def test_call_without_any_replica_ends_in_terms_of_grpc(make, replicas, tmp_path):
    """A page about a bad gateway would do for browsers; clients repeat a call by its status of gRPC."""
    if programs.find(make.__name__) is None:
        assert "CI" not in os.environ, f"{make.__name__} is not installed"
        pytest.skip(f"{make.__name__} is not installed")
    balancer = make(replicas, tmp_path)
    try:
        with balancer.connect() as channel, pytest.raises(grpc.RpcError) as refused:
            admin_grpc.AdminServiceStub(channel).ListModels(admin.ListModelsRequest(), timeout=20)
    finally:
        balancer.stop()
    assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
    assert refused.value.details() in ("no replica answered", "no healthy upstream")
