"""What traces take from the null model, and what they take together with load reports and limits by key."""

import statistics
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import clients
from harness.context import interleaved, median, spread
from harness.processes import find_tool, start_millrace
from harness.report import Bar, Result
from scenarios.metrics_cost import confidence

SHORT = {"repeats": 3, "seconds": 2}
# Short trials in pairs: the speed of a machine that others share changes within seconds.
FULL = {"repeats": 60, "seconds": 1}
TOGETHER = "1 %, load reports, limits by key"
# The ratio of the requests that are traced.
CASES = {"off": None, "1 %": "0.01", "100 %": "1", TOGETHER: "0.01"}
CONCURRENCY = 32
KEY = "load-test"
# Limits that are never reached, so that all of them are counted.
POLICY = """default = "all"

[tiers.all]
requests_per_minute = 1000000000
characters_per_minute = 1000000000
audio_seconds_per_minute = 1000000000
concurrent_requests = 65536
"""


class Collector:
    """Takes spans over HTTP and forgets them."""

    def __init__(self):
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                collector.bytes += len(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.bytes = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def run(context):
    collector = Collector()
    try:
        return measure(context, collector)
    finally:
        collector.close()


def start(context, collector):
    """A daemon for each case. All ask for the key, so that they differ by what is measured alone."""
    keys, policy = context.out / "traces.keys", context.out / "traces.toml"
    keys.unlink(missing_ok=True)
    subprocess.run([str(find_tool(context.build, "millrace")), "hash-key", KEY, "--stdin", "--append", str(keys)], input=KEY, text=True,
                   check=True, capture_output=True)
    policy.write_text(POLICY)
    servers = {}
    for number, (case, ratio) in enumerate(CASES.items()):
        options = ["--api-keys", str(keys), "--trace-endpoint", collector.url if ratio else "off"]
        if ratio:
            options += ["--trace-protocol", "http/protobuf", "--trace-sample-ratio", ratio]
        if case == TOGETHER:
            options += ["--load-report", "binary", "--policy", str(policy)]
        servers[case] = start_millrace(context, f"millrace-traces-{number}", *options)
    return servers


def measure(context, collector):
    servers = start(context, collector)

    def load(case, seconds):
        return clients.ghz(context, servers[case], "null", concurrency=CONCURRENCY, seconds=seconds, api_key=KEY)

    for case in CASES:
        load(case, 1)
    trials = interleaved(context, tuple(CASES), lambda case: load(case, context.seconds))
    if collector.bytes == 0:
        raise clients.LoadFailed("the collector got no spans")

    def costs(case):
        """The processor time that a request takes more, of each pair of trials: the loss of a server that it limits."""
        return [1 - off["cpu_us"] / on["cpu_us"] for on, off in zip(trials[case], trials["off"], strict=True)]

    def bar(case, limit):
        cost = statistics.median(costs(case))
        low, high = confidence(costs(case))
        # A noisy machine shows a small loss only where its interval is narrow enough.
        return Bar(f"server CPU of a request that {case} takes, median of paired repeats", f"{cost:.1%} ({low:.1%} to {high:.1%})",
                   f"<= {limit:.0%}", None if low < limit < high else cost <= limit)

    scraped = clients.scrape(servers["100 %"])
    exported, dropped = (sum(scraped[f"millrace_trace_spans_{what}_total"].values()) for what in ("exported", "dropped"))
    return Result(
        title="Cost of traces, load reports and limits by key",
        about=f"The null model at {CONCURRENCY} concurrent by ghz with an API key, against four daemons in turns: without traces, with one "
              "request in a hundred traced, with all, and with one in a hundred traced beside ORCA's load reports in trailers and a policy that "
              "counts every limit of the key. Spans go to a collector in Python on the same machine, whose time is in the requests/s.",
        columns=["traced", "requests/s", "lowest-highest", "server CPU us/request"],
        rows=[[case, f"{median(trials[case], 'rps'):,.0f}", spread(trials[case], "rps"), f"{median(trials[case], 'cpu_us'):.1f}"]
              for case in CASES],
        bars=[bar("1 %", 0.01), bar(TOGETHER, 0.03),
              Bar("the same of 100 %", f"{statistics.median(costs('100 %')):.1%}", "", None)],
        notes=[f"In brackets the 95 % interval of the median, by resampling the {len(trials['off'])} pairs.",
               f"At 100 %, {exported:,.0f} spans reached the collector and {dropped:,.0f} were dropped, as the queue was full."],
        trials=trials)
