"""Models are pulled and removed in the console."""

import re
import threading

import pytest
from playwright.sync_api import Page, expect
from wire import daemon as daemons
from wire import mirror, repository
from wire.console import assert_every_control_has_a_name, speak, url_of
from wire.paths import EN_PT, NULL
from wire.polling import eventually
from wire.requests import PATIENCE
from wire.rest import send

VOICE_FILE = "/lfs/rhasspy/piper-voices/xx/en_US-lessac-medium/en_US-lessac-medium.onnx"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    with mirror.start() as hub:
        mirror.publish_voice(hub, "en_US-lessac-medium")
        for pair in ("en-de", "en-fr"):
            mirror.publish_pair(hub, folder, pair)
        for repo, license_text in (("Helsinki-NLP/opus-mt-en-de", "cc-by-4.0"), ("facebook/nllb-200-distilled-600M", "cc-by-nc-4.0")):
            mirror.publish_translator(hub, folder, repo, license_text)
        yield hub


@pytest.fixture(scope="module")
def shop(hub, tmp_path_factory):
    """A daemon that fetches models for its callers."""
    folder = tmp_path_factory.mktemp("shop")
    with daemons.start(folder, "--allow-pull", models=repository.link(folder / "models", NULL, EN_PT), **hub.environment) as running:
        yield running


def entry(page: Page, name: str):
    return page.locator("#shelf-models tr").filter(has=page.locator("b", has_text=re.compile(f"^{re.escape(name)}$")))


def filtered(page: Page, text: str, count: int) -> None:
    page.locator("#shelf-filter").fill(text)
    expect(page.locator("#shelf-models tr")).to_have_count(count)


def test_the_shelf_is_filtered(shop, open_page):
    page = open_page(shop, "shelf")
    expect(page.locator("#shelf-count")).to_contain_text("2 installed")
    expect(entry(page, "firefox/en-fr")).to_contain_text(re.compile("Translation.*en, fr.*MB.*MPL-2.0.*Available"))
    expect(entry(page, "piper/en_US-lessac-medium")).to_contain_text(re.compile("Speech.*en-US.*63 MB.*not stated.*Available"))
    expect(entry(page, "nllb-200-distilled-600m")).to_contain_text("CC-BY-NC-4.0 Non-commercial")
    expect(entry(page, EN_PT)).to_contain_text("Installed")
    filtered(page, "french", 1)
    filtered(page, "FIREFOX de", 1)
    filtered(page, "nothing of this name", 0)
    expect(page.locator("#shelf-count")).to_contain_text(re.compile("^0 of [0-9]+ models"))
    filtered(page, "mpl-2.0 english", 2)
    page.locator("#shelf-filter").fill("")
    page.locator("#shelf-state").select_option("installed")
    expect(page.locator("#shelf-models tr")).to_have_count(2)
    page.locator("#shelf-task").select_option("Translation")
    expect(page.locator("#shelf-models tr")).to_have_count(1)


def slowly(hub, gate):
    """A transfer that waits in the middle until the gate is opened."""
    def answer(handler):
        data = hub.paths[VOICE_FILE]
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        for begin in range(0, len(data) // 2, 1 << 20):
            handler.wfile.write(data[begin:min(begin + (1 << 20), len(data) // 2)])
            handler.wfile.flush()
            gate.wait(0.05)
        gate.wait(PATIENCE)
        handler.wfile.write(data[len(data) // 2:])
        return True
    return answer


def test_a_voice_is_pulled_with_progress_by_the_keyboard_speaks_and_is_removed(hub, shop, open_page):
    gate = threading.Event()
    hub.faults[VOICE_FILE] = [slowly(hub, gate)]
    page = open_page(shop, "shelf")
    other = open_page(shop, "shelf")
    row = entry(page, "piper/en_US-lessac-medium")
    try:
        row.get_by_role("button", name="Pull piper/en_US-lessac-medium").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#shelf-said")).to_have_text("piper/en_US-lessac-medium is being fetched")
        expect(row.locator("progress")).to_have_attribute("value", re.compile(r"0\.[1-9]"))
        expect(row).to_contain_text(re.compile(r"[0-9]+(\.[0-9])? MB of 63 MB"))
        expect(row.get_by_role("button")).to_have_text("Cancel")
        # Everybody sees it, and who began it may cancel it.
        expect(entry(other, "piper/en_US-lessac-medium")).to_contain_text("of 63 MB")
        expect(entry(other, "piper/en_US-lessac-medium").get_by_role("button")).to_have_count(0)
    finally:
        gate.set()
    expect(row).to_contain_text("Installed")
    expect(page.locator("#shelf-said")).to_have_text("piper/en_US-lessac-medium is installed and serves as en_us-lessac-medium")
    expect(row).to_contain_text("as en_us-lessac-medium")
    expect(row).to_contain_text("CC0-1.0")   # the voice's card tells it
    expect(entry(other, "piper/en_US-lessac-medium")).to_contain_text("Installed")
    page.locator("#tab-speak").click()
    speak(page, "Good morning.")
    expect(page.locator("#speak-state")).to_contain_text("s of speech in")
    page.locator("#tab-shelf").click()
    row.get_by_role("button", name="Remove").click()
    expect(page.locator("#remove-text")).to_contain_text(re.compile(r"en_us-lessac-medium \([0-9]+ MB\) are deleted from .*/models"))
    page.keyboard.press("Escape")
    expect(row.get_by_role("button")).to_have_text("Remove")
    row.get_by_role("button", name="Remove").click()
    page.locator("#remove-go").click()
    expect(page.locator("#shelf-said")).to_have_text("en_us-lessac-medium is removed")
    expect(row).to_contain_text("Available")
    assert not (shop.log.parent / "models" / "en_us-lessac-medium").exists()
    assert "en_us-lessac-medium" not in send(shop, "GET", "/v2/models")[2].decode()


def test_a_pull_that_is_cancelled_goes_on_where_it_was(hub, shop, open_page):
    gate = threading.Event()
    hub.faults[VOICE_FILE] = [slowly(hub, gate)]
    page = open_page(shop, "shelf")
    row = entry(page, "piper/en_US-lessac-medium")
    try:
        row.get_by_role("button", name="Pull").click()
        expect(row).to_contain_text("of 63 MB")
        row.get_by_role("button", name="Cancel").click()
        expect(page.locator("#shelf-said")).to_contain_text("was cancelled")
        expect(row).to_contain_text("Available")
        eventually("the transfer has ended", lambda: send(shop, "GET", "/console/live")[2].decode().count('"pulls":[]') == 1)
    finally:
        gate.set()
    hub.requests.clear()
    row.get_by_role("button", name="Pull").click()
    expect(row).to_contain_text("Installed")
    assert [headers["Range"] for path, headers in hub.requests if path == VOICE_FILE and "Range" in headers]
    row.get_by_role("button", name="Remove").click()
    page.locator("#remove-go").click()
    expect(row).to_contain_text("Available")


def test_a_licence_without_commercial_use_is_told_before_the_download(hub, shop, open_page):
    page = open_page(shop, "shelf")
    hub.requests.clear()
    row = entry(page, "nllb-200-distilled-600m")
    row.get_by_role("button", name="Pull").click()
    expect(page.locator("#license-text")).to_contain_text("The licence of nllb-200-distilled-600m is CC-BY-NC-4.0, which allows no commercial use.")
    page.locator("#license-cancel").click()
    expect(row).to_contain_text("Available")
    # One that only the hub knows is told by the server's refusal.
    page.locator("#shelf-name").fill("hf:facebook/nllb-200-distilled-600M")
    page.keyboard.press("Enter")
    expect(page.locator("#license-text")).to_contain_text("its licence is CC-BY-NC-4.0, which allows no commercial use. Nothing has been downloaded.")
    assert not [path for path, _ in hub.requests if "/lfs/" in path]
    page.locator("#license-cancel").click()
    row.get_by_role("button", name="Pull").click()
    page.locator("#license-go").click()
    expect(row).to_contain_text("Installed")


def test_a_model_is_pulled_by_its_name(shop, open_page):
    page = open_page(shop, "shelf")
    page.locator("#shelf-name").fill("opus-mt-en-xx")
    page.keyboard.press("Enter")
    expect(page.locator("#shelf-error")).to_contain_text("opus-mt-en-xx: ")
    expect(page.locator("#shelf-error")).to_contain_text("there is no such model")
    page.locator("#shelf-name").fill("firefox/en-dd")
    page.keyboard.press("Enter")
    expect(page.locator("#shelf-error")).to_contain_text("nearest are firefox/en-de")
    page.locator("#shelf-name").fill("opus-mt-en-de")
    page.keyboard.press("Enter")
    expect(entry(page, "opus-mt-en-de")).to_contain_text("Installed")
    expect(page.locator("#shelf-error")).to_be_hidden()


def test_a_hub_that_does_not_answer_is_told_and_the_rest_is_listed(hub, shop, open_page):
    kept = hub.paths.pop("/db/models.json")
    try:
        page = open_page(shop, "shelf")
        expect(page.locator("#shelf-hubs")).to_contain_text("/db/models.json: is not there")
        expect(entry(page, "piper/en_US-lessac-medium")).to_have_count(1)
        expect(entry(page, "firefox/en-fr")).to_have_count(0)
    finally:
        hub.paths["/db/models.json"] = kept
    page.locator("#shelf-refresh").click()
    expect(entry(page, "firefox/en-fr")).to_have_count(1)


def test_without_leave_the_shelf_says_how_to_allow_it(daemon, open_page):
    page = open_page(daemon, "shelf")
    expect(page.locator("#shelf-notice")).to_contain_text("--allow-pull")
    expect(page.locator("#shelf-notice")).to_contain_text("millrace pull")
    expect(page.locator("#shelf-models tr")).to_have_count(4)
    expect(page.locator("#shelf-models button:visible")).to_have_count(0)
    expect(page.locator("#shelf-pull")).to_be_hidden()


def test_a_row_of_the_shelf_stays_when_the_hubs_answer(shop, open_page):
    pulled = open_page(shop, "shelf").request.post(f"{url_of(shop)}/v2/repository/models/firefox-en-de/load", data={"parameters": {"pull": "firefox/en-de"}})
    assert pulled.ok, pulled.text()
    held = []
    page = open_page(shop, "shelf", prepare=lambda page: page.route("**/console/shelf/available", lambda route: held.append(route)))
    row = entry(page, "firefox/en-de")
    kept = row.element_handle()
    button = row.get_by_role("button")
    button.focus()
    expect(page.locator("#shelf-count")).to_contain_text("asking the hubs for more")
    eventually("the request is held", lambda: page.wait_for_timeout(1) or held)  # Playwright calls back while it waits itself
    held[0].continue_()
    expect(page.locator("#shelf-count")).not_to_contain_text("asking the hubs for more")
    assert kept.evaluate("(row) => row.isConnected")
    expect(button).to_be_focused()


@pytest.mark.parametrize("width", [360, 390])
def test_a_phone_shows_all_of_a_model_of_the_shelf(shop, open_page, width):
    page = open_page(shop, "shelf", viewport={"width": width, "height": 844})
    row = entry(page, "nllb-200-distilled-600m")
    for part in (row.locator("b"), row.locator("td.fact").first, row.locator(".warning"), row.locator(".badge").last, row.get_by_role("button")):
        expect(part).to_be_visible()
        box = part.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_control_of_the_shelf_has_a_name(shop, open_page):
    page = open_page(shop, "shelf")
    expect(entry(page, "firefox/en-fr").get_by_role("button")).to_be_visible()
    assert_every_control_has_a_name(page)
