"""Texts are spoken in the console."""

import io
import re
import wave

from playwright.sync_api import Page, expect
from wire import daemon as daemons
from wire import repository
from wire.console import await_sound, level, speak
from wire.paths import VOICE
from wire.polling import eventually

LONG = "The children were playing in the garden and nobody knew where the nearest station was. " * 60


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
    await_sound(page)
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
    await_sound(page)


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
    await_sound(page, 0.005)
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
    await_sound(page)
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
    await_sound(page)
    expect(page.locator(".word", has_text="555-0142")).to_have_count(1)
    expect(page.locator("#speak-snippet pre")).to_contain_text('"text_format": "ssml"')
    speak(page, "<speak>Hello <blink>there</blink></speak>")
    expect(page.locator("#speak-error")).to_contain_text("line 1, column 14: the element 'blink' is not supported")


def test_nothing_is_spoken_before_the_voices_are_known(daemon, open_page):
    voices = "**/v1/audio/voices"
    page = open_page(daemon, prepare=lambda page: page.route(voices, lambda route: None))  # which is never answered
    with page.expect_request(voices):
        page.reload()
    page.locator("#speak-text").fill("Too early.")
    page.keyboard.press("Control+Enter")
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
    page.keyboard.type("Good morning. " * 5)
    page.keyboard.press("Control+Enter")
    await_sound(page)
    expect(page.locator("#speak-state")).to_contain_text("s of speech in")
    wave_form = page.locator("#wave")
    eventually("half a second was heard", lambda: float(wave_form.get_attribute("aria-valuenow")) > 0.5)
    wave_form.focus()
    wave_form.evaluate("""(slider) => {
      window.earliest = Infinity;
      new MutationObserver(() => window.earliest = Math.min(window.earliest, Number(slider.getAttribute("aria-valuenow"))))
        .observe(slider, { attributeFilter: ["aria-valuenow"] });
    }""")
    page.keyboard.press("Home")
    eventually("it is heard from the beginning again", lambda: page.evaluate("window.earliest") < 0.5)
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
        await_sound(page)
        doomed.process.kill()
        expect(page.locator("#speak-error")).to_contain_text("can still be heard")
        expect(page.locator("#play")).to_be_enabled()
        expect(page.locator("#status")).to_contain_text("No connection")
