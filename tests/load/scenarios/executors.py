"""What executors cost, and what their deaths cost: a server with one against a server without, and the same under kill -9."""

import os
import random
import signal
import threading
import time

from harness import clients, machine, models
from harness.clients import LoadFailed
from harness.context import interleaved, median, spread
from harness.processes import start_floor, start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": 3}
FULL = {"repeats": 5, "seconds": 6}
SERVERS = ("in process", "1 executor")
KILLED_EVERY_S = 1
MOST_MINUTES = 10   # of killing
SUCCESSORS = 8
LONGEST_WAIT_S = 60


def executors(server):
    """The living executors of a server."""
    return [pid for pid in machine.process_tree(server.pid) if machine.process_name(pid) == "millrace-exec"]


def total(server, name, **labels):
    wanted = set(labels.items())
    return sum(value for found, value in clients.scrape(server).get(name, {}).items() if wanted <= set(found))


def await_count(server, least, name, **labels):
    """Asks the metrics, which is the only way to see from outside what executors do, until a value is reached."""
    deadline = time.monotonic() + LONGEST_WAIT_S
    while total(server, name, **labels) < least:
        server.check_alive()
        if time.monotonic() > deadline:
            raise LoadFailed(f"{server.name}: {name} {labels} did not reach {least} within {LONGEST_WAIT_S} s")
        time.sleep(0.005)   # short beside what is measured, and bounded by the deadline


def successor_seconds(server):
    """From kill -9 of the only executor that serves to one that serves; it is killed when all spares are there."""
    spares = int(server.command[server.command.index("--spare-executors") + 1]) if "--spare-executors" in server.command else 0
    times = []
    for _ in range(SUCCESSORS):
        await_count(server, spares, "millrace_executors", state="spare")
        deaths = total(server, "millrace_executor_deaths_total")
        serving = [int(dict(labels)["executor"].removeprefix("executor-"))
                   for labels in clients.scrape(server)["millrace_executor_serving_seconds"]]
        begin = time.monotonic()
        os.kill(serving[0], signal.SIGKILL)
        await_count(server, deaths + 1, "millrace_executor_deaths_total")
        await_count(server, 1, "millrace_executors", state="serving")
        times.append(time.monotonic() - begin)
    return times


class Killer:
    """Kills an executor of a server each second until it is left."""

    def __init__(self, server):
        self._server, self._stop, self.kills = server, threading.Event(), 0
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        chance = random.Random(1)
        while not self._stop.wait(KILLED_EVERY_S):
            if living := executors(self._server):
                os.kill(chance.choice(living), signal.SIGKILL)
                self.kills += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def mixed(context, server, seconds, shares):
    """Loads of three kinds at once, each at its rate; returns their results by name."""
    results = {}

    def load(name, method, model, texts, rate):
        results[name] = clients.loadgen(context, server, method, model, texts=texts, rate=rate, seconds=seconds, deadline_ms=30000)

    loads = [threading.Thread(target=load, args=(name, *KINDS[name], shares[name])) for name in KINDS]
    for one in loads:
        one.start()
    for one in loads:
        one.join()
    return results


KINDS = {   # method, model, texts
    "null": ("infer", clients.NULL_MODEL, None),
    "translation": ("translate", models.TRANSLATION, models.TRANSLATION_TEXTS),
    "speech": ("stream-synthesize", models.SPEECH, models.SPEECH_TEXTS),
}


def run(context):
    floor = start_floor(context)
    servers = {"in process": start_millrace(context, "millrace-in-process"),
               "1 executor": start_millrace(context, "millrace-executors", "--executors", "1")}
    pss = {name: sum(machine.memory_mib(pid)["pss"] for pid in machine.process_tree(server.pid)) for name, server in servers.items()}

    def null(case):
        name, concurrency = case.split(" c=")
        server = floor if name == "floor" else servers[name]
        return clients.ghz(context, server, "null", concurrency=int(concurrency), seconds=context.seconds)

    def work(case):
        name, kind = case.split(": ")
        server = servers[name]
        if kind == "first audio":
            result = clients.require_all_ok(clients.loadgen(context, server, "stream-synthesize", models.SPEECH, texts=models.SPEECH_TEXTS,
                                                            concurrency=1, seconds=context.seconds, deadline_ms=60000))
            return {"value": result["stream"]["first_audio_ms"]["p50"]}
        method, model, texts = KINDS[kind]
        concurrency = 32 if kind == "translation" else 4
        result = clients.require_all_ok(clients.loadgen(context, server, method, model, texts=texts, concurrency=concurrency,
                                                        seconds=context.seconds, deadline_ms=60000))
        return {"value": result["ok"] / result["wall_seconds"]}

    kinds = ("translation", "speech", "first audio")
    for name in SERVERS:   # warm
        null(f"{name} c=32")
        for kind in kinds:
            work(f"{name}: {kind}")
    trials = {}
    for concurrency in (1, 32):
        trials |= interleaved(context, [f"{name} c={concurrency}" for name in ("floor", *SERVERS)], null)
    for kind in kinds:
        trials |= interleaved(context, [f"{name}: {kind}" for name in SERVERS], work)
    # Half of what each kind reaches by itself, split among the three.
    rates = {kind: median(trials[f"1 executor: {kind}"], "value") / 6 for kind in ("translation", "speech")}
    rates["null"] = min(median(trials["1 executor c=32"], "rps") / 6, 500)
    for server in (floor, *servers.values()):
        context.stop(server)

    killed = start_millrace(context, "millrace-killed", "--executors", "2", "--spare-executors", "1")
    seconds = 60 * min(context.args.minutes, MOST_MINUTES)

    def kill():
        with Killer(killed) as killer:
            results = mixed(context, killed, seconds, rates)
        return {"kills": killer.kills, "replays": total(killed, "millrace_requests_replayed_total"),
                "calls": {kind: sum(status["count"] for status in result["statuses"].values()) for kind, result in results.items()},
                "failed": {kind: sum(status["count"] for code, status in result["statuses"].items() if code != "OK") for kind, result in results.items()},
                "wrong": sum(result["wrong"] + result["inconsistent"] for result in results.values())}

    trials["killed"] = [context.trial("kill -9 each second", kill)]
    context.stop(killed)
    for name, flags in (("without a spare", ()), ("with a spare", ("--spare-executors", "1"))):
        server = start_millrace(context, "millrace-successor", "--executors", "1", *flags)
        trials[f"successor {name}"] = [context.trial(f"successor {name}", lambda server=server: {"seconds": successor_seconds(server)})]
        context.stop(server)
    return report(trials, pss)


def report(trials, pss):
    def ratio(kind):
        return median(trials[f"1 executor: {kind}"], "value") / median(trials[f"in process: {kind}"], "value")

    def row(what, cases, field, digits):
        values = [f"{median(trials[case], field):,.{digits}f} ({spread(trials[case], field)})" for case in cases]
        return [what, *values, f"{median(trials[cases[1]], field) / median(trials[cases[0]], field):.3f}"]

    hop_us = 1000 * (median(trials["1 executor c=1"], "p50_ms") - median(trials["in process c=1"], "p50_ms"))
    echo = median(trials["1 executor c=32"], "rps") / median(trials["floor c=32"], "rps")
    killed = trials["killed"][0]
    calls, failed = sum(killed["calls"].values()), sum(killed["failed"].values())
    worst = {name: max(trials[f"successor {name}"][0]["seconds"]) for name in ("without a spare", "with a spare")}
    memory = pss["1 executor"] - pss["in process"]
    return Result(
        title="Executors: what they cost, and what a death costs",
        about="Two daemons with all demo models, one of which has them in an executor, asked in turn; the null model by ghz over one "
              "connection, the rest by millrace_loadgen (translation 32 at once, streams of speech 4). Then a third with two executors and a "
              "spare, under all three kinds of load at once, while one of its three processes is killed with SIGKILL each second; and how long "
              f"it takes from the kill of the only executor to one that serves, {SUCCESSORS} times each.",
        columns=["", *SERVERS, "ratio"],
        rows=[row("null model, 1 at once, p50 ms", [f"{name} c=1" for name in SERVERS], "p50_ms", 3),
              row("null model, 32 at once, calls/s", [f"{name} c=32" for name in SERVERS], "rps", 0),
              row("translation, sentences/s", [f"{name}: translation" for name in SERVERS], "value", 1),
              row("speech, streams/s", [f"{name}: speech" for name in SERVERS], "value", 2),
              row("first audio, p50 ms", [f"{name}: first audio" for name in SERVERS], "value", 1),
              ["memory with shared pages counted once, MiB", *(f"{pss[name]:.0f}" for name in SERVERS), f"{pss['1 executor'] / pss['in process']:.3f}"]],
        bars=[Bar("null model, 1 at once: p50, of in-process", f"{hop_us:+.0f} us", "<= +60 us", hop_us <= 60),
              Bar("null model, 32 at once: calls/s, of the bare echo", f"{echo:.2f}", ">= 0.75", echo >= 0.75),
              *(Bar(f"{kind}, of in-process", f"{ratio(kind):.3f}", goal, met)
                for kind, goal, met in (("translation", ">= 0.97", ratio("translation") >= 0.97), ("speech", ">= 0.97", ratio("speech") >= 0.97),
                                        ("first audio", "<= 1.03", ratio("first audio") <= 1.03))),
              Bar("memory, more than in-process", f"{memory:+.0f} MiB", "<= +57 MiB (60 MB)", memory <= 57),
              Bar(f"SIGKILL each second: failed or wrong of {calls:,} calls ({killed['kills']} kills, {killed['replays']:.0f} replays)",
                  f"{failed + killed['wrong']:.0f}", "0", failed + killed["wrong"] == 0),
              Bar("from SIGKILL to a serving successor, the longest", f"{worst['without a spare']:.2f} s", "<= 1.5 s", worst["without a spare"] <= 1.5),
              Bar("the same with a spare", f"{worst['with a spare']:.2f} s", "<= 0.2 s", worst["with a spare"] <= 0.2)],
        notes=["Calls that fail by kind: " + ", ".join(f"{kind} {killed['failed'][kind]:.0f} of {count:,}" for kind, count in killed["calls"].items()) + "."],
        trials=trials)
