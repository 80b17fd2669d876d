"""The console in the distribution's Chromium: what a person sees, hears and types, and what the page must not do."""

import os
import shutil
import sys

import pytest
from playwright.sync_api import Page, expect
from wire.console import SECOND, url_of
from wire.paths import ROOT
from wire.requests import PATIENCE

sys.path.insert(0, str(ROOT / "tests" / "load"))
import console_page  # noqa: E402

expect.set_options(timeout=PATIENCE * SECOND)


@pytest.fixture(scope="module")
def browser():
    # `make deps` installs it on Debian. Where changes are gated (CI is set) a skip would go unnoticed, and its absence fails.
    if shutil.which("chromium") is None and "CI" not in os.environ:
        pytest.skip("Chromium is not installed")
    with console_page.chromium() as launched:
        yield launched


@pytest.fixture
def open_page(browser):
    """Opens the console of a daemon. No page may raise an error, or ask anything of another origin."""
    contexts = []
    errors = []
    strangers = []

    def opened(daemon, tab="speak", prepare=None, **options) -> Page:
        context = browser.new_context(accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if "Content Security Policy" in message.text else None)
        page.on("request", lambda request: strangers.append(request.url)
                if not request.url.startswith((url_of(daemon) + "/", "data:", "blob:" + url_of(daemon))) else None)
        if prepare is not None:
            prepare(page)
        page.goto(f"{url_of(daemon)}/#/{tab}")
        return page
    yield opened
    for context in contexts:
        context.close()
    assert errors == []
    assert strangers == []
