"""The null model against a bare gRPC echo: what the whole path costs."""

from harness import clients, plots
from harness.context import interleaved, median, spread
from harness.processes import start_floor, start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": 2}
FULL = {"repeats": 5, "seconds": 6}
CONCURRENCY = (1, 8, 32)
SERVERS = ("floor", "millrace")


def run(context):
    servers = {"floor": start_floor(context), "millrace": start_millrace(context, "millrace-null")}
    for server in servers.values():
        clients.require_all_ok(clients.loadgen(context, server, "infer", clients.NULL_MODEL, concurrency=8, seconds=1))
        clients.ghz(context, server, "null", concurrency=8, seconds=1)

    def trial(case):
        name, concurrency = case.split(" c=")
        return clients.ghz(context, servers[name], "null", concurrency=int(concurrency), seconds=context.seconds)

    trials = {}
    for c in CONCURRENCY:
        trials |= interleaved(context, [f"{name} c={c}" for name in SERVERS], trial)

    def ratio(field, c):
        return median(trials[f"millrace c={c}"], field) / median(trials[f"floor c={c}"], field)

    rows = []
    for c in CONCURRENCY:
        for name in SERVERS:
            r = trials[f"{name} c={c}"]
            share = f"{ratio('rps', c):.2f}" if name == "millrace" else "1"
            rows.append([c, name, f"{median(r, 'rps'):,.0f}", spread(r, "rps"), share, f"{median(r, 'p50_ms'):.2f}",
                         f"{median(r, 'p99_ms'):.2f}", f"{median(r, 'cpu_us'):.0f}"])
    rps, cpu, p99 = ratio("rps", 32), ratio("cpu_us", 32), ratio("p99_ms", 1)
    plot = context.plot("null.png")
    plots.bars(plot, "Null model over KServe ModelInfer (ghz, one connection)", "requests/s",
               [f"c={c}" for c in CONCURRENCY],
               {name: [median(trials[f"{name} c={c}"], "rps") for c in CONCURRENCY] for name in SERVERS})
    return Result(
        title="Server overhead: the null model against a bare echo",
        about="64 float32 in, the same out, by ghz over one connection. The floor is a gRPC callback server that copies the bytes "
              "and does nothing else; Millrace validates, admits, queues, runs the model on a worker's stream and counts. CPU is "
              "user and system time of the server's process per request.",
        columns=["concurrent", "server", "requests/s", "lowest-highest", "of the floor", "p50 ms", "p99 ms", "server CPU us/request"],
        rows=rows,
        bars=[Bar("requests/s at 32 concurrent, of the floor's", f"{rps:.2f}", ">= 0.80", rps >= 0.80),
              Bar("server CPU per request at 32 concurrent, of the floor's", f"{cpu:.2f}", "<= 1.3", cpu <= 1.3),
              Bar("p99 at 1 concurrent, of the floor's", f"{p99:.2f}", "<= 1.5", p99 <= 1.5)],
        notes=["ghz runs on the same cores and is itself near its limit from 8 concurrent up, which hides part of any difference in "
               "requests/s; CPU per request does not have that flaw."],
        plots=[(plot.name, "Requests per second of floor and Millrace")],
        trials=trials)
