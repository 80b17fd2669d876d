"""The null model by KServe's REST with binary tensors, against ModelInfer over gRPC: what HTTP/1.1 takes from small inferences."""

from harness import clients
from harness.context import interleaved, median, spread
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 3, "seconds": 2}
FULL = {"repeats": 9, "seconds": 6}
CONCURRENCY = (1, 32)
# One HTTP/2 connection has one polling thread at work; HTTP/1.1 has a connection for each request in flight.
CASES = {"REST": ("http-infer", None), "gRPC, 1 connection": ("infer", 1), "gRPC, 4 connections": ("infer", 4)}
LIMIT = 0.6


def run(context):
    server = start_millrace(context, "millrace-kserve-rest")

    def load(case, concurrency, seconds):
        method, connections = CASES[case]
        return clients.require_all_ok(clients.loadgen(
            context, server, method, clients.NULL_MODEL, concurrency=concurrency, seconds=seconds, connections=connections))

    def trial(key):
        case, concurrency = key.rsplit(" c=", 1)
        result = load(case, int(concurrency), context.seconds)
        latency = result["statuses"]["OK"]["latency_ms"]
        return {"rps": result["ok"] / result["wall_seconds"], "p50_ms": latency["p50"], "p99_ms": latency["p99"],
                "cpu_us": result["server_cpu_seconds"] / result["ok"] * 1e6,
                "generator_cpu_us": result["generator_cpu_seconds"] / result["ok"] * 1e6}

    for case in CASES:
        load(case, 32, 1)  # warm
    trials = {}
    for c in CONCURRENCY:
        trials |= interleaved(context, [f"{case} c={c}" for case in CASES], trial)

    def ratio(field, case, c):
        """REST's part of what the case has; the median of paired repeats."""
        pairs = zip(trials[f"REST c={c}"], trials[f"{case} c={c}"], strict=True)
        return median([{"ratio": a[field] / b[field]} for a, b in pairs], "ratio")

    rows, bars = [], []
    for c in CONCURRENCY:
        for case in CASES:
            r = trials[f"{case} c={c}"]
            rows.append([c, case, f"{median(r, 'rps'):,.0f}", spread(r, "rps"), "" if case == "REST" else f"{ratio('rps', case, c):.2f}",
                         f"{median(r, 'p50_ms'):.2f}", f"{median(r, 'p99_ms'):.2f}", f"{median(r, 'cpu_us'):.1f}", f"{median(r, 'generator_cpu_us'):.1f}"])
    for case in list(CASES)[1:]:
        rps, cpu = ratio("rps", case, 32), ratio("cpu_us", case, 32)
        bars += [Bar(f"requests/s at 32 concurrent, of {case}", f"{rps:.2f}", f">= {LIMIT}", rps >= LIMIT),
                 Bar(f"server CPU per request at 32 concurrent, of {case}", f"{cpu:.2f}", "", None)]
    return Result(
        title="KServe REST against gRPC: the null model",
        about="64 float32 in, the same out, by millrace_loadgen: `POST /v2/models/null/infer` with Triton's binary extension, on one connection for each "
              "request in flight, and ModelInfer with raw contents. CPU is user and system time of a process per request.",
        columns=["concurrent", "over", "requests/s", "lowest-highest", "REST, of it", "p50 ms", "p99 ms", "server CPU us/request", "generator CPU us/request"],
        rows=rows, bars=bars,
        notes=["The generator runs on the same cores as the server: its CPU takes part in what requests/s are possible. CPU per request does not have that flaw."],
        trials=trials)
