"""What must survive a translation: tags, Markdown, placeholders, terms; and the cache of translations."""

import re

import pytest
from wire import daemon as daemons
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


def cache_metrics(daemon):
    return {name: daemon.metrics().total(f"millrace_translation_cache_{name}")
            for name in ("entries", "bytes", "hits_total", "misses_total", "evictions_total")}


def test_the_cache_is_off_unless_asked_for(daemon):
    translate(daemon, "The same sentence.", "The same sentence.")
    assert set(cache_metrics(daemon).values()) == {0}


def test_what_comes_again_comes_from_the_cache(tmp_path):
    texts = ["Where is the nearest station? I am looking for my friends.", "<b>Open</b> the door, {name}."]
    with daemons.start(tmp_path, "--workers", "2", "--translation-cache-bytes", "1MiB") as running:
        first = translate(running, *texts)
        assert cache_metrics(running)["hits_total"] == 0
        assert translate(running, *texts) == first
        counts = cache_metrics(running)
    assert counts["hits_total"] == 3
    assert counts["entries"] >= 3
    assert 0 < counts["bytes"] <= 1 << 20
