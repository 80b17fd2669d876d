"""What metrics take from the null model: counting its requests, and their page, scraped each second."""

import json
import random
import statistics
import subprocess

from harness import clients, machine
from harness.beside import EachSecond
from harness.context import interleaved, median, spread
from harness.processes import find_tool, start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 3, "seconds": 2}
FULL = {"repeats": 15, "seconds": 5}
CASES = ("scraped", "off")
CONCURRENCY = 32
RESAMPLES = 2000
PAGES = 200


def confidence(ratios):
    """95 % interval of the median by resampling, with a fixed seed."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES)]


def count_ns(context, threads):
    """The CPU time of counting one request, of each of so many threads that count the same model."""
    command = [find_tool(context.build, "metrics_bench"), f"--benchmark_filter=threads:{threads}$", "--benchmark_format=json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report["benchmarks"][0]["cpu_time"]


def page_ms(server):
    """The server's CPU time for one page, its counters all filled."""
    before = machine.cpu_seconds(server.pid)
    for _ in range(PAGES):
        clients.scrape(server)
    return (machine.cpu_seconds(server.pid) - before) / PAGES * 1e3


def run(context):
    servers = {"scraped": start_millrace(context, "millrace-metrics-on"),
               "off": start_millrace(context, "millrace-metrics-off", "--metrics-address", "off")}
    for server in servers.values():
        clients.ghz(context, server, "null", concurrency=CONCURRENCY, seconds=1)

    def trial(case):
        if case == "off":
            return clients.ghz(context, servers[case], "null", concurrency=CONCURRENCY, seconds=context.seconds)
        with EachSecond(lambda: clients.scrape(servers[case])) as scraper:
            result = clients.ghz(context, servers[case], "null", concurrency=CONCURRENCY, seconds=context.seconds)
        if scraper.calls < context.seconds / 2:
            raise clients.LoadFailed(f"only {scraper.calls} scrapes in {context.seconds} s")
        return result

    trials = interleaved(context, CASES, trial)
    ratios = [on["rps"] / off["rps"] for on, off in zip(trials["scraped"], trials["off"], strict=True)]
    cost = 1 - statistics.median(ratios)
    low, high = confidence(ratios)
    rps = median(trials["off"], "rps")
    page = page_ms(servers["scraped"])
    page_us = page * 1e3 / rps
    count_us = count_ns(context, threads=2) / 1e3
    taken_us = count_us + page_us
    share = taken_us * rps / 1e6
    return Result(
        title="Cost of metrics",
        about=f"The null model at {CONCURRENCY} concurrent by ghz: one daemon whose metrics page is read every second, one started "
              "with `--metrics-address off`. Both count the same; the difference is the page. Counting is measured by itself "
              "(tests/benchmarks/metrics_bench.cc), two threads at once, as is the page, without load.",
        columns=["metrics", "requests/s", "lowest-highest", "server CPU us/request"],
        rows=[[case, f"{median(trials[case], 'rps'):,.0f}", spread(trials[case], "rps"), f"{median(trials[case], 'cpu_us'):.1f}"]
              for case in CASES],
        bars=[Bar(f"time to count each request ({count_us:.3f} us) and to make a page a second ({page:.2f} ms), of all time",
                  f"{share:.2%}", "< 1 %", share < 0.01),
              Bar("the same, of the server's CPU for a request", f"{taken_us / median(trials['off'], 'cpu_us'):.2%}", "", None),
              # Rates of a noisy machine show a loss of 1 % only where their interval is narrow enough.
              Bar("throughput lost to the page, median of paired repeats", f"{cost:.1%}", "< 1 %", None if low < 0.99 < high else cost < 0.01)],
        notes=[f"95 % interval of the median loss, by resampling the {len(ratios)} pairs: {1 - high:.1%} to {1 - low:.1%}.",
               "The first figure bounds what throughput loses even if nothing else ran while a request is counted or a page made; what counting "
               "displaces in the caches is not in it."],
        trials=trials)
