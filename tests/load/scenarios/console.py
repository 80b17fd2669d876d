"""What the console costs while it is open: its first paint, its growth under load, and the throughput that it takes."""

import json
import statistics
import threading
import urllib.request

from harness import clients, machine
from harness.beside import EachSecond
from harness.context import interleaved, median, spread
from harness.processes import start_millrace
from harness.report import Bar, Result
from scenarios.metrics_cost import confidence
from scenarios.mixed import run_mixed

SHORT = {"repeats": 3, "seconds": 2}
FULL = {"repeats": 15, "seconds": 5}
CASES = ("open", "closed")
CONCURRENCY = 32
SETTLE_S = 70   # until the page's minute of history is full
SAMPLE_S = 10
SOAK_S, SHORT_SOAK_S = 600, 60
# Well below what two cores carry, since the browser runs beside the server.
RATES = {"infer": 100, "translate": 5, "translate back": 5, "speech": 0.25, "speech stream": 0.25}
MOST_PAINT_MS = 200
MOST_LOSS = 0.01
MOST_GROWTH = 0.10       # of the page's heap, whose collector leaves some
MOST_NODE_GROWTH = 0.01
MOST_SERVER_GROWTH = 0.02


def viewer(server):
    """Asks for the live data once a second, as the page does, and leaves the showing to nobody."""
    url = f"http://127.0.0.1:{server.ports['http']}/console/live"
    since = 0

    def ask():
        nonlocal since
        with urllib.request.urlopen(f"{url}?since={since}", timeout=5) as response:
            since = json.load(response)["now_ms"]

    return EachSecond(ask)


def soak(context, seconds):
    """The page, open at the live view, and the server, under a mixed load for so long."""
    server = start_millrace(context, "millrace-console-soak")
    url = f"http://127.0.0.1:{server.ports['http']}"
    failures = []
    results = {}

    def load():
        try:
            results.update(run_mixed(context, server, seconds=SETTLE_S + seconds, rates=RATES))
        except Exception as error:  # pylint: disable=broad-exception-caught  # told by the thread that waits
            failures.append(error)

    generator = threading.Thread(target=load)
    import console_page  # with Playwright, which no other scenario needs
    with console_page.chromium() as browser:
        page = browser.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{url}/#/live")
        page.wait_for_selector("#live-body:not([hidden])")
        generator.start()
        try:
            page.wait_for_timeout(SETTLE_S * 1000)
            with machine.ResidentSampler(server.pid, SAMPLE_S / 2) as sampler:
                uses = console_page.soak(page, seconds, SAMPLE_S)
        except BaseException:
            clients.kill_running()  # or joining would wait for its end
            raise
        finally:
            generator.join()
    server.check_alive()
    if failures:
        raise failures[0]
    context.stop(server)
    return {"uses": [[use.heap_bytes, use.nodes, use.listeners] for use in uses], "errors": errors,
            "resident": [mib for _, mib in sampler.samples], "failed": sum(r["offered"] - r["unsent"] - r["ok"] for r in results.values()),
            "ok": sum(r["ok"] for r in results.values())}


def growth(values):
    """From the median of the first quarter to that of the last."""
    quarter = max(1, len(values) // 4)
    return statistics.median(values[-quarter:]) / statistics.median(values[:quarter]) - 1


def paints(context):
    server = start_millrace(context, "millrace-console-paint")
    import console_page  # with Playwright, which no other scenario needs
    with console_page.chromium() as browser:
        found, bare = console_page.first_paints(browser, f"http://127.0.0.1:{server.ports['http']}")
    context.stop(server)
    return {"ms": found, "bare_ms": bare}


def run(context):
    measured = context.trial("paint", lambda: paints(context))
    painted, bare = measured["ms"], measured["bare_ms"]
    seconds = SOAK_S if context.args.full else SHORT_SOAK_S
    held = context.trial("soak", lambda: soak(context, seconds))
    server = start_millrace(context, "millrace-console")
    clients.ghz(context, server, "null", concurrency=CONCURRENCY, seconds=1)

    def trial(case):
        if case == "closed":
            return clients.ghz(context, server, "null", concurrency=CONCURRENCY, seconds=context.seconds)
        with viewer(server) as viewing:
            result = clients.ghz(context, server, "null", concurrency=CONCURRENCY, seconds=context.seconds)
        if viewing.calls < context.seconds / 2:
            raise clients.LoadFailed(f"only {viewing.calls} answers in {context.seconds} s")
        return result

    trials = interleaved(context, CASES, trial)
    ratios = [shown["rps"] / hidden["rps"] for shown, hidden in zip(trials["open"], trials["closed"], strict=True)]
    loss = 1 - statistics.median(ratios)
    low, high = confidence(ratios)
    heap, nodes, listeners = ([use[i] for use in held["uses"]] for i in range(3))
    paint = statistics.median(painted)
    server_growth = growth(held["resident"])
    return Result(
        title="The console",
        about=f"Chromium of Debian on the same processor. First paint: from the navigation to the first contentful paint with an empty cache, "
              f"{len(painted)} loads. Growth: the live view, open for {seconds} s after its minute of history is full, while the server "
              "carries a mixed load (calls/s: " + ", ".join(f"{kind} {rate:g}" for kind, rate in RATES.items())
              + "); after a collection of garbage, from the median of the first quarter to that of the last. Throughput: the null model "
              f"at {CONCURRENCY} concurrent by ghz, with and without a client that asks for the live data once a second as the page does.",
        columns=["live data", "requests/s", "lowest-highest", "server CPU us/request"],
        rows=[[case, f"{median(trials[case], 'rps'):,.0f}", spread(trials[case], "rps"), f"{median(trials[case], 'cpu_us'):.1f}"]
              for case in CASES],
        bars=[Bar("first contentful paint, median", f"{paint:.0f} ms ({min(painted):.0f} to {max(painted):.0f})", f"<= {MOST_PAINT_MS} ms",
                  paint <= MOST_PAINT_MS),
              Bar("growth of the page's heap", f"{growth(heap):+.1%} of {heap[0] / 1e6:.1f} MB", f"<= {MOST_GROWTH:.0%}", growth(heap) <= MOST_GROWTH),
              Bar("of its nodes", f"{growth(nodes):+.1%} of {nodes[0]}", f"<= {MOST_NODE_GROWTH:.0%}", growth(nodes) <= MOST_NODE_GROWTH),
              Bar("of its listeners", f"{growth(listeners):+.1%} of {listeners[0]}", f"<= {MOST_NODE_GROWTH:.0%}",
                  growth(listeners) <= MOST_NODE_GROWTH),
              Bar("of the server's resident size", f"{server_growth:+.2%}", f"within {MOST_SERVER_GROWTH:.0%}",
                  abs(server_growth) <= MOST_SERVER_GROWTH),
              Bar("errors of the page, failed calls", f"{len(held['errors'])}, {held['failed']:.0f} of {held['ok']:,.0f}", "0",
                  not held["errors"] and held["failed"] == 0),
              Bar("throughput lost while it is open, median of paired repeats", f"{loss:.1%}", f"< {MOST_LOSS:.0%}",
                  None if low < 1 - MOST_LOSS < high else loss < MOST_LOSS)],
        notes=[f"A bare page of one word, loaded by turns with the console, is painted after {statistics.median(bare):.0f} ms "
               f"({min(bare):.0f} to {max(bare):.0f}): that is the browser's own time.",
               f"95 % interval of the median loss, by resampling the {len(ratios)} pairs: {1 - high:.1%} to {1 - low:.1%}.",
               "What the browser itself takes of the processor, which people have elsewhere, is not in the loss."],
        trials={**trials, "paint": [measured], "soak": [held]})
