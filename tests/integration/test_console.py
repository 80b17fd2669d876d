"""The console in the distribution's Chromium: what a person sees, hears and types, and what the page must not do."""

import gzip
import io
import os
import re
import shutil
import sys
import threading
import urllib.request
import wave

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from wire import daemon as daemons
from wire import mirror, repository
from wire.daemon import run
from wire.paths import EN_PT, NULL, PT_EN, ROOT, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request
from wire.rest import send

sys.path.insert(0, str(ROOT / "tests" / "load"))
import console_page  # noqa: E402

CHROMIUM = shutil.which("chromium")
# `make deps` installs it on Debian. Where changes are gated (CI is set) a skip would go unnoticed, and its absence fails.
pytestmark = pytest.mark.skipif(CHROMIUM is None and "CI" not in os.environ, reason="Chromium is not installed")

MOST_BYTES = 120 << 10
USER, ADMIN = "the-key-of-a-user", "the-key-of-an-admin"
LONG = "The children were playing in the garden and nobody knew where the nearest station was. " * 60
SECOND = 1000
expect.set_options(timeout=PATIENCE * SECOND)


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


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=console_page.ARGUMENTS)
        yield launched
        launched.close()


def url_of(daemon) -> str:
    return f"http://127.0.0.1:{daemon.ports['http']}"


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


def get(daemon, path, **headers):
    return send(daemon, "GET", path, **headers)


# --- files ---

def test_the_page_is_small_and_packed(daemon):
    _, headers, page = get(daemon, "/", Accept_Encoding="gzip")
    assert headers["Content-Encoding"] == "gzip"
    total = len(page)
    text = gzip.decompress(page).decode()
    files = set(re.findall(r'(?:href|src)="(/console/[^"]+)"', text))
    assert len(files) >= 7
    for file in files:
        status, headers, content = get(daemon, file, Accept_Encoding="gzip")
        assert status == 200
        assert headers["Content-Encoding"] == "gzip"
        total += len(content)
        # All that a file imports is named by the page, so that the browser fetches it at once.
        for imported in re.findall(r'from "\./([^"]+)"', gzip.decompress(content).decode()):
            assert f"/console/{imported}" in files
    assert total <= MOST_BYTES


@pytest.mark.parametrize("path", ["/web", "/web/", "/console", "/console/"])
def test_the_page_is_found_where_others_have_theirs(daemon, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{daemon.ports['http']}{path}", timeout=20) as answer:
        assert answer.url == f"http://127.0.0.1:{daemon.ports['http']}/"
        assert "text/html" in answer.headers["Content-Type"]


def test_console_off_serves_no_page(tmp_path, null_models):
    with daemons.start(tmp_path, "--console", "off", models=null_models) as quiet:
        for path in ("/", "/console/console.js", "/console/live"):
            assert get(quiet, path)[0] == 404
        assert get(quiet, "/v2/models")[0] == 200


# --- speech ---

def level(page: Page) -> float:
    return page.evaluate("import('/console/speak.js').then(({ player }) => player.level())")


def speak(page: Page, text: str) -> None:
    expect(page.locator("#speak-go")).to_be_enabled()
    page.locator("#speak-text").fill(text)
    page.locator("#speak-go").click()


# Records each word that lights up: a poll from outside would miss some on a busy machine.
RECORD_LIT_WORDS = """
  window.litWords = [];
  new MutationObserver((changes) => {
    for (const { target } of changes) if (target.matches(".word.lit")) window.litWords.push(target.textContent);
  }).observe(document, { attributeFilter: ["class"], subtree: true });
"""


def test_a_sentence_is_heard_and_its_words_light_up(daemon, open_page):
    page = open_page(daemon, prepare=lambda opened: opened.add_init_script(RECORD_LIT_WORDS))
    words = "Good morning The children were playing in the garden".split()
    speak(page, "Good morning. The children were playing in the garden!")
    eventually("sound in the analyser", lambda: level(page) > 0.01)
    expect(page.locator(".word")).to_have_text(words)
    expect(page.locator("#speak-stop")).to_be_disabled()   # It was heard to its end.
    lit = page.evaluate("window.litWords")
    assert len(lit) >= 3   # A busy browser paints fewer frames than there are words.
    assert [word for word in words if word in lit] == lit
    for word in ("morning", "children", "garden"):
        page.locator(".word", has_text=word).click()
        expect(page.locator(".word.lit")).to_have_text(word)
    expect(page.locator("#speak-state")).to_contain_text("s of speech in")
    expect(page.locator("#play")).to_have_attribute("aria-label", "Play")
    assert float(page.locator("#wave").get_attribute("aria-valuemax")) > 2
    # It plays again, from the word that is chosen.
    page.locator(".word", has_text="children").click()
    assert float(page.locator("#wave").get_attribute("aria-valuenow")) > 0.5
    page.locator("#play").click()
    eventually("sound again", lambda: level(page) > 0.01)


def test_voices_are_mixed(all_models, open_page):
    page = open_page(all_models)
    page.locator("#speak-voice").select_option(label="jm_kumo · Japanese")
    expect(page.locator("#speak-text")).to_have_value(re.compile("おはよう"))   # a sample of the language
    page.locator("#mix summary").click()
    for weight in ("1", "2"):
        page.locator("#mix-add").click()
        page.locator(".mix-row input").last.fill(weight)
    code = page.locator("#speak-snippet code")
    expect(code).to_contain_text('"voice": "jm_kumo:0.25+jf_alpha:0.25+jf_alpha:0.5"')
    page.locator(".mix-row button").last.click()
    expect(code).to_contain_text('"voice": "jm_kumo:0.5+jf_alpha:0.5"')
    speak(page, "こんにちは。")
    eventually("sound in the analyser", lambda: level(page) > 0.005, PATIENCE)
    expect(page.locator("#speak-state")).to_contain_text("s of speech in")
    expect(page.locator("#speak-error")).to_be_hidden()


def speaks(page: Page) -> None:
    """What stands in the form is spoken without an error."""
    page.locator("#speak-go").click()
    expect(page.locator("#speak-state")).to_contain_text("First sound after")
    expect(page.locator("#speak-error")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#speak-stop")).to_be_disabled()


def test_each_voice_and_language_has_a_sample_that_can_be_spoken(all_models, open_page):
    page = open_page(all_models)
    expect(page.locator("#speak-go")).to_be_enabled()
    voices = page.locator("#speak-voice option").evaluate_all("(options) => options.map((option) => option.value)")
    assert len(voices) == 6
    for voice in voices:
        page.locator("#speak-voice").select_option(voice)
        speaks(page)
    page.locator("#speak-voice").select_option(label="jf_alpha · Japanese")
    languages = page.locator("#speak-language option").evaluate_all("(options) => options.map((option) => option.value)")
    samples = set()
    for language in languages:
        page.locator("#speak-language").select_option(language)
        samples.add(page.locator("#speak-text").input_value())
    page.locator("#speak-language").select_option("ja")   # what espeak-ng reads has no letters that it refuses
    for form in ("tags", "ssml"):
        page.locator("#speak-format").select_option(form)
        speaks(page)
    assert len(samples) == len(languages)


def test_a_place_is_that_of_the_whole_text(all_models, open_page):
    page = open_page(all_models)
    page.locator("#speak-voice").select_option(label="jf_alpha · Japanese")
    speak(page, "こんにちは。Домたち。")
    expect(page.locator("#speak-error")).to_contain_text("the character 'Д' at byte 18 is Cyrillic text")
    page.locator("#speak-format").select_option("ssml")
    speak(page, "<speak>こんにちは。<s>Дом</s></speak>")
    expect(page.locator("#speak-error")).to_contain_text("the character 'Д' at character 16 is Cyrillic text")
    assert page.evaluate("import('/console/speak.js').then(({ player }) => player.length)") == 0   # nothing was spoken before


def test_what_was_chosen_stays_when_the_models_change(all_models, open_page):
    answers = []
    def voices(route):
        # At first all voices, then none of Kokoro's as while a server starts, then all.
        response = route.fetch()
        body = response.json()
        if len(answers) == 1:
            body["voices"] = [voice for voice in body["voices"] if voice["model"] != "kokoro-82m"]
        answers.append(len(body["voices"]))
        route.fulfill(response=response, json=body)
    page = open_page(all_models, prepare=lambda page: page.route("**/v1/audio/voices", voices))
    page.locator("#speak-voice").select_option(label="jf_alpha · Japanese")
    page.locator("#speak-language").select_option("en-US")
    page.locator("#mix summary").click()
    page.locator("#mix-add").click()
    page.locator(".mix-row select").select_option("jm_kumo")
    page.locator(".mix-row input").fill("1.5")
    page.locator("#speak-text").fill("The children were playing.")
    expect(page.locator(".mix-row output")).to_have_text("60 %")
    expect(page.locator("#mix-own")).to_have_text("jf_alpha itself has 40 %")

    def lose():   # the lists are asked for again when a poll succeeds after one that failed
        page.context.set_offline(True)
        page.evaluate("window.dispatchEvent(new Event('online'))")
        expect(page.locator("#status")).to_contain_text("No connection")
        page.context.set_offline(False)
        expect(page.locator("#status")).to_contain_text("Serving")
    lose()
    expect(page.locator("#speak-voice option")).to_have_count(1)
    lose()
    expect(page.locator("#speak-voice option")).to_have_count(6)
    assert answers[:3] == [6, 1, 6]

    def is_kept():
        expect(page.locator("#speak-snippet code")).to_contain_text('"voice": "jf_alpha:0.4+jm_kumo:0.6"')
        expect(page.locator("#speak-language")).to_have_value("en-US")
        expect(page.locator("#speak-text")).to_have_value("The children were playing.")
    is_kept()
    page.reload()
    is_kept()


def test_an_empty_text_takes_an_old_error_away(daemon, open_page):
    page = open_page(daemon)
    page.locator("#speak-format").select_option("ssml")
    speak(page, "<speak>")
    expect(page.locator("#speak-error")).to_be_visible()
    speak(page, "  ")
    expect(page.locator("#speak-error")).to_be_hidden()
    expect(page.locator("#speak-state")).to_have_text("There is no text to speak.")


def test_speech_is_downloaded_in_any_format(daemon, open_page):
    page = open_page(daemon)
    speak(page, "Good morning.")
    begins = {"wav": b"RIFF", "flac": b"fLaC", "opus": b"OggS", "mp3": (b"ID3", b"\xff"), "pcm": b""}
    for form, first in begins.items():
        expect(page.locator("#download")).to_be_enabled()
        page.locator("#download-format").select_option(form)
        with page.expect_download() as download:
            page.locator("#download").click()
        assert download.value.suggested_filename == f"speech.{form}"
        content = download.value.path().read_bytes()
        assert content.startswith(first) and len(content) > 2000
        if form == "wav":
            with wave.open(io.BytesIO(content)) as sound:
                assert sound.getframerate() == 22050
                assert 0.5 < sound.getnframes() / 22050 < 3


def test_speech_is_stopped(daemon, open_page):
    page = open_page(daemon)
    daemon.wait_until_idle()
    speak(page, LONG)
    eventually("sound in the analyser", lambda: level(page) > 0.01)
    page.keyboard.press("Escape")
    expect(page.locator("#speak-stop")).to_be_disabled()
    eventually("silence", lambda: level(page) < 1e-6)
    daemon.wait_until_idle()


def test_markup_is_spoken_and_refused_by_its_place(daemon, open_page):
    page = open_page(daemon)
    expect(page.locator("#speak-go")).to_be_enabled()
    page.locator("#speak-format").select_option("ssml")
    expect(page.locator("#speak-text")).to_have_value(re.compile("<speak>.*<break", re.DOTALL))  # a sample in place of the other
    page.locator("#speak-go").click()
    eventually("sound in the analyser", lambda: level(page) > 0.01)
    expect(page.locator(".word", has_text="555-0142")).to_have_count(1)
    expect(page.locator("#speak-snippet pre")).to_contain_text('"text_format": "ssml"')
    speak(page, "<speak>Hello <blink>there</blink></speak>")
    expect(page.locator("#speak-error")).to_contain_text("line 1, column 14: the element 'blink' is not supported")


def test_nothing_is_spoken_before_the_voices_are_known(daemon, open_page):
    held = []
    page = open_page(daemon, prepare=lambda page: page.route("**/v1/audio/voices", lambda route: held.append(route)))
    page.locator("#speak-text").fill("Too early.")
    page.keyboard.press("Control+Enter")
    eventually("a request for the voices", lambda: held)
    expect(page.locator("#speak-go")).to_be_disabled()
    expect(page.locator("#speak-state")).to_have_text("Nothing has been spoken yet.")


def test_a_refused_request_says_why(daemon, open_page):
    page = open_page(daemon)
    expect(page.locator("#speak-go")).to_be_enabled()
    page.locator("#speak-speed").evaluate("(range) => { range.max = '9'; range.value = '9'; range.dispatchEvent(new Event('input')); }")
    page.locator("#speak-go").click()
    expect(page.locator("#speak-error")).to_contain_text("speed: ")


def test_the_request_is_shown_as_programs(daemon, open_page):
    page = open_page(daemon)
    expect(page.locator("#speak-go")).to_be_enabled()
    page.locator("#speak-text").fill("It's \"here\".")
    code = page.locator("#speak-snippet code")
    expect(code).to_contain_text("/v1/audio/speech")
    expect(code).to_contain_text("It'\\''s")
    page.locator("#speak-snippet").get_by_role("button", name="Python").click()
    program = code.text_content()
    compile(program, "snippet", "exec")
    assert "It's \\\"here\\\"." in program
    assert "MILLRACE_API_KEY" not in program and "MILLRACE_API_KEY" not in page.content()   # no key is needed


def test_the_keyboard_is_enough(daemon, open_page):
    page = open_page(daemon)
    expect(page.locator("#speak-go")).to_be_enabled()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#tab-speak")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-translate")).to_be_focused()
    expect(page.locator("#translate")).to_be_visible()
    page.keyboard.press("End")
    expect(page.locator("#shelf")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#speak")).to_be_visible()
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
        # The element that has the focus shows it.
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none" or seen[-1] == ""
        if seen[-1] == "speak-text":
            break
    assert seen[-1] == "speak-text"
    page.keyboard.press("Control+A")
    page.keyboard.type("Good morning. " * 5)  # long enough to be heard by a look now and then
    page.keyboard.press("Control+Enter")
    eventually("sound in the analyser", lambda: level(page) > 0.01)
    expect(page.locator("#speak-state")).to_contain_text("s of speech in")
    page.locator("#wave").focus()
    page.keyboard.press("Home")
    assert float(page.locator("#wave").get_attribute("aria-valuenow")) < 0.5
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"download-format", "download"} <= reached


def test_a_cut_connection_is_told_and_what_came_can_be_heard(tmp_path, open_page):
    models = repository.link(tmp_path / "models", VOICE)
    with daemons.start(tmp_path, models=models) as doomed:
        page = open_page(doomed)
        speak(page, LONG * 20)
        eventually("sound in the analyser", lambda: level(page) > 0.01)
        doomed.process.kill()
        expect(page.locator("#speak-error")).to_contain_text("can still be heard")
        expect(page.locator("#play")).to_be_enabled()
        expect(page.locator("#status")).to_contain_text("No connection")


# --- translation ---

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


# --- live ---

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


def test_a_phone_shows_all_of_a_model(daemon, open_page):
    page = open_page(daemon, "live", viewport={"width": 390, "height": 844})
    row = page.locator("#models tr").first
    expect(row).to_be_visible()
    for part in (row.locator("td.number").first, row.locator("td.number").last, row.locator(".badge"), row.get_by_role("button")):
        box = part.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
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


# --- models ---

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
    assert "en_us-lessac-medium" not in get(shop, "/v2/models")[2].decode()


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
        eventually("the transfer has ended", lambda: get(shop, "/console/live")[2].decode().count('"pulls":[]') == 1)
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


# --- keys ---

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


# --- for everybody ---

@pytest.mark.parametrize("tab", ["speak", "translate", "live", "shelf"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_screen(daemon, open_page, tab, width):
    page = open_page(daemon, tab, viewport={"width": width, "height": 740})
    expect(page.locator("#status")).to_contain_text("Serving")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_control_has_a_name(daemon, shop, open_page):
    page = open_page(shop, "shelf")
    expect(entry(page, "firefox/en-fr").get_by_role("button")).to_be_visible()
    has_names(page)
    page = open_page(daemon)
    expect(page.locator("#status")).to_contain_text("Serving")
    page.locator("#tab-translate").click()
    page.locator("#glossary-add").click()
    has_names(page)


def has_names(page: Page) -> None:
    nameless = page.evaluate("""() => [...document.querySelectorAll("button, input, select, textarea, [role=slider], [role=textbox], canvas, progress")]
      .filter((control) => !control.labels?.length && !control.getAttribute("aria-label") && !control.getAttribute("aria-labelledby")
                           && !control.textContent.trim() && control.getAttribute("aria-hidden") !== "true")
      .map((control) => control.outerHTML)""")
    assert nameless == []


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
