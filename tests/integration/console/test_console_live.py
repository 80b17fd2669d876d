"""The live view of the console follows the server."""

import itertools
import re

import console_page
import pytest
from playwright.sync_api import expect
from wire.console import SECOND
from wire.paths import NULL, PT_EN, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request


def test_the_live_view_follows_the_server(daemon, open_page):
    page = open_page(daemon, "live")
    expect(page.locator("#status")).to_contain_text("Serving")
    expect(page.locator("#models tr")).to_have_count(4)
    row = page.locator("#models tr", has_text=NULL)
    def requests_are_seen():
        for _ in range(50):
            daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        return row.locator("td.number").first.text_content() not in ("0", "–") and "busy" in page.locator("#lanes-text").text_content()
    eventually("the rate of the null model", requests_are_seen)
    assert page.locator("#pips i").count() >= 1
    expect(page.locator("#legend")).to_contain_text(VOICE)


def test_models_are_unloaded_and_loaded(daemon, open_page):
    page = open_page(daemon, "live")
    row = page.locator("#models tr", has_text=PT_EN)
    row.get_by_role("button", name="Unload").click()
    expect(page.locator("#unload-text")).to_contain_text(PT_EN)
    page.locator("#unload-cancel").click()
    expect(row.locator(".badge")).to_have_text("Ready")
    row.get_by_role("button", name="Unload").click()
    page.keyboard.press("Escape")
    expect(row.locator(".badge")).to_have_text("Ready")
    row.get_by_role("button", name="Unload").click()
    page.locator("#unload-go").click()
    expect(row.locator(".badge")).to_have_text("Not loaded")
    page.locator("#tab-translate").click()
    expect(page.locator("#source option")).to_have_count(2)   # the lists follow
    page.locator("#tab-live").click()
    row.get_by_role("button", name="Load").click()
    expect(row.locator(".badge")).to_have_text("Ready")


def test_a_model_that_is_loaded_again_has_counted_nothing_new(daemon, open_page):
    for _ in range(500):
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
    page = open_page(daemon, "live")
    row = page.locator("#models tr", has_text=NULL)
    # With the first answer nothing is known of rates or of the last minute.
    expect(page.locator("#tiles")).not_to_contain_text("in the last minute")
    page.evaluate("""() => {
      window.seen = [];
      const tile = document.querySelector(".tile b"), cell = [...document.querySelectorAll("#models tr")].find((row) => row.textContent.includes("null"));
      new MutationObserver(() => window.seen.push(tile.textContent, cell.querySelector(".number").textContent))
        .observe(tile, { childList: true, characterData: true, subtree: true });
    }""")
    row.get_by_role("button", name="Unload").click()
    page.locator("#unload-go").click()
    expect(row.locator(".badge")).to_have_text("Not loaded")
    row.get_by_role("button", name="Load").click()
    expect(row.locator(".badge")).to_have_text("Ready")
    before = page.evaluate("window.seen.length")
    eventually("figures after the load", lambda: page.evaluate("window.seen.length") > before + 6)
    assert set(page.evaluate("window.seen")) <= {"0", "–"}


def test_what_the_live_view_counts_is_of_the_time_that_it_saw(daemon, open_page):
    page = open_page(daemon, "live")
    expect(page.locator("#tiles")).to_contain_text(re.compile("in the last [1-9] s"))


def test_old_figures_are_grey_without_a_server(daemon, open_page):
    page = open_page(daemon, "live")
    expect(page.locator("#live-body")).not_to_have_class("stale")
    expect(page.locator("#models button").first).to_be_enabled()
    page.route("**/console/live*", lambda route: route.abort())
    expect(page.locator("#live-body")).to_have_class("stale")
    expect(page.locator("#live-notice")).to_have_class(re.compile("error"))
    expect(page.locator("#models button:enabled")).to_have_count(0)
    page.unroute("**/console/live*")
    expect(page.locator("#live-body")).not_to_have_class("stale")
    expect(page.locator("#models button").first).to_be_enabled()


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_all_of_a_model(daemon, open_page, width):
    page = open_page(daemon, "live", viewport={"width": width, "height": 844})
    row = page.locator("#models tr").first
    expect(row).to_be_visible()
    boxes = [part.bounding_box() for part in (row.locator("b"), row.locator("td.number").first, row.locator("td.number").last, row.locator(".badge"),
                                              row.get_by_role("button"))]
    for box in boxes:
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    for one, other in itertools.combinations(boxes, 2):   # a gap is between any two
        apart = max(max(one[at], other[at]) - min(one[at] + one[size], other[at] + other[size]) for at, size in (("x", "width"), ("y", "height")))
        assert apart >= 4, (one, other)
    assert page.locator("#live .table-scroll").evaluate("(box) => box.scrollWidth <= box.clientWidth")


def test_the_live_view_recovers_from_a_cut_connection(daemon, open_page):
    page = open_page(daemon, "live")
    expect(page.locator("#status")).to_contain_text("Serving")
    def cut_network(cut):
        page.context.set_offline(cut)
    def cut_server(cut):   # which the browser does not know of
        if cut:
            page.route("**/console/live*", lambda route: route.abort())
        else:
            page.unroute("**/console/live*")
    for set_cut in (cut_network, cut_server):
        set_cut(True)
        expect(page.locator("#status")).to_contain_text("No connection")
        expect(page.locator("#live-notice")).to_contain_text("tries again by itself")
        set_cut(False)
        expect(page.locator("#status")).to_contain_text("Serving")
        expect(page.locator("#live-notice")).to_be_hidden()


def test_the_live_view_does_not_grow(daemon, open_page):
    page = open_page(daemon, "live")
    expect(page.locator("#live-body")).to_be_visible()
    page.wait_for_timeout(4 * SECOND)
    uses = console_page.soak(page, seconds=16, interval=4)
    # Nodes that were replaced just now may not be collected yet.
    assert min(use.nodes for use in uses[-2:]) <= uses[0].nodes + 20
    assert uses[-1].listeners <= uses[0].listeners
    assert uses[-1].heap_bytes < uses[0].heap_bytes + 1_500_000   # a minute of history is still filling
