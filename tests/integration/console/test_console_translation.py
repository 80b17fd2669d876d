"""Texts and files are translated in the console."""

import re

from playwright.sync_api import expect
from wire.console import SECOND
from wire.polling import eventually
from wire.requests import PATIENCE


def test_a_text_is_translated_while_it_is_typed(daemon, open_page):
    page = open_page(daemon, "translate")
    expect(page.locator("#source option")).to_have_count(3)   # detection and two languages
    page.locator("#target").select_option("pt")
    page.locator("#source-text").press_sequentially("Where is the nearest station? The children were playing.", delay=5)
    expect(page.locator("#target-text")).to_contain_text("estação")
    expect(page.locator("#detected")).to_contain_text("Detected: English")
    expect(page.locator("#translate-state")).to_contain_text("ms")
    expect(page.locator("#target-text")).not_to_have_class(re.compile("partial"))
    assert page.locator("#target-text").get_attribute("lang") == "pt"
    page.locator("#swap").click()
    expect(page.locator("#source")).to_have_value("pt")
    expect(page.locator("#target-text")).to_contain_text("station")
    page.locator("#source-text").fill("")
    expect(page.locator("#target-text .empty")).to_be_visible()


def test_a_text_in_the_target_language_is_translated_into_another(daemon, open_page):
    page = open_page(daemon, "translate")
    expect(page.locator("#target")).to_have_value("pt")
    expect(page.locator("#swap")).to_be_disabled()   # no language is known yet
    page.locator("#source-text").fill("Bom dia. Onde fica a estação mais próxima?")
    expect(page.locator("#target-text")).to_contain_text("station")
    expect(page.locator("#target")).to_have_value("en")
    expect(page.locator("#detected")).to_contain_text("% sure, so it is translated into English")
    page.locator("#swap").click()
    expect(page.locator("#source")).to_have_value("en")
    expect(page.locator("#target")).to_have_value("pt")
    expect(page.locator("#target-text")).to_contain_text("estação")
    expect(page.locator("#translate-error")).to_be_hidden()
    # The next text in English goes into Portuguese again, and who insists has their way.
    page.locator("#source").select_option("auto")
    page.locator("#source-text").fill("Onde fica a estação mais próxima?")
    expect(page.locator("#target")).to_have_value("en")
    page.locator("#source-text").fill("Where is the nearest station, please?")
    expect(page.locator("#target")).to_have_value("pt")
    expect(page.locator("#target-text")).to_contain_text("estação")
    page.locator("#target").select_option("en")
    expect(page.locator("#detected")).to_contain_text("the text is English already")
    expect(page.locator("#target")).to_have_value("en")
    expect(page.locator("#swap")).to_be_disabled()   # from English to English and back


def test_a_text_that_no_model_translates_is_told(daemon, open_page):
    page = open_page(daemon, "translate")
    page.locator("#source-text").fill("Bonjour, où est la gare, s’il vous plaît ?")
    expect(page.locator("#detected")).to_contain_text("French, 9")
    expect(page.locator("#detected")).to_contain_text("no model that is loaded translates it into Portuguese")
    page.locator("#source-text").fill("Where is the nearest station?")
    expect(page.locator("#detected")).to_have_text(re.compile("Detected: English, [0-9]+ % sure$"))


def test_a_language_that_is_reached_by_a_pivot_says_so(daemon, open_page):
    listed = [{"code": "en", "name": "English", "targets": ["en", "pt"]}, {"code": "fr", "name": "French", "targets": ["en", "fr", "pt"], "pivots": {"pt": "en"}}]
    page = open_page(daemon, "translate", prepare=lambda page: page.route("**/languages", lambda route: route.fulfill(json=listed)))
    page.locator("#source").select_option("fr")
    expect(page.locator("#target option")).to_have_text(["English", "Portuguese (by way of English)"])
    page.locator("#source").select_option("en")
    expect(page.locator("#target option")).to_have_text(["Portuguese"])


def test_a_text_and_its_languages_stay(daemon, open_page):
    page = open_page(daemon, "translate")
    page.locator("#source").select_option("pt")
    page.locator("#source-text").fill("Onde fica a estação?")
    expect(page.locator("#target-text")).to_contain_text("station")
    page.reload()
    expect(page.locator("#source")).to_have_value("pt")
    expect(page.locator("#source-text")).to_have_value("Onde fica a estação?")
    expect(page.locator("#target-text")).to_contain_text("station")


def test_files_are_translated(daemon, open_page):
    page = open_page(daemon, "translate")
    expect(page.locator("#file-state")).to_contain_text("txt, html, md")
    page.locator("#target").select_option("pt")
    with page.expect_file_chooser() as chooser:
        page.locator("#file-choose").click()
    chooser.value.set_files({"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# The station\n\nWhere is the nearest station?\n"})
    link = page.locator("#file-state a")
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "notes_pt.md"
    text = download.value.path().read_text()
    assert text.startswith("# ") and "estação mais próxima?" in text
    # Several come one after the other, and one that is refused does not stop the others.
    names = ("a.txt", "notes.pdf", "b.txt")
    page.locator("#file").set_input_files([{"name": name, "mimeType": "text/plain", "buffer": b"Good morning."} for name in names])
    expect(page.locator("#file-state a")).to_have_count(2)
    expect(page.locator("#file-state")).to_contain_text(re.compile("a.txt: done.*b.txt: done"))
    expect(page.locator("#file-error")).to_contain_text("notes.pdf: file: the name")
    page.locator("#file").set_input_files({"name": "notes.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"})
    expect(page.locator("#file-error")).to_contain_text("notes.pdf: file: the name 'notes.pdf' ends with no extension that is supported")
    expect(page.locator("#file-stop")).to_be_hidden()


def test_words_are_seen_before_the_translation_is_complete(daemon, open_page):
    page = open_page(daemon, "translate")
    expect(page.locator("#source option")).to_have_count(3)
    page.locator("#target").select_option("pt")
    page.evaluate("""() => {
      window.seen = [];
      new MutationObserver(() => window.seen.push(document.getElementById("target-text").textContent))
        .observe(document.getElementById("target-text"), { childList: true, characterData: true, subtree: true });
    }""")
    page.locator("#source-text").fill("Where is the nearest station? The children were playing in the garden. " * 10)
    expect(page.locator("#translate-state")).to_contain_text("s", timeout=PATIENCE * SECOND)
    eventually("the end", lambda: "partial" not in (page.locator("#target-text").get_attribute("class")))
    seen = page.evaluate("window.seen")
    assert len(seen) > 10
    assert any(0 < len(text) < len(seen[-1]) / 2 for text in seen)


def test_alternatives_glossary_and_markup(daemon, open_page):
    page = open_page(daemon, "translate")
    expect(page.locator("#source option")).to_have_count(3)
    page.locator("#source").select_option("en")
    page.locator("#target").select_option("pt")
    page.locator("#alternatives").select_option("2")
    page.locator("#source-text").fill("The weather is lovely today.")
    expect(page.locator("#translate-state")).to_contain_text("gives no alternatives")   # as the demo models
    page.route("**/translate/stream", lambda route: route.fulfill(
        content_type="text/event-stream",
        body='data: {"type":"translation.done","answer":{"translatedText":"um","alternatives":["dois","<b>tres</b>"]}}\n\n'))
    page.locator("#alternatives").select_option("3")
    expect(page.locator("#alternative-list li")).to_have_count(2)
    page.locator("#alternative-list button").last.click()
    expect(page.locator("#target-text")).to_have_text("<b>tres</b>")
    page.unroute("**/translate/stream")
    page.locator("#alternatives").select_option("0")
    page.locator("#markup").select_option("html")
    page.locator("#source-text").fill("<b>Millrace</b> is a server.")
    expect(page.locator("#target-text")).to_contain_text("</b>")
    assert page.locator("#target-text b").count() == 0   # text, never markup of this page
    page.locator("#glossary-add").click()
    page.locator("#glossary input").first.fill("server")
    page.locator("#glossary input").last.fill("SERVIDORA")
    expect(page.locator("#target-text")).to_contain_text("SERVIDORA")
    expect(page.locator("#translate-snippet code")).to_contain_text('"glossary"')
