"""Runs the container image as its users would: with a root that cannot be written, without capabilities, by a user other than root. On
demand: scripts/check-packages.sh makes the image and says its name in IMAGE."""

import json
import os
import subprocess
import sys

import pytest
from daemon import ROOT, wait_for

sys.path.append(str(ROOT / "tests" / "integration"))
from wire import mirror  # noqa: E402

IMAGE = os.environ["IMAGE"]


def podman(*arguments, check=True):
    return subprocess.run(["podman", *arguments], capture_output=True, text=True, check=check, timeout=300)


@pytest.fixture(scope="module")
def container():
    # Without a network: clients run inside.
    name = podman("run", "--detach", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--network=none",
                  "-e", "MILLRACE_INSECURE=true", IMAGE).stdout.strip()
    yield name
    podman("rm", "--force", name)


def test_image_says_who_runs_what():
    [image] = json.loads(podman("image", "inspect", IMAGE).stdout)
    config = image["Config"]
    assert config["User"] == "10001:10001"
    assert (config["Entrypoint"], config["Cmd"]) == (["/usr/bin/millrace"], ["serve"])
    assert set(config["ExposedPorts"]) == {"8000/tcp", "8001/tcp", "8002/tcp"}
    assert image["Healthcheck"]["Test"][0] == "CMD"
    # The demo models take 209 MB of it, the programs with libtorch 375 MB, Python with NumPy, for `millrace pull`, some 70 MB, and MeCab's dictionary
    # some 45 MB.
    assert image["Size"] < 950_000_000


def test_container_serves_with_a_read_only_root(container):
    def ready():
        assert json.loads(podman("inspect", container).stdout)[0]["State"]["Running"], podman("logs", container).stderr
        return podman("exec", container, "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8000 && printf 'GET /v2/health/ready HTTP/1.0\\r\\n\\r\\n' >&3 "
                      "&& grep -q '^HTTP/1.[01] 200' <&3", check=False).returncode == 0
    wait_for("the container is ready", ready)
    assert podman("exec", container, "id", "-u").stdout == "10001\n"
    assert podman("exec", container, "touch", "/opt/millrace/x", check=False).returncode != 0
    assert podman("exec", container, "millrace", "translate", "Good morning.", "--model", "bergamot-en-pt").stdout == "Bom dia.\n"
    spoken = subprocess.run(["podman", "exec", container, "millrace", "synthesize", "Hello.", "--model", "piper-en-us-joe", "-o", "-"],
                            capture_output=True, check=True, timeout=60).stdout
    assert spoken[:4] == b"RIFF" and len(spoken) > 10_000
    # Kanji need MeCab's dictionary.
    assert "of audio" in podman("exec", container, "millrace", "synthesize", "東京は日本の首都です。", "--voice", "jf_alpha", "-o", "/dev/null").stderr
    listed = podman("exec", container, "millrace", "models").stdout
    assert all(name in listed for name in ("kokoro-82m", "bergamot-pt-en", "null"))


def test_container_fetches_models_by_name_into_a_volume(tmp_path):
    volume = podman("volume", "create").stdout.strip()
    with mirror.start() as hub:
        mirror.publish_pair(hub, tmp_path, "en-de")
        mirror.publish_voice(hub, "en_US-lessac-medium")
        settings = hub.environment | {"MILLRACE_MODELS": "/var/lib/millrace/models", "MILLRACE_PULL": "firefox/en-de,piper/en_US-lessac-medium",
                                      "MILLRACE_INSECURE": "true", "MILLRACE_GRPC_ADDRESS": "127.0.0.1:18001", "MILLRACE_HTTP_ADDRESS": "off", "MILLRACE_METRICS_ADDRESS": "off"}
        options = [word for name, value in settings.items() for word in ("-e", f"{name}={value}")]
        name = podman("run", "--detach", "--read-only", "--cap-drop=all", "--network=host", "-v", f"{volume}:/var/lib/millrace/models", *options,
                      IMAGE).stdout.strip()
        try:
            wait_for("the model is served", lambda: podman("exec", name, "millrace", "translate", "the cat.", "--address", "127.0.0.1:18001",
                                                           check=False).returncode == 0)
            spoken = subprocess.run(["podman", "exec", name, "millrace", "synthesize", "Hello.", "-o", "-", "--address", "127.0.0.1:18001"],
                                    capture_output=True, check=True, timeout=60).stdout
            assert spoken[:4] == b"RIFF" and len(spoken) > 10_000
        finally:
            podman("rm", "--force", name)
            podman("volume", "rm", volume)


def test_container_stops_when_it_is_told_to(container):
    podman("stop", "--time", "60", container)
    assert json.loads(podman("inspect", container).stdout)[0]["State"]["ExitCode"] == 0


def test_licences_are_in_the_image():
    found = podman("run", "--rm", "--network=none", "--entrypoint=ls", IMAGE, "/usr/share/doc/millrace/", "/usr/share/doc/millrace/licences").stdout
    assert {"copyright", "THIRD_PARTY.md", "torch", "nvidia_cuda_runtime"} <= set(found.split())
