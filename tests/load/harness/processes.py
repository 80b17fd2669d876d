"""Starts the servers under test on free ports of loopback and makes sure that they end."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

from harness import machine


class ServerFailed(RuntimeError):
    pass


def http_status(url, timeout=5):
    """The status of a GET, or None when nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


class Server:
    """A running server: `pid`, `ports` by name. Use as a context manager; leaving it stops the process."""

    def __init__(self, name, command, port_file, log, start_timeout_s):
        self.name, self.command, self.log = name, command, log
        port_file.unlink(missing_ok=True)
        self._log_file = open(log, "ab")
        self._log_file.write(f"\n--- {' '.join(command)}\n".encode())
        self._log_file.flush()
        self.started_at = time.monotonic()
        # A session of its own: Ctrl-C reaches this script alone, which then stops its servers in order.
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._log_file,
                                         stderr=subprocess.STDOUT, start_new_session=True)
        self.pid = self._process.pid
        try:
            self.ports = self._wait_for_ports(port_file, start_timeout_s)
            self._wait_until_ready(start_timeout_s)
        except BaseException:
            self.stop()
            raise
        self.ready_after_s = time.monotonic() - self.started_at

    def _wait_for_ports(self, port_file, timeout_s):
        while time.monotonic() - self.started_at < timeout_s:
            self.check_alive()
            try:
                return json.loads(port_file.read_text())
            except (OSError, json.JSONDecodeError):
                time.sleep(0.005)
        raise ServerFailed(f"{self.name} did not write {port_file.name} within {timeout_s} s; see {self.log}")

    def _wait_until_ready(self, timeout_s):
        if not self.ports.get("http"):
            return
        url = f"http://127.0.0.1:{self.ports['http']}/v2/health/ready"
        while http_status(url) != 200:
            self.check_alive()
            if time.monotonic() - self.started_at > timeout_s:
                raise ServerFailed(f"{self.name} was not ready within {timeout_s} s; see {self.log}")
            time.sleep(0.005)

    def check_alive(self):
        status = self._process.poll()
        if status is not None:
            tail = self.log.read_text(errors="replace").splitlines()[-5:]
            raise ServerFailed("\n  ".join([f"{self.name} ended with status {status}; the end of {self.log}:", *tail]))

    @property
    def address(self):
        return f"127.0.0.1:{self.ports['grpc']}"

    def stop(self):
        """SIGTERM, then SIGKILL to its process group. Returns the exit status."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.pid, signal.SIGKILL)  # what is left of the group, such as a phonemiser
        except ProcessLookupError:
            pass
        status = self._process.wait()
        self._log_file.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def find_tool(build, name):
    """A program of the build folder, wherever its target lives in it."""
    if name == "millrace":
        candidates = [build / name]
    else:
        candidates = [build / name, build / "tests/load" / name.removeprefix("millrace_") / name, build / "tests/benchmarks" / name]
    for path in candidates:
        if os.access(path, os.X_OK):
            return path
    raise SystemExit(f"{name}: not found in {build}; run scripts/load.sh, which builds it")


def start_millrace(context, name, *flags, start_timeout_s=300, cpus=None):
    """The daemon as a user would start it, on free ports; on these CPUs, or on those that servers have."""
    port_file = context.out / f"{name}.ports.json"
    command = [str(find_tool(context.build, "millrace")), "serve", "--models", str(context.models),
               "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
               "--metrics-address", "127.0.0.1:0", "--port-file", str(port_file), *context.server_flags]
    for flag, value in zip(flags[::2], flags[1::2], strict=True):
        if flag in command:
            command[command.index(flag) + 1] = value
        else:
            command += [flag, value]
    command = machine.on_cpus(command, cpus) if cpus else context.server_command(command)
    return context.hold(Server(name, command, port_file, context.out / f"{name}.log", start_timeout_s))


def start_floor(context, name="floor"):
    port_file = context.out / f"{name}.ports.json"
    command = [str(find_tool(context.build, "millrace_floor")), "--port-file", str(port_file)]
    return context.hold(Server(name, context.server_command(command), port_file, context.out / f"{name}.log", 10))
