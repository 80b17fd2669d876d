"""The page of the console as a whole: its files, its keys, its layout, its theme."""

import gzip
import re
import urllib.request

import pytest
from playwright.sync_api import expect
from wire import daemon as daemons
from wire import repository
from wire.console import assert_every_control_has_a_name, url_of
from wire.daemon import run
from wire.paths import EN_PT, NULL
from wire.rest import send

MOST_BYTES = 120 << 10
USER, ADMIN = "the-key-of-a-user", "the-key-of-an-admin"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    keys = folder / "keys"
    lines = [run("hash-key", name, "--role", role, "--stdin", stdin=key.encode()).stdout.decode()
             for name, role, key in (("alice", "user", USER), ("root", "admin", ADMIN))]
    keys.write_text("".join(lines))
    keys.chmod(0o600)
    with daemons.start(folder, "--api-keys", keys, models=repository.link(folder / "models", NULL, EN_PT)) as running:
        yield running


def test_the_page_is_small_and_packed(daemon):
    _, headers, page = send(daemon, "GET", "/", Accept_Encoding="gzip")
    assert headers["Content-Encoding"] == "gzip"
    total = len(page)
    text = gzip.decompress(page).decode()
    files = set(re.findall(r'(?:href|src)="(/console/[^"]+)"', text))
    assert len(files) >= 7
    for file in files:
        status, headers, content = send(daemon, "GET", file, Accept_Encoding="gzip")
        assert status == 200
        assert headers["Content-Encoding"] == "gzip"
        total += len(content)
        # All that a file imports is named by the page, so that the browser fetches it at once.
        for imported in re.findall(r'from "\./([^"]+)"', gzip.decompress(content).decode()):
            assert f"/console/{imported}" in files
    assert total <= MOST_BYTES


@pytest.mark.parametrize("path", ["/web", "/web/", "/console", "/console/"])
def test_the_page_is_found_where_others_have_theirs(daemon, path):
    with urllib.request.urlopen(url_of(daemon) + path, timeout=20) as answer:
        assert answer.url == url_of(daemon) + "/"
        assert "text/html" in answer.headers["Content-Type"]


def test_console_off_serves_no_page(tmp_path, null_models):
    with daemons.start(tmp_path, "--console", "off", models=null_models) as quiet:
        for path in ("/", "/console/console.js", "/console/live"):
            assert send(quiet, "GET", path)[0] == 404
        assert send(quiet, "GET", "/v2/models")[0] == 200


def test_who_is_no_admin_sees_the_shelf_and_changes_nothing(guarded, open_page):
    page = open_page(guarded, "shelf")
    page.locator("#key").fill(USER)
    page.keyboard.press("Enter")
    expect(page.locator("#shelf-models tr")).to_have_count(2)
    expect(page.locator("#shelf-models button:visible")).to_have_count(0)


def test_the_key_is_asked_for_and_kept_in_memory_only(guarded, open_page):
    page = open_page(guarded, "live")
    expect(page.locator("#key-dialog")).to_be_visible()
    expect(page.locator("#key-hint")).to_contain_text("asks for a key")
    page.locator("#key").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#key-hint")).to_contain_text("does not know this key")
    page.locator("#key").fill(USER)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Serving")
    expect(page.locator("#models tr")).to_have_count(2)
    expect(page.locator("#models button")).to_have_count(2)
    expect(page.locator("#models button:visible")).to_have_count(0)   # users may not
    page.locator("#tab-translate").click()
    page.locator("#source").select_option("en")
    page.locator("#source-text").fill("Good morning.")
    expect(page.locator("#target-text")).to_contain_text("dia")
    expect(page.locator("#translate-snippet code")).to_contain_text("Authorization: Bearer $MILLRACE_API_KEY")
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])")
    assert USER not in kept and USER not in page.content()
    page.reload()
    expect(page.locator("#key-dialog")).to_be_visible()
    page.locator("#key").fill(ADMIN)
    page.keyboard.press("Enter")
    page.locator("#tab-live").click()
    expect(page.locator("#models button:visible")).to_have_count(2)


@pytest.mark.parametrize("tab", ["speak", "translate", "live", "shelf"])
@pytest.mark.parametrize("width", [320, 768, 1280])
def test_nothing_is_wider_than_the_screen(daemon, open_page, tab, width):
    page = open_page(daemon, tab, viewport={"width": width, "height": 740})
    expect(page.locator("#status")).to_contain_text("Serving")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_control_has_a_name(daemon, open_page):
    page = open_page(daemon)
    expect(page.locator("#status")).to_contain_text("Serving")
    page.locator("#tab-translate").click()
    page.locator("#glossary-add").click()
    assert_every_control_has_a_name(page)


PAGE_COLORS = {"light": "rgb(246, 247, 248)", "dark": "rgb(15, 19, 22)"}


@pytest.mark.parametrize("scheme", PAGE_COLORS)
def test_the_theme_is_the_system_s_until_it_is_chosen(daemon, open_page, scheme):
    page = open_page(daemon, color_scheme=scheme)
    other = "light" if scheme == "dark" else "dark"
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    page.locator("#theme-button").click()
    expect(page.locator("html")).to_have_attribute("data-theme", other)
    expect(page.locator("body")).to_have_css("background-color", PAGE_COLORS[other])
    expect(page.locator("#theme-button")).to_have_attribute("aria-pressed", str(other == "dark").lower())
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", other)
    page.locator("#theme-button").click()   # as the system again, and with it
    page.emulate_media(color_scheme=other)
    expect(page.locator("html")).to_have_attribute("data-theme", other)
