"""What must survive a translation: tags, Markdown, placeholders, terms; and the cache of translations."""

import re

import pytest
from wire import daemon as daemons
from wire import repository
from wire.paths import EN_PT, PT_EN, ROOT
from wire.requests import PATIENCE, translate_request
from wire.stubs import translation

DATA = ROOT / "tests" / "data" / "translation"
HTML, MARKDOWN = translation.TEXT_FORMAT_HTML, translation.TEXT_FORMAT_MARKDOWN

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>Our shop</title><style>p > b { color: red }</style></head>
<body class="x" data-a='1 > 0'>
<!-- a <b>comment</b> -->
<h1>Welcome to <em>our shop</em>, {name}!</h1>
<p>We sell <b>fresh bread</b> &amp; <a href="/milk?a=1&amp;b=2">cold milk</a>. Open the <code>door()</code>
   and come in.<br>Write to <a href="mailto:shop@example.com">shop@example.com</a>.</p>
<ul><li>Red apples<li>Green <i>pears</i></ul>
<pre>  do not   touch  </pre><script>if (a < b) { run("</p>"); }</script>
<p translate="no">Leave me alone.</p><img src="a.png" alt="Nice">
</body></html>
"""


def translate(daemon, *texts, **fields):
    response = daemon.translation.Translate(translate_request(*texts, **fields), timeout=PATIENCE)
    return [item.text for item in response.translations]


def marked(name):
    """Sentences, and what is protected in each: in the file it stands between « and »."""
    lines = (DATA / name).read_text().splitlines()
    return [(re.sub("[«»]", "", line), re.findall("«(.*?)»", line)) for line in lines]


@pytest.mark.parametrize("model, name", [(EN_PT, "protected.en.txt"), (PT_EN, "protected.pt.txt")], ids=["en-pt", "pt-en"])
def test_what_is_protected_comes_out_as_often_as_it_went_in(daemon, model, name):
    cases = marked(name)
    assert len(cases) > 100
    translations = translate(daemon, *(text for text, _ in cases), model=model)
    for (text, spans), got in zip(cases, translations, strict=True):
        assert [got.count(span) for span in spans] == [text.count(span) for span in spans], (text, got)


def test_a_page_keeps_its_tags_and_what_is_not_translated(daemon):
    [got] = translate(daemon, PAGE, format=HTML)
    tag = re.compile(r"<[^>]*>")
    assert sorted(tag.findall(got)) == sorted(tag.findall(PAGE))
    for untouched in ["<!DOCTYPE html>\n<html lang=\"en\"><head><title>", "p > b { color: red }", "<!-- a <b>comment</b> -->\n<h1>",
                      "{name}", "<code>door()</code>", "shop@example.com</a>", "<pre>  do not   touch  </pre>",
                      "<script>if (a < b) { run(\"</p>\"); }</script>", "<p translate=\"no\">Leave me alone.</p><img src=\"a.png\"",
                      "\n<ul><li>", "</body></html>\n"]:
        assert untouched in got
    assert "<b>pão fresco</b>" in got
    assert "fresh" not in got


@pytest.mark.parametrize("text", ["<b>one <i>two</b> three</i>", "</p><p>two", "<b>never closed", "<", "a < b > c", "<a href=\"", "<!--",
                                  "&", "&#xFFFFFFFF;", "<script>", "<b " * 2000, "<b>" * 2000, "</b>" * 2000, "&lt;" * 2000],
                         ids=lambda text: text[:12])
def test_broken_html_is_no_error_and_loses_no_tag(daemon, bystander, text):
    [got] = translate(daemon, text, format=HTML)
    assert sorted(re.findall(r"</?[a-z]+>", got)) == sorted(re.findall(r"</?[a-z]+>", text))


@pytest.mark.parametrize("text, parts", [
    ("It is 10&nbsp;km away.", ["10&nbsp;km"]),
    ("Press &lt;now&gt; or the &lt;b&gt; tag.", ["&lt;now&gt;", "&lt;b&gt;"]),
    ("<p>&#160;&nbsp;</p><p>Yes</p>", ["<p>&#160;&nbsp;</p>"]),
    ("Open the door. <a href=\"/x", [" <a href=\"/x"]),
    ("Open the door <img src='x.png' alt=", ["<img src='x.png' alt="]),
    ("&copy; &amp &reg;", ["&copy; &amp &reg;"]),
])
def test_what_html_has_besides_words_comes_out_byte_for_byte(daemon, text, parts):
    [got] = translate(daemon, text, format=HTML)
    assert [got.count(part) for part in parts] == [text.count(part) for part in parts], got


def test_footnotes_of_markdown_keep_their_names_and_are_translated(daemon):
    [got] = translate(daemon, "The house is red[^1] and old[^x].\n\n[^1]: The door is open.\n", format=MARKDOWN)
    assert (got.count("[^1]"), got.count("[^x]"), got.count("\n\n[^1]: ")) == (2, 1, 1), got
    assert "door" not in got


@pytest.mark.parametrize("text, expected", [
    ("**bold***italic*", "**em negrito** *itálico*"),
    ("The **red**house is big.", "A casa **vermelha** é grande."),
    ("Click [here](x)now", "Clique [aqui](x) agora"),
    ("un**believ**able results", "resultados **inacreditáveis**"),
    ("<b>Java</b>Script is a language", "<b>JavaScript</b> é uma língua"),
])
def test_words_that_only_markup_divides_are_two(daemon, text, expected):
    assert translate(daemon, text, format=MARKDOWN) == [expected]


@pytest.mark.parametrize("text", ["Hello\u200bworld", "The big\u200bhouse is red.", "<p>Save<wbr>File is a button</p>", "<p>Hello&#8203;World</p>"])
def test_places_where_a_line_may_break_stay(daemon, text):
    sign = max(("\u200b", "<wbr>", "&#8203;"), key=text.count)
    [found] = translate(daemon, text, format=HTML)
    assert found.count(sign) == 1 and not found.lower().startswith("hello"), found


def test_what_is_written_in_capitals_is_translated_into_capitals(daemon):
    for text, word in [("STOP", "PARAR"), ("EXIT", "SAÍDA"), ("WARNING: HOT SURFACE", "SUPERFÍCIE"), ("NASA", "NASA")]:
        [got] = translate(daemon, text)
        assert word in got and got == got.upper(), (text, got)


@pytest.mark.parametrize("format", [HTML, MARKDOWN], ids=["html", "markdown"])
@pytest.mark.parametrize("part", ["[", "*a **b", "&amp&amp", "[^", "<b", "&lt;a"])
def test_what_is_no_language_takes_little_time(daemon, part, format):
    length = 100_000
    text = (part * length)[:length]
    # On any machine some hundred times what it takes; the model would be busy for most of a minute.
    response = daemon.translation.Translate(translate_request(text, format=format), timeout=15)
    assert response.translations[0].text


def test_markdown_stays_markdown(daemon):
    source = "# The new house\n\nRead the **first chapter** in [our book](https://a.b/c).\n\n- Run `make`\n\n```\nNot this.\n```\n"
    [got] = translate(daemon, source, format=MARKDOWN)
    assert re.fullmatch(r"# [^\n*]+\n\n[^\n]*\*\*[^*\n]+\*\*[^\n]*\[[^\]\n]+\]\(https://a\.b/c\)[^\n]*\n\n"
                        r"- [^\n`]*`make`[^\n]*\n\n```\nNot this\.\n```\n", got), got


def test_a_stream_gives_the_same_marked_text(daemon):
    [whole] = translate(daemon, PAGE, format=HTML)
    request = translate_request(PAGE, format=HTML, partial=True)
    assert "".join(part.text for part in daemon.translation.StreamTranslate(request, timeout=PATIENCE)) == whole


def test_terms_are_translated_as_asked_for(daemon):
    [got] = translate(daemon, "The cat sat on the mat. A CAT likes Black Forest ham.", do_not_translate=["Black Forest"],
                      glossary=[translation.GlossaryEntry(source="cat", target="bichano")])
    assert got.count("bichano") == 2
    assert got.count("Black Forest") == 1


def test_what_the_vocabulary_lacks_comes_out_as_it_is(daemon):
    texts = ["It costs £20 or ¥500.", "Mr Müller learns C# in Łódź with 田中.", "He said “yes” — and left…"]
    response = daemon.translation.Translate(translate_request(*texts), timeout=PATIENCE)
    for item, parts in zip(response.translations, [["£20", "¥500"], ["Müller", "C#", "Łódź", "田中"], ["“", "”", "—", "…"]], strict=True):
        assert [item.text.count(part) for part in parts] == [1] * len(parts), item.text
        assert not item.lost


def cache_metrics(daemon):
    return {name: daemon.metrics().total(f"millrace_translation_cache_{name}")
            for name in ("entries", "bytes", "hits_total", "misses_total", "evictions_total")}


def test_the_cache_is_off_unless_asked_for(daemon):
    translate(daemon, "The same sentence.", "The same sentence.")
    assert set(cache_metrics(daemon).values()) == {0}


def test_what_comes_again_comes_from_the_cache(tmp_path):
    texts = ["Where is the nearest station? I am looking for my friends.", "<b>Open</b> the door, {name}."]
    models = repository.link(tmp_path / "models", EN_PT)
    with daemons.start(tmp_path, "--workers", "2", "--translation-cache-bytes", "1MiB", models=models) as running:
        first = translate(running, *texts)
        assert cache_metrics(running)["hits_total"] == 0
        assert translate(running, *texts) == first
        counts = cache_metrics(running)
    assert counts["hits_total"] == 3
    assert counts["entries"] >= 3
    assert 0 < counts["bytes"] <= 1 << 20
