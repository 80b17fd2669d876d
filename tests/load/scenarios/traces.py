"""What traces take from the null model: off, at one request in a hundred, and at every request."""

import statistics
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import clients
from harness.context import interleaved, median, spread
from harness.processes import start_millrace
from harness.report import Bar, Result
from scenarios.metrics_cost import confidence

SHORT = {"repeats": 3, "seconds": 2}
FULL = {"repeats": 15, "seconds": 5}
RATIOS = {"off": None, "1 %": "0.01", "100 %": "1"}
CONCURRENCY = 32


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


def measure(context, collector):
    servers = {}
    for case, ratio in RATIOS.items():
        options = ["--trace-endpoint", "off"] if ratio is None else [
            "--trace-endpoint", collector.url, "--trace-protocol", "http/protobuf", "--trace-sample-ratio", ratio]
        servers[case] = start_millrace(context, f"millrace-traces-{case.split()[0]}", *options)
    for server in servers.values():
        clients.ghz(context, server, "null", concurrency=CONCURRENCY, seconds=1)
    trials = interleaved(context, tuple(RATIOS), lambda case: clients.ghz(
        context, servers[case], "null", concurrency=CONCURRENCY, seconds=context.seconds))
    if collector.bytes == 0:
        raise clients.LoadFailed("the collector got no spans")

    def ratios(case):
        return [on["rps"] / off["rps"] for on, off in zip(trials[case], trials["off"], strict=True)]

    few, all_of_them = (1 - statistics.median(ratios(case)) for case in ("1 %", "100 %"))
    low, high = confidence(ratios("1 %"))
    scraped = clients.scrape(servers["100 %"])
    exported, dropped = (sum(scraped[f"millrace_trace_spans_{what}_total"].values()) for what in ("exported", "dropped"))
    return Result(
        title="Cost of traces",
        about=f"The null model at {CONCURRENCY} concurrent by ghz, against three daemons in turns: without traces, with one request in a "
              "hundred traced, and with all. Spans go to a collector in Python on the same machine, whose time is in the figures of 100 %.",
        columns=["sampled", "requests/s", "lowest-highest", "server CPU us/request"],
        rows=[[case, f"{median(trials[case], 'rps'):,.0f}", spread(trials[case], "rps"), f"{median(trials[case], 'cpu_us'):.1f}"]
              for case in RATIOS],
        bars=[Bar("throughput lost at 1 %, median of paired repeats", f"{few:.1%}", "<= 1 %",
                  # Rates of a noisy machine show a loss of 1 % only where their interval is narrow enough.
                  None if low < 0.99 < high else few <= 0.01),
              Bar("throughput lost at 100 %", f"{all_of_them:.1%}", "", None)],
        notes=[f"95 % interval of the median loss at 1 %, by resampling the {len(trials['off'])} pairs: {1 - high:.1%} to {1 - low:.1%}.",
               f"At 100 %, {exported:,.0f} spans reached the collector and {dropped:,.0f} were dropped, as the queue was full."],
        trials=trials)
