"""What spreads calls over replicas: the configurations of deploy/, run by their own programs on free ports, and gRPC's own balancing."""

import json
import pathlib
import re
import signal
import time
from collections.abc import Callable

import grpc

from . import programs
from .process import FleetError, Program, free_ports, listens, wait_for
from .programs import ROOT
from .replica import Replica

DEPLOY = ROOT / "deploy"
# nginx tells a frozen replica by its silence alone. The longest of the tests' calls takes far less.
NGINX_READ_SECONDS = 4
RELOAD_SECONDS = 0.5
# Newer gRPC waits for a ping as long as ping_timeout_ms says, a minute by default, whatever keepalive_timeout_ms is.
KEEPALIVE = [("grpc.keepalive_time_ms", 2000), ("grpc.keepalive_timeout_ms", 3000), ("grpc.keepalive_permit_without_calls", 1),
             ("grpc.http2.max_pings_without_data", 0), ("grpc.http2.ping_timeout_ms", 3000)]
COMMON = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", -1),
          ("grpc.initial_reconnect_backoff_ms", 200), ("grpc.min_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 1000)]


def service_config(name: str) -> str:
    return (DEPLOY / "grpc" / name).read_text()


def replaced(text: str, changes: dict[str, str]) -> str:
    """The text with each of the keys replaced, all of which must be there."""
    if missing := [old for old in changes if old not in text]:
        raise FleetError(f"not in the configuration: {', '.join(missing)}")
    return re.sub("|".join(re.escape(old) for old in sorted(changes, key=len, reverse=True)), lambda match: changes[match[0]], text)


class Balancer:
    """A way to spread calls. `connect` gives a channel of its own; `stop` ends the program, if there is one."""

    def __init__(self, name: str, target: str, options: list[tuple[str, object]], program: Program | None = None,
                 http_port: int | None = None) -> None:
        self.name, self._target, self._options, self._program, self.http_port = name, target, options, program, http_port

    @property
    def address(self) -> str:
        return self._target

    @property
    def pid(self) -> int | None:
        return None if self._program is None else self._program.process.pid

    def connect(self) -> grpc.Channel:
        return grpc.insecure_channel(self._target, [*COMMON, *self._options])

    def take_out(self, replica: Replica) -> None:
        """Called before a planned restart. Those that look at the health of a replica see by themselves that it stops."""

    def put_back(self, replica: Replica) -> None:
        """Called when the replica is ready again."""

    def check_runs(self) -> None:
        if self._program is not None:
            self._program.check_runs()

    def stop(self) -> None:
        if self._program is not None:
            self._program.stop()


def _started(name: str, command: list[object], log: pathlib.Path, port: int, environment: dict[str, str] | None = None) -> Program:
    program = Program(name, command, log, environment)

    def serves() -> bool:
        program.check_runs()
        return listens(port)
    try:
        wait_for(f"{name} listens", serves)
    except BaseException:
        program.stop()
        raise
    return program


def _with_retries() -> list[tuple[str, object]]:
    return [("grpc.service_config", service_config("service_config_proxy.json"))]


def _program(name: str) -> str:
    path = programs.find(name)
    if path is None:
        raise FleetError(f"the program {name} is not installed; scripts/deps.sh test installs it")
    return path


def moved(before: str, port: int, http_port: int, replicas: list[Replica]) -> dict[str, str]:
    """Changes of the ports of a configuration, which stand behind `before`: its own, and those of its replicas."""
    changes = {f"{before}8001": f"{before}{port}", f"{before}8000": f"{before}{http_port}"}
    for i, replica in enumerate(replicas):
        changes |= {f"{before}{8101 + i}": f"{before}{replica.grpc_port}", f"{before}{8201 + i}": f"{before}{replica.http_port}"}
    return changes


def envoy_config(replicas: list[Replica], port: int, http_port: int, admin_port: int, file: str) -> str:
    changes = moved("port_value: ", port, http_port, replicas) | {"port_value: 9901": f"port_value: {admin_port}"}
    return replaced((DEPLOY / "envoy" / file).read_text(), changes)


def envoy(replicas: list[Replica], folder: pathlib.Path, file: str = "envoy.yaml") -> Balancer:
    """Clients do not retry: Envoy does."""
    port, http_port, admin_port = free_ports(3)
    config = folder / file
    config.write_text(envoy_config(replicas, port, http_port, admin_port, file))
    command = [_program("envoy"), "-c", config, "--concurrency", "1", "--disable-hot-restart", "-l", "warning"]
    name = file.removesuffix(".yaml")
    program = _started(name, command, folder / f"{name}.log", port)
    return Balancer(name, f"127.0.0.1:{port}", [("grpc.enable_retries", 0)], program, http_port)


def envoy_orca(replicas: list[Replica], folder: pathlib.Path) -> Balancer:
    return envoy(replicas, folder, "envoy-orca.yaml")


def haproxy(replicas: list[Replica], folder: pathlib.Path) -> Balancer:
    port, http_port = free_ports(2)
    config = folder / "haproxy.cfg"
    # The port of a health check is that of HTTP.
    changes = moved("127.0.0.1:", port, http_port, replicas)
    changes |= {f"port {8201 + i}": f"port {replica.http_port}" for i, replica in enumerate(replicas)}
    config.write_text(replaced((DEPLOY / "haproxy" / "haproxy.cfg").read_text(), changes))
    program = _started("haproxy", [_program("haproxy"), "-db", "-f", config], folder / "haproxy.log", port, programs.environment())
    return Balancer("haproxy", f"127.0.0.1:{port}", _with_retries(), program, http_port)


def nginx_config(replicas: list[Replica], port: int, http_port: int, folder: pathlib.Path) -> str:
    temporary = "".join(f"    {kind}_temp_path {folder}/nginx-{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    changes = moved("127.0.0.1:", port, http_port, replicas)
    changes |= {"/run/millrace-nginx.pid": str(folder / "nginx.pid"), "\nhttp {\n": f"\nhttp {{\n{temporary}",
                "worker_processes auto": "worker_processes 1", "grpc_read_timeout 310s": f"grpc_read_timeout {NGINX_READ_SECONDS}s",
                "proxy_read_timeout 310s": f"proxy_read_timeout {NGINX_READ_SECONDS}s"}
    return replaced((DEPLOY / "nginx" / "nginx.conf").read_text(), changes)


class _Nginx(Balancer):
    """nginx sees no health: before a restart the replica is taken out of its configuration."""

    def __init__(self, config: pathlib.Path, port: int, http_port: int, program: Program) -> None:
        super().__init__("nginx", f"127.0.0.1:{port}", _with_retries(), program, http_port)
        self._config, self._text = config, config.read_text()

    def take_out(self, replica: Replica) -> None:
        servers = [f"server 127.0.0.1:{port}" for port in (replica.grpc_port, replica.http_port)]
        self._reload(replaced(self._text, {server: f"{server} down" for server in servers}))

    def put_back(self, replica: Replica) -> None:
        self._reload(self._text)

    def _reload(self, text: str) -> None:
        self._config.write_text(text)
        self._program.process.send_signal(signal.SIGHUP)
        time.sleep(RELOAD_SECONDS)


def nginx(replicas: list[Replica], folder: pathlib.Path) -> Balancer:
    port, http_port = free_ports(2)
    config = folder / "nginx.conf"
    config.write_text(nginx_config(replicas, port, http_port, folder))
    command = [_program("nginx"), "-e", "stderr", "-p", folder, "-c", config]
    return _Nginx(config, port, http_port, _started("nginx", command, folder / "nginx.log", port, programs.environment()))


def client_side(replicas: list[Replica], folder: pathlib.Path) -> Balancer:
    """No program: each client has a connection to each replica."""
    addresses = ",".join(f"127.0.0.1:{replica.grpc_port}" for replica in replicas)
    config = service_config("service_config.json")
    if "round_robin" not in json.dumps(json.loads(config)["loadBalancingConfig"]):
        raise FleetError("deploy/grpc/service_config.json does not balance by round_robin")
    return Balancer("client-side", f"ipv4:{addresses}", [("grpc.service_config", config), *KEEPALIVE])


ALL: dict[str, Callable[[list[Replica], pathlib.Path], Balancer]] = {
    "envoy": envoy, "envoy-orca": envoy_orca, "haproxy": haproxy, "nginx": nginx, "client-side": client_side}
