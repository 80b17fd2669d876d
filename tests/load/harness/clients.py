"""The load generators (ghz and our own) and a reader of the metrics page."""

import json
import os
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

from harness import machine
from harness.processes import find_tool

ROOT = Path(__file__).resolve().parents[3]
RECIPES = ROOT / "tests/load/ghz"
NULL_MODEL = "null"


class LoadFailed(RuntimeError):
    pass


_running = set()


def kill_running():
    """Ends the generators that other threads wait for."""
    for process in list(_running):
        process.kill()


def run(command, timeout_s):
    """Standard output of a generator, which does not outlive the call."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, cwd=ROOT)   # where the recipes' paths begin
    _running.add(process)
    try:
        out, err = process.communicate(timeout=timeout_s)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    finally:
        _running.discard(process)
    if process.returncode != 0:
        raise LoadFailed(f"{Path(command[0]).name} ended with status {process.returncode}: {err.strip()[-500:]}")
    return out


def find_ghz():
    path = ROOT / ".tools/bin/ghz"
    found = str(path) if os.access(path, os.X_OK) else shutil.which("ghz")
    if not found:
        raise SystemExit("ghz: not found; run scripts/load-tools.sh")
    return found


def recipe(name):
    """A configuration of ghz from tests/load/ghz."""
    return json.loads((RECIPES / f"{name}.json").read_text())


def ghz(context, server, name, *, seconds, concurrency=None, api_key=None):
    """Closed loop of a recipe on one connection: rate, latency, and the server's CPU time per request."""
    command = [find_ghz(), "--config", str(RECIPES / f"{name}.json"), "--duration", f"{seconds}s", "--format", "json"]
    if concurrency is not None:
        command += ["--concurrency", str(concurrency)]
    if api_key is not None:
        command += ["--metadata", json.dumps({"x-api-key": api_key})]
    command.append(server.address)
    before = machine.cpu_seconds(server.pid)
    report = json.loads(run(context.generator_command(command), seconds + 60))
    cpu = machine.cpu_seconds(server.pid) - before
    errors = {k: v for k, v in report["statusCodeDistribution"].items() if k != "OK"}
    if errors:
        raise LoadFailed(f"{server.name}, {name} at {report['options']['concurrency']} concurrent: {errors}")
    latency = {x["percentage"]: x["latency"] / 1e6 for x in report["latencyDistribution"]}
    return {"rps": report["rps"], "p50_ms": latency[50], "p99_ms": latency[99],
            "cpu_us": cpu / report["count"] * 1e6, "count": report["count"]}


def loadgen(context, server, method, model, *, texts=None, concurrency=None, rate=None, seconds=None, count=None,
            deadline_ms=None, connections=None, outputs=None, target_tokens=None, source=None, target=None, voice=None, api_key=None):
    """One run of our own generator; its JSON plus the server's CPU seconds. See millrace_loadgen --help."""
    address = f"127.0.0.1:{server.ports['http']}" if method.startswith("http-") else server.address
    command = [str(find_tool(context.build, "millrace_loadgen")), "--address", address, "--method", method, "--model", model]
    options = {"--texts": texts, "--target-tokens": target_tokens, "--concurrency": concurrency, "--rate": rate, "--duration-s": seconds,
               "--count": count, "--deadline-ms": deadline_ms, "--connections": connections, "--outputs": outputs, "--source": source,
               "--target": target, "--voice": voice, "--api-key": api_key}
    for flag, value in options.items():
        if value is not None:
            command += [flag, str(value)]
    before = machine.cpu_seconds(server.pid)
    result = json.loads(run(context.generator_command(command), (seconds or 600) + 120))
    server.check_alive()
    result["server_cpu_seconds"] = machine.cpu_seconds(server.pid) - before
    result["ok"] = result["statuses"].get("OK", {}).get("count", 0)
    return result


def require_all_ok(result):
    """For loads that the server must carry without a refusal."""
    failed = {code: status.get("first_message") for code, status in result["statuses"].items() if code != "OK"}
    if failed or result["wrong"] or result["inconsistent"] or result["unsent"]:
        raise LoadFailed(f"{result['method']} on {result['model']}: failed {failed}, wrong {result['wrong']:.0f}, "
                         f"inconsistent {result['inconsistent']:.0f}, unsent {result['unsent']:.0f}")
    return result


def read_outputs(path):
    """Index -> (hash, text) as written by millrace_loadgen --outputs."""
    lines = (json.loads(line) for line in Path(path).read_text().splitlines())
    return {int(line["index"]): (line["hash"], line.get("text", "")) for line in lines}


def scrape(server):
    """The metrics page as {name: {labels as sorted tuple: value}}."""
    url = f"http://127.0.0.1:{server.ports['metrics']}/metrics"
    with urllib.request.urlopen(url, timeout=5) as response:
        page = response.read().decode()
    series = {}
    for line in page.splitlines():
        match = re.fullmatch(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)", line)
        if match:
            labels = tuple(sorted(re.findall(r'(\w+)="([^"]*)"', match.group(2) or "")))
            series.setdefault(match.group(1), {})[labels] = float(match.group(3))
    return series
