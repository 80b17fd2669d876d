"""What the tests of the console share."""

from playwright.sync_api import Page, expect

from .requests import PATIENCE

SECOND = 1000


def url_of(daemon) -> str:
    return f"http://127.0.0.1:{daemon.ports['http']}"


def level(page: Page) -> float:
    return page.evaluate("import('/console/speak.js').then(({ player }) => player.level())")


def await_sound(page: Page, least: float = 0.01) -> None:
    """The page itself looks for a level above `least`: a poll from outside would miss a short sound on a busy machine."""
    assert page.evaluate("""async ([least, patience]) => {
      const { player } = await import("/console/speak.js");
      const end = performance.now() + patience;
      while (player.level() <= least && performance.now() < end) await new Promise((look) => setTimeout(look, 10));
      return performance.now() < end;
    }""", [least, PATIENCE * SECOND]), "no sound in the analyser"


def speak(page: Page, text: str) -> None:
    expect(page.locator("#speak-go")).to_be_enabled()
    page.locator("#speak-text").fill(text)
    page.locator("#speak-go").click()


def assert_every_control_has_a_name(page: Page) -> None:
    nameless = page.evaluate("""() => [...document.querySelectorAll("button, input, select, textarea, [role=slider], [role=textbox], canvas, progress")]
      .filter((control) => !control.labels?.length && !control.getAttribute("aria-label") && !control.getAttribute("aria-labelledby")
                           && !control.textContent.trim() && control.getAttribute("aria-hidden") !== "true")
      .map((control) => control.outerHTML)""")
    assert nameless == []
