"""Serve on a Ray of this process, with the application of deploy/ray/serve.yaml. As a program it runs until SIGTERM: for scripts/load.sh ray.

Everything that Ray starts is below this process, and ends with it.
"""

import argparse
import contextlib
import copy
import json
import os
import pathlib
import signal
import sys

import yaml

from .process import free_ports, wait_for
from .programs import ROOT

PACKAGE = ROOT / "deploy" / "ray"
OBJECT_STORE_BYTES = 80 << 20


def import_ray():
    """Its modules; the settings of Ray must be in the environment before."""
    # Proxies and replicas import the package as if it were installed on each node.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_memory_monitor_refresh_ms": "0"}
    if str(PACKAGE) not in sys.path:
        sys.path.insert(0, str(PACKAGE))
    import ray
    from ray import serve
    return ray, serve


def descendants(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def runs(pid: int) -> bool:
    """Also of those whose parent has ended before them."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class RayServe:
    """Use as a context manager, once in a process. `arguments` are flags of `millrace serve`."""

    def __init__(self, binary: pathlib.Path, models: pathlib.Path, arguments: list[str]) -> None:
        self.grpc_port, self.http_port = free_ports(2)
        self._binary = binary
        self._config = yaml.safe_load((PACKAGE / "serve.yaml").read_text())
        self._config["http_options"] |= {"host": "127.0.0.1", "port": self.http_port}
        self._config["grpc_options"] |= {"port": self.grpc_port}
        application, = self._config["applications"]
        application["args"] = {"program": str(binary), "arguments": ["--models", str(models), *arguments]}
        deployment, = application["deployments"]
        deployment["ray_actor_options"] = {"num_cpus": 0.1}   # a share of this machine that several fit in

    def __enter__(self) -> "RayServe":
        self._ray, self._serve = import_ray()
        try:
            self._ray.init(num_cpus=2, object_store_memory=OBJECT_STORE_BYTES, include_dashboard=False, logging_level="warning")
            self._serve.start(http_options=self._config["http_options"], grpc_options=self._config["grpc_options"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        below = descendants(os.getpid())
        with contextlib.suppress(Exception):   # Ray goes in any case
            self._serve.shutdown()
        self._ray.shutdown()
        wait_for("all of Ray has ended", lambda: not any(map(runs, below)))

    def deploy(self, **autoscaling: object) -> None:
        """As `serve run serve.yaml` does, but for this autoscaling. Returns when the application runs."""
        from ray.serve.context import _get_global_client
        from ray.serve.schema import ServeDeploySchema
        config = copy.deepcopy(self._config)
        config["applications"][0]["deployments"][0]["autoscaling_config"] |= autoscaling
        _get_global_client().deploy_apps(ServeDeploySchema.model_validate(config))
        wait_for("the application runs", lambda: self._application().status == "RUNNING", 120)

    def replicas(self) -> int:
        """Those that run."""
        return self._application().deployments["millrace"].replica_states.get("RUNNING", 0)

    def _application(self):
        return self._serve.status().applications["millrace"]

    def daemons(self) -> list[int]:
        """The processes of the daemons, in the order of their IDs."""
        found = []
        for pid in descendants(os.getpid()):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if pathlib.Path(f"/proc/{pid}/exe").resolve().parent == self._binary.resolve().parent:
                    found.append(pid)
        return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--port-file", type=pathlib.Path, required=True)
    parser.add_argument("arguments", nargs="*", help="flags of the daemon, behind --")
    args = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt), RayServe(args.binary, args.models, args.arguments) as running:
        signal.signal(signal.SIGTERM, signal.default_int_handler)   # in place of Ray's own
        running.deploy(min_replicas=1, max_replicas=1)
        args.port_file.write_text(json.dumps({"grpc": running.grpc_port, "http": running.http_port}))
        signal.pause()


if __name__ == "__main__":
    main()
