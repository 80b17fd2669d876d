"""What the console costs a browser: its first paint, and its growth while it stays open. Needs Chromium and a running server.
Usage: console_page.py [--url http://127.0.0.1:8000] [--seconds 600]"""

import argparse
import contextlib
import dataclasses
import http.server
import shutil
import statistics
import threading
import time
from collections.abc import Iterator

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

ARGUMENTS = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--enable-precise-memory-info"]
LOADS = 7


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The distribution's browser; Playwright's own is never fetched."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@dataclasses.dataclass
class Use:
    """What a page holds after its garbage was collected."""

    heap_bytes: int
    nodes: int
    listeners: int


def use_of(session: CDPSession) -> Use:
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")
    counters = session.send("Memory.getDOMCounters")
    return Use(int(heap["usedSize"]), counters["nodes"], counters["jsEventListeners"])


def session_of(page: Page) -> CDPSession:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    return session


def first_paint(browser: Browser, url: str) -> float:
    """Milliseconds from the navigation to the first contentful paint, with an empty cache."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(url)
    # Playwright's own waiting for an expression would need the page to allow eval.
    while (painted := page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")) is None:
        page.wait_for_timeout(20)
    context.close()
    return float(painted)


class BareHandler(http.server.BaseHTTPRequestHandler):
    """Answers with a page of one word."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>bare</title><p>Millrace"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextlib.contextmanager
def bare_page() -> Iterator[str]:
    """The address of a page that costs a browser the least that a page can: what is above its first paint is the console's own."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), BareHandler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def first_paints(browser: Browser, url: str) -> tuple[list[float], list[float]]:
    """The first paints of the page and of a bare one, by turns."""
    with bare_page() as bare:
        pairs = [(first_paint(browser, url), first_paint(browser, bare)) for _ in range(LOADS)]
    return [paint for paint, _ in pairs], [paint for _, paint in pairs]


def soak(page: Page, seconds: float, interval: float = 10) -> list[Use]:
    """The page's use of memory at intervals, while it shows the live view."""
    session = session_of(page)
    uses = [use_of(session)]
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        page.wait_for_timeout(min(interval, left) * 1000)
        uses.append(use_of(session))
    return uses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    with chromium() as browser:
        paints, bare = first_paints(browser, options.url)
        print(f"first contentful paint: median {statistics.median(paints):.0f} ms of {LOADS}, {min(paints):.0f}..{max(paints):.0f}; "
              f"of a bare page {statistics.median(bare):.0f} ms")
        page = browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{options.url}/#/live")
        page.wait_for_selector("#live-body:not([hidden])")
        page.wait_for_timeout(70_000 if options.seconds >= 120 else 5_000)   # until its minute of history is full
        for i, use in enumerate(soak(page, options.seconds)):
            if i % 6 == 0:
                print(f"{i * 10:5} s: {use.heap_bytes / 1e6:6.2f} MB, {use.nodes} nodes, {use.listeners} listeners", flush=True)
        print(f"page errors: {errors or 'none'}")


if __name__ == "__main__":
    main()
