"""Files of each kind, composed at random of what real ones have: whatever is combined, the translation is as valid as its source, has the same
elements, keeps what is no text, and leaves no sentence untranslated. MILLRACE_FILES=30 takes that many of each kind and direction."""

import collections
import io
import json
import os
import random
import re
import zipfile

import pytest
import requests
from lxml import etree
from wire.requests import PATIENCE

FILES = int(os.environ.get("MILLRACE_FILES", "4"))
# Sentences with words that their translation cannot have.
SENTENCES = {
    "en": ["The children played in the garden.", "Where is the nearest station?", "My neighbour bought a new bicycle yesterday.",
           "The kitchen window is broken.", "Please read the whole letter before Friday.", "The old church has a tall tower.",
           "We drink cold water every morning."],
    "pt": ["As crianças brincaram no jardim.", "Onde fica a rua mais bonita?", "O meu vizinho comprou uma bicicleta nova ontem.",
           "A janela da cozinha está quebrada.", "Por favor, leia a carta antes de sexta-feira.", "A igreja antiga tem uma torre alta.",
           "Bebemos água fria todas as manhãs."],
}
UNTRANSLATED = {
    "en": r"\b(children|garden|nearest|station|neighbour|bicycle|yesterday|kitchen|window|broken|letter|church|tower|drink|water|morning)\b",
    "pt": r"\b(crianças|jardim|rua|bonita|vizinho|bicicleta|ontem|janela|cozinha|carta|igreja|torre|água|manhãs)\b",
}
DIRECTIONS = pytest.mark.parametrize("source, target", [("en", "pt"), ("pt", "en")], ids=["en-pt", "pt-en"])


def translate(daemon, name, content, source, target):
    http = f"http://127.0.0.1:{daemon.ports['http']}"
    answer = requests.post(f"{http}/translate_file", data={"source": source, "target": target}, files={"file": (name, content)},
                           timeout=PATIENCE)
    assert answer.status_code == 200, (answer.text, content[:2000])
    return requests.get(answer.json()["translatedFileUrl"], timeout=PATIENCE).content


class Author:
    """Writes sentences at random."""

    def __init__(self, language, seed):
        self.language, self.chance = language, random.Random(f"{language} {seed}")

    def say(self):
        return self.chance.choice(SENTENCES[self.language])

    def pick(self, *features):
        """Some of these functions' results, in any order."""
        chosen = self.chance.choices(features, k=self.chance.randrange(3, 8))
        return [feature() for feature in chosen]


def authors(language, kind):
    return [Author(language, f"{kind} {seed}") for seed in range(FILES)]


def assert_translated(text, language):
    found = re.search(UNTRANSLATED[language], text)
    assert found is None, (found, text)


def packed(entries):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return held.getvalue()


def elements(xml, left_out=()):
    """How often each element occurs, with its attributes, but those that hold runs of text."""
    return collections.Counter((node.tag, tuple(sorted(node.attrib.items()))) for node in etree.fromstring(xml).iter(etree.Element)
                               if etree.QName(node).localname not in left_out)


def assert_same_package(before, after, translated, left_out):
    """All entries are there in order; those that are no text are the same bytes, the others have the same elements."""
    before, after = zipfile.ZipFile(io.BytesIO(before)), zipfile.ZipFile(io.BytesIO(after))
    assert after.testzip() is None and after.namelist() == before.namelist()
    for name in before.namelist():
        if name in translated:
            assert elements(after.read(name), left_out) == elements(before.read(name), left_out), name
        else:
            assert after.read(name) == before.read(name), name
    return {name: after.read(name) for name in translated}


W = ('xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="urn:r" xmlns:m="urn:m" xmlns:v="urn:v" '
     'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="urn:wps"')


def docx_paragraph(author):
    def run(text, properties=""):
        return f'<w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'

    def field(code, shown):
        def mark(kind):
            return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'
        return f"{mark('begin')}<w:r><w:instrText> {code} </w:instrText></w:r>{mark('separate')}{shown}{mark('end')}"

    def box():
        inside = f"<w:txbxContent><w:p>{run(author.say())}</w:p></w:txbxContent>"
        return (f'<w:r><mc:AlternateContent><mc:Choice Requires="wps"><wps:txbx>{inside}</wps:txbx></mc:Choice>'
                f"<mc:Fallback><w:pict><v:textbox>{inside}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>")

    number = author.chance.randrange(100)
    parts = author.pick(
        lambda: run(author.say() + " "),
        lambda: run(author.say(), "<w:rPr><w:b/></w:rPr>"),
        lambda: f'<w:hyperlink r:id="rId{number}">{run(author.say())}</w:hyperlink>',
        lambda: field('HYPERLINK "http://a.b"', run(author.say())),
        lambda: field("PAGE", run("3")),
        lambda: run(" ") + field("MERGEFIELD N", run("«N»")) + run(" "),
        lambda: f'<w:fldSimple w:instr=" SEQ Figure ">{run("1")}</w:fldSimple>',
        lambda: f'<w:r><w:footnoteReference w:id="{number}"/></w:r>',
        lambda: f'<w:commentRangeStart w:id="{number}"/>{run(author.say())}<w:commentRangeEnd w:id="{number}"/>',
        lambda: f'<w:ins w:id="{number}" w:author="A">{run(author.say())}</w:ins>',
        lambda: f'<w:del w:id="{number}"><w:r><w:delText>{author.say()}</w:delText></w:r></w:del>',
        lambda: f'<w:bookmarkStart w:id="{number}" w:name="b"/>{run(author.say())}<w:bookmarkEnd w:id="{number}"/>',
        lambda: (f'<w:sdt><w:sdtPr><w:alias w:val="a{number}"/></w:sdtPr><w:sdtContent>{run(author.say())}</w:sdtContent></w:sdt>'),
        lambda: f'<w:sdt><w:sdtPr/><w:sdtContent><w:ins w:id="{number}">{run(author.say())}</w:ins></w:sdtContent></w:sdt>',
        lambda: '<w:r><n:x xmlns:n="urn:n"><n:y/></n:x></w:r>',
        lambda: (f"<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>x</w:t></w:r></w:rt><w:rubyBase>{run(author.say())}</w:rubyBase></w:ruby></w:r>"),
        lambda: "<m:oMath><m:r><m:t>x = 2</m:t></m:r></m:oMath>",
        lambda: "<w:r><w:br/></w:r>",
        lambda: "<w:r><w:tab/></w:r>",
        lambda: "<w:r><w:ptab/></w:r>",
        box)
    return f'<w:p><w:pPr><w:pStyle w:val="s{number}"/></w:pPr>{"".join(parts)}</w:p>'


@DIRECTIONS
def test_docx(daemon, source, target):
    left_out = ("r", "t", "rPr", "b")
    for author in authors(source, "docx"):
        rows = "".join(f"<w:tr><w:tc>{docx_paragraph(author)}</w:tc></w:tr>" for _ in range(2))
        # A range of a comment, and one that was moved, may begin in one paragraph and end in another.
        long = ('<w:p><w:commentRangeStart w:id="900"/><w:moveToRangeStart w:id="901" w:name="m"/>%s</w:p><w:p>%s<w:commentRangeEnd w:id="900"/>%s'
                '<w:moveToRangeEnd w:id="901"/></w:p>') % tuple(f"<w:r><w:t>{author.say()}</w:t></w:r>" for _ in range(3))
        body = f"{docx_paragraph(author)}{long}<w:tbl>{rows}</w:tbl><w:sdt><w:sdtContent>{docx_paragraph(author)}</w:sdtContent></w:sdt><w:sectPr/>"
        before = packed({"[Content_Types].xml": "<Types/>", "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
                         "word/footnotes.xml": f"<w:footnotes {W}>{docx_paragraph(author)}</w:footnotes>", "word/styles.xml": "<x/>"})
        after = translate(daemon, "a.docx", before, source, target)
        for xml in assert_same_package(before, after, ["word/document.xml", "word/footnotes.xml"], left_out).values():
            words = etree.fromstring(xml).xpath("//*[local-name() = 't']/text()")
            assert_translated("\n".join(words), source)


ODF = " ".join(f'xmlns:{name}="urn:{name}"' for name in ("office", "text", "draw", "xlink", "table", "presentation", "dc", "svg"))


def odf_paragraph(author):
    parts = author.pick(
        lambda: author.say() + " ",
        lambda: f'<text:span text:style-name="T1">{author.say()}</text:span>',
        lambda: f'<text:a xlink:href="http://a.b">{author.say()}</text:a>',
        lambda: " <text:page-number>1</text:page-number> ",
        lambda: ' <text:placeholder text:placeholder-type="text">&lt;name&gt;</text:placeholder> ',
        lambda: (f'<text:note text:id="n"><text:note-citation>1</text:note-citation><text:note-body><text:p>{author.say()}</text:p>'
                 "</text:note-body></text:note>"),
        lambda: f"<office:annotation><dc:creator>Ann</dc:creator><text:p>{author.say()}</text:p></office:annotation>",
        lambda: f'<text:bookmark-start text:name="b"/>{author.say()}<text:bookmark-end text:name="b"/>',
        lambda: f"<draw:frame><draw:text-box><text:p>{author.say()}</text:p></draw:text-box></draw:frame>",
        lambda: f"<text:meta>{author.say()}</text:meta>",
        lambda: f"<text:ruby><text:ruby-base>{author.say()}</text:ruby-base><text:ruby-text>x</text:ruby-text></text:ruby>",
        lambda: "<text:line-break/>", lambda: "<text:tab/>", lambda: '<text:s text:c="3"/>', lambda: "<!-- a --><?p i?>")
    return f'<text:p text:style-name="P1">{"".join(parts)}</text:p>'


@DIRECTIONS
@pytest.mark.parametrize("extension", ["odt", "odp"])
def test_opendocument(daemon, extension, source, target):
    for author in authors(source, extension):
        table = f"<table:table><table:table-cell>{odf_paragraph(author)}</table:table-cell></table:table>"
        page = f'<draw:page draw:name="p"><draw:custom-shape>{odf_paragraph(author)}</draw:custom-shape></draw:page>'
        deleted = "<text:tracked-changes><text:deletion><text:p>x</text:p></text:deletion></text:tracked-changes>"
        body = f"{deleted}{odf_paragraph(author)}{table}{page}<text:list><text:list-item>{odf_paragraph(author)}</text:list-item></text:list>"
        before = packed({"mimetype": f"application/{extension}", "META-INF/manifest.xml": "<m/>",
                         "content.xml": f"<office:document-content {ODF}><office:body>{body}</office:body></office:document-content>"})
        after = translate(daemon, f"a.{extension}", before, source, target)
        for xml in assert_same_package(before, after, ["content.xml"], ()).values():
            assert_translated(" ".join(etree.fromstring(xml).itertext()), source)


@DIRECTIONS
def test_pptx(daemon, source, target):
    names = 'xmlns:a="urn:a" xmlns:p="urn:p" xmlns:c="urn:c" xmlns:dgm="urn:dgm" xmlns:r="urn:r"'

    def paragraph(author):
        parts = author.pick(
            lambda: f'<a:r><a:rPr lang="x"/><a:t>{author.say()} </a:t></a:r>',
            lambda: f'<a:r><a:rPr b="1"><a:hlinkClick r:id="r"/></a:rPr><a:t>{author.say()}</a:t></a:r>',
            lambda: '<a:fld id="f" type="slidenum"><a:t>3</a:t></a:fld>', lambda: "<a:br/>")
        return f'<a:p><a:pPr lvl="1"/>{"".join(parts)}<a:endParaRPr/></a:p>'

    for author in authors(source, "pptx"):
        cell = f"<a:tbl><a:tc>{paragraph(author)}</a:tc></a:tbl>"
        label = (f"<c:strCache><c:pt><c:v>{author.say()}</c:v></c:pt></c:strCache>"
                 f"<c:multiLvlStrCache><c:lvl><c:pt><c:v>{author.say()}</c:v></c:pt></c:lvl></c:multiLvlStrCache>")
        before = packed({"ppt/presentation.xml": f"<p:presentation {names}/>",
                         "ppt/slides/slide1.xml": f"<p:sld {names}>{paragraph(author)}{cell}</p:sld>",
                         "ppt/notesSlides/notesSlide1.xml": f"<p:notes {names}>{paragraph(author)}</p:notes>",
                         "ppt/charts/chart1.xml": f"<c:chart {names}>{label}<c:v>4.3</c:v></c:chart>",
                         "ppt/diagrams/data1.xml": f"<dgm:dataModel {names}>{paragraph(author)}</dgm:dataModel>",
                         "ppt/slideMasters/slideMaster1.xml": f"<p:sldMaster {names}><a:p><a:r><a:t>x</a:t></a:r></a:p></p:sldMaster>"})
        after = translate(daemon, "a.pptx", before, source, target)
        parts = ["ppt/slides/slide1.xml", "ppt/notesSlides/notesSlide1.xml", "ppt/charts/chart1.xml", "ppt/diagrams/data1.xml"]
        for xml in assert_same_package(before, after, parts, ("r", "t", "rPr", "hlinkClick")).values():
            assert_translated(" ".join(etree.fromstring(xml).itertext()), source)


def page_parts(author):
    return author.pick(
        lambda: f"<h1 id='a'>{author.say()}</h1>", lambda: f"<p class='b'>{author.say()} <em>{author.say()}</em></p>",
        lambda: f"<ul><li>{author.say()}</li><li><a href='x?a=1&amp;b=2'>{author.say()}</a></li></ul>",
        lambda: f"<table><tr><th>{author.say()}</th><td>1,200.50</td></tr></table>", lambda: "<pre>  The house\n  is big</pre>",
        lambda: "<p>Run <code>git commit</code></p>", lambda: "<script>if (1 &amp;&amp; 2) { x = 'The house'; }</script>",
        lambda: "<style>p { color: red }</style>", lambda: f"<p>{author.say()}<br/>{author.say()}</p>",
        lambda: "<p translate='no'>The house</p>", lambda: f"<img src='a.png' alt='x'/><p>&#169; {author.say()}</p>",
        lambda: "<svg xmlns='http://www.w3.org/2000/svg'><title>The cover</title></svg>", lambda: f"<!-- The house --><div>{author.say()}</div>",
        lambda: f"<noscript><p>{author.say()}</p></noscript>", lambda: f"<template><p>{author.say()}</p></template>",
        lambda: "<p>{n, plural, one {<b>#</b> x} other {# x}}</p>", lambda: f"<ruby>{author.say()}<rt>x</rt></ruby>",
        lambda: f"<p>{author.say()[:-1]}<sup><a href='#n1'>[1]</a></sup>.</p>", lambda: f"<p><kbd>Ctrl</kbd> {author.say()}</p>",
        lambda: f"<dl><dt>{author.say()}</dt><dd title='The house'>{author.say()}</dd></dl>",
        lambda: f"<!--[if IE]><p>The house</p><![endif]--><button title='The house'>{author.say()}</button>",
        lambda: f"<p><a href='b'>{author.say()}</a> | <a href='c'>{author.say()}</a></p>")


def kept_of(page):
    """The elements of a page that stay as they are, byte for byte."""
    return re.findall(r"<(?:pre|code|script|style|svg|rt|p translate)\b.*?</\w+>|<!--.*?-->|&#169;|<!\w.*?>|1[,.]200[,.]50", page, re.S)


def tags_of(page):
    return re.findall(r"</?\w[^>]*>", page)


@DIRECTIONS
def test_html(daemon, source, target):
    for author in authors(source, "html"):
        before = f"<!DOCTYPE html>\n<html><head><title>{author.say()}</title></head>\n<body>\n" + "\n".join(page_parts(author)) + "\n</body></html>\n"
        after = translate(daemon, "a.html", before.encode(), source, target).decode()
        assert collections.Counter(tags_of(after)) == collections.Counter(tags_of(before)), (before, after)
        assert [part for part in kept_of(after) if "200" not in part] == [part for part in kept_of(before) if "200" not in part]
        assert_translated(re.sub(r"<(pre|code|script|style)\b.*?</\1>|<!--.*?-->", "", after, flags=re.S), source)


@DIRECTIONS
def test_epub(daemon, source, target):
    container = "<container><rootfiles><rootfile full-path='b/c.opf'/></rootfiles></container>"
    package = ("<package><metadata><title>The house</title></metadata><manifest><item href='a.xhtml' media-type='application/xhtml+xml'/>"
               "<item href='toc.ncx' media-type='application/x-dtbncx+xml'/></manifest></package>")
    for author in authors(source, "epub"):
        body = "".join(page_parts(author)) + f"<p><![CDATA[{author.say()} 1 < 2]]></p>"
        chapter = f"<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body>{body}</body></html>"
        contents = f"<ncx><navPoint id='n'><text>{author.say()}</text><content src='a.xhtml#a'/></navPoint></ncx>"
        before = packed({"mimetype": "application/epub+zip", "META-INF/container.xml": container, "b/c.opf": package, "b/a.xhtml": chapter,
                         "b/toc.ncx": contents})
        after = translate(daemon, "a.epub", before, source, target)
        for xml in assert_same_package(before, after, ["b/a.xhtml", "b/toc.ncx"], ()).values():
            assert_translated(re.sub(r"<(pre|code|script|style)\b.*?</\1>|<!--.*?-->", "", xml.decode(), flags=re.S), source)


@DIRECTIONS
def test_markdown(daemon, source, target):
    for author in authors(source, "md"):
        parts = author.pick(
            lambda: f"# {author.say()}", lambda: f"{author.say()} **{author.say()}** `the house`",
            lambda: f"- {author.say()}\n  - [ ] {author.say()}\n\n    ```sh\n    echo the house\n    ```",
            lambda: f"| {author.say()} | x |\n|:--|--:|\n| `a` | 12 |", lambda: f"> [!NOTE]\n> {author.say()}",
            lambda: "$$\nx \\in the\n$$", lambda: f"[{author.say()}](http://a.b/the_house \"t\") ![x](a.png)",
            lambda: f"See[^1].\n\n[^1]: {author.say()}", lambda: f"[[The house|{author.say()}]]",
            lambda: f"<details>\n<summary>{author.say()}</summary>\n\n{author.say()}\n\n</details>", lambda: "```python\nprint('the house')\n```",
            lambda: f"{author.say()}  \n{author.say()}", lambda: "***", lambda: "<!-- the house -->", lambda: f":::note\n{author.say()}\n:::",
            lambda: f'!!! note "{author.say()}"\n\n    {author.say()}\n\n        the house',
            lambda: f'=== "{author.say()}"\n\n    {author.say()}\n\n    - {author.say()}',
            lambda: f"> {author.say()}\n> ```sh\n> echo the house\n> ```", lambda: f"1. ```sh\n   make the house\n   ```\n2. {author.say()}",
            lambda: f"- {author.say()}\n\n      the house\n\n  {author.say()}", lambda: "<pre>\nthe house\n\nis big\n</pre>",
            lambda: f"<!-- the house\n\nis big -->\n{author.say()}", lambda: f'<img\n  src="a.png"\n  alt="the house">\n\n{author.say()}',
            lambda: "\\[\nthe house\n\\]", lambda: "{% highlight sh %}\nthe house\n{% endhighlight %}",
            lambda: f"import A from './house';\n\n{author.say()}", lambda: f"Term\n: {author.say()}",
            lambda: f"## {author.say()} {{#the-house}}", lambda: f'{{{{< ref "the-house.md" >}}}} {author.say()}',
            lambda: f"| {author.say()} \\| {author.say()} | x |\n|---|---|\n| a | {author.say()} |",
            lambda: f"{author.say()[:-1]}<sup>1</sup>. {author.say()}", lambda: f"[{author.say()}][the house]\n\n[the house]: http://a.b 'the house'",
            lambda: f"[![the house](https://a.b/c.svg)](https://a.b) {author.say()}", lambda: f"{author.say()} `the\nhouse` {author.say()}",
            lambda: f"[{author.say()}\n{author.say()}](a.md 'the house')")
        before = "---\ntitle: The house\n---\n\n" + "\n\n".join(parts) + "\n"
        after = translate(daemon, "a.md", before.encode(), source, target).decode()
        kept = (r"(?sm)\A---\n.*?\n---\n|```.*?```|`[^`]+`|\$\$.*?\$\$|\]\([^)]*\)|<!--.*?-->|<pre>.*?</pre>|<sup>1</sup>|<[^>]+>|\[\^1\]"
                r"|\[\[The house\||^(?:\* \* \*|\*\*\*)$|\{% highlight.*?endhighlight %\}|\{\{<.*?>\}\}|^\\\[.*?\\\]|\{#[^}]*\}|\\\||^import .*?$|\[the house\]: .*?$|\[the house\]"
                r"|^ +the house$")
        assert re.findall(kept, after) == re.findall(kept, before), (before, after)
        assert [len(line) - len(line.lstrip()) for line in after.split("\n")] == [len(line) - len(line.lstrip()) for line in before.split("\n")]
        assert_translated(after, source)


@DIRECTIONS
def test_json(daemon, source, target):
    for author in authors(source, "json"):
        def value(depth=0):
            return author.chance.choice([
                author.say, lambda: f"{author.say()} {{{{name}}}} %s", lambda: f"<p>{author.say()}</p><p>{author.say()}</p>", lambda: 1.50, lambda: None,
                lambda: "https://a.b/the/house", lambda: f"{{n, plural, one {{{author.say()}}} other {{{author.say()}}}}}",
                lambda: f"{author.say()}\n{author.say()}\t☃ \"x\"",
                lambda: [value(depth + 1) for _ in range(2)] if depth < 3 else True,
                lambda: {f"the house {i}": value(depth + 1) for i in range(2)} if depth < 3 else ""])()
        document = {f"k{i}": value() for i in range(4)} | {"@meta": {"description": "The house"}}
        before = json.dumps(document, indent=2, ensure_ascii=author.chance.random() < 0.5)
        after = translate(daemon, "a.json", before.encode(), source, target).decode()

        def shape(node):
            if isinstance(node, dict):
                return {key: shape(item) for key, item in node.items()}
            if isinstance(node, list):
                return [shape(item) for item in node]
            return re.findall(r"\{\{name\}\}|%s|</?p>|https\S+|\{n, plural, one \{|\} other \{|\n|\t|☃", node) if isinstance(node, str) else node
        assert shape(json.loads(after)) == shape(document), (before, after)
        assert json.loads(after)["@meta"] == document["@meta"]
        assert [line[:len(line) - len(line.lstrip())] for line in after.split("\n")] == [
            line[:len(line) - len(line.lstrip())] for line in before.split("\n")]
        assert_translated(after, source)


@DIRECTIONS
def test_po(daemon, source, target):
    header = f'msgid ""\nmsgstr ""\n"Language: {target}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n'
    for author in authors(source, "po"):
        entries = author.pick(
            lambda: f'#: a.c:1\nmsgid "{author.say()}"\nmsgstr ""', lambda: f'msgctxt "menu"\nmsgid "{author.say()} %s"\nmsgstr ""',
            lambda: f'#, c-format\nmsgid "{author.say()} %d"\nmsgid_plural "{author.say()} %d %s"\nmsgstr[0] ""\nmsgstr[1] ""',
            lambda: f'#, fuzzy\n#| msgid "old"\nmsgid "{author.say()}"\nmsgstr "x"', lambda: f'#~ msgid "{author.say()}"\n#~ msgstr ""',
            lambda: f'msgid ""\n"{author.say()}\\n"\n"{author.say()}\\n"\nmsgstr ""', lambda: f'msgid "<b>{author.say()}</b> {{n}}"\nmsgstr ""',
            lambda: f'domain "other"\nmsgid "{author.say()}"\nmsgstr ""')
        before = header + "".join(f"\n{entry}\n" for entry in entries)
        after = translate(daemon, "a.po", before.encode(), source, target).decode()
        read = [entry.split("msgstr")[0] for entry in before.split("\n\n")]
        assert [entry.split("msgstr")[0] for entry in after.split("\n\n")] == read
        assert len(re.findall(r'^msgstr(?:\[\d\])? ""\n(?!")', after, re.M)) == 0 or "plural" in before, (before, after)
        for entry in after.split("\n\n")[1:]:
            wanted, written = entry.split("msgstr", 1)
            if not entry.startswith("#~"):
                assert_translated(written, source)
            assert len(re.findall(r"<b>|</b>|\{n\}", written)) == len(re.findall(r"<b>|</b>|\{n\}", wanted)), entry


@DIRECTIONS
@pytest.mark.parametrize("version", ["1.2", "2.0"])
def test_xliff(daemon, version, source, target):
    for author in authors(source, f"xliff {version}"):
        one = version == "1.2"
        parts = [[author.say()] + author.pick(
            lambda: author.say() + " ", lambda: (f'<g id="1">{author.say()}</g>' if one else f'<pc id="1">{author.say()}</pc>'),
            lambda: ('<x id="2" equiv-text="{{name}}"/> ' if one else '<ph id="2" equiv="{{name}}"/> '),
            lambda: (f'<bpt id="3">&lt;b></bpt>{author.say()}<ept id="3">&lt;/b></ept>' if one
                     else f'<sc id="3"/>{author.say()}<ec startRef="3"/>'),
            lambda: f'<mrk id="4" mtype="x">{author.say()}</mrk>') for _ in range(3)]
        if one:
            units = "".join(f'<trans-unit id="{i}"><source>{" ".join(part)}</source><note>n</note></trans-unit>' for i, part in enumerate(parts))
            before = (f'<?xml version="1.0"?>\n<xliff version="1.2" xmlns="urn:x"><file source-language="{source}" target-language="{target}">'
                      f'<body>{units}<trans-unit id="k" translate="no"><source>The house</source></trans-unit></body></file></xliff>\n')
        else:
            units = "".join(f'<unit id="{i}"><segment><source>{" ".join(part)}</source></segment></unit>' for i, part in enumerate(parts))
            before = f'<xliff version="2.0" xmlns="urn:x" srcLang="{source}" trgLang="{target}"><file id="f">{units}</file></xliff>'
        after = translate(daemon, "a.xliff", before.encode(), source, target)
        sources = etree.fromstring(after).findall(".//{*}source")
        assert [etree.tostring(node) for node in sources] == [
            etree.tostring(node) for node in etree.fromstring(before.encode()).findall(".//{*}source")]
        targets = etree.fromstring(after).findall(".//{*}target")
        assert len(targets) == 3
        for node, written in zip(sources, targets, strict=False):
            def inline(element):
                return collections.Counter((child.tag, *sorted(child.attrib.items())) for child in element.iterdescendants())
            assert inline(node) == inline(written), etree.tostring(written)
            assert_translated("".join(written.itertext()), source)


@DIRECTIONS
@pytest.mark.parametrize("extension", ["srt", "vtt"])
def test_subtitles(daemon, extension, source, target):
    for author in authors(source, extension):
        point = "," if extension == "srt" else "."
        blocks = ["WEBVTT\n\nNOTE The house\n\nSTYLE\n::cue { color: red }"] if extension == "vtt" else []
        cues = author.pick(
            lambda: author.say(), lambda: f"<i>{author.say()}</i>", lambda: f"- {author.say()}\n- {author.say()}",
            lambda: f"{author.say()}\n<b>{author.say()}</b>", lambda: f"♪ {author.say()} ♪", lambda: f"JOHN: {author.say()}", lambda: "42",
            lambda: f"<v Ann>{author.say()}" if extension == "vtt" else f"{{\\an8}}{author.say()}",
            lambda: f"<c.red>{author.say()}</c>\n<i>{author.say()}</i>", lambda: f"[{author.say()}]\n{author.say()}",
            lambda: f"&lt;b&gt; {author.say()}" if extension == "vtt" else f"<font color='red'>{author.say()}</font>")
        for i, cue in enumerate(cues, 1):
            blocks.append(f"{i}\n00:00:0{i}{point}000 --> 00:00:1{i}{point}500{' line:0' if extension == 'vtt' else ''}\n{cue}")
        line_end = author.chance.choice(["\n", "\r\n"])
        before = ("\n\n".join(blocks) + "\n").replace("\n", line_end)
        after = translate(daemon, f"a.{extension}", before.encode(), source, target).decode()
        kept = r"^WEBVTT|^NOTE.*|^STYLE|^::cue.*|^\d+\s*$|^.*-->.*$|</?\w[^>]*>|\{\\an8\}|♪|^- |^JOHN:|&lt;b&gt;|^\["
        assert re.findall(kept, after, re.M) == re.findall(kept, before, re.M), (before, after)
        assert after.count(line_end) == before.count(line_end)
        assert_translated(after, source)


@DIRECTIONS
@pytest.mark.parametrize("extension", ["ass", "ssa", "sub"])
def test_styled_subtitles(daemon, extension, source, target):
    for author in authors(source, extension):
        ass = extension != "sub"
        pause = "\\N" if ass else "|"
        cues = author.pick(
            author.say, lambda: f"{author.say()}{pause}{author.say()}", lambda: f"- {author.say()}{pause}- {author.say()}",
            lambda: f"{{\\i1}}{author.say()}{{\\i0}} {author.say()}" if ass else f"{{y:i}}{author.say()}",
            lambda: "{\\p1}m 0 0 l 1 1{\\p0}" if ass else f"{{c:$0000ff}}{author.say()}",
            lambda: f"{{\\an8\\fad(200,200)}}{author.say()}" if ass else f"{author.say()}|{{y:b}}{author.say()}")
        lines = [f"Dialogue: 0,0:00:0{i}.00,0:00:1{i}.50,Default,Ann,0,0,0,,{cue}" if ass else f"{{{i}4}}{{{i}9}}{cue}" for i, cue in enumerate(cues)]
        head = ["[Script Info]", "Title: The house", "", "[Events]", "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
                "Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,The house is red."] if ass else []
        line_end = author.chance.choice(["\n", "\r\n"])
        before = line_end.join(head + lines) + line_end
        after = translate(daemon, f"a.{extension}", before.encode(), source, target).decode()
        kept = r"^Dialogue:.*?,,(?=[^,])|^\{\d+\}\{\d+\}|\{[^}]*\}|\\N|\||(?:(?<=,,)|(?<=\\N)|(?<=\}))- |^Comment.*|^\[.*|^Title.*|^Format.*"
        assert re.findall(kept, after, re.M) == re.findall(kept, before, re.M), (before, after)
        assert after.count(line_end) == before.count(line_end)
        assert_translated(after, source)


@DIRECTIONS
def test_plain_text(daemon, source, target):
    for author in authors(source, "txt"):
        lines = author.pick(author.say, lambda: f"\t{author.say()}", lambda: f"{author.say()}\t{author.say()}", lambda: "",
                            lambda: f"  - {author.say()}", lambda: "----------", lambda: f"{author.say()}   ", lambda: "1,234 / 5",
                            lambda: f"{author.say()}  {author.say()}", lambda: "\x0c")
        line_end = author.chance.choice(["\n", "\r\n"])
        before = author.chance.choice(["", "\ufeff"]) + line_end.join(lines) + author.chance.choice(["", line_end])
        after = translate(daemon, "a.txt", before.encode(), source, target).decode()

        def frame(text):
            """The white space and signs around the words of each line."""
            return [re.findall(r"^\ufeff|^\s+|\t| {2,}|\s+$|^-+$", line) for line in text.split(line_end)]
        assert frame(after) == frame(before), (before, after)
        assert_translated(after, source)


def test_damaged_files_get_an_answer(daemon, bystander):
    """Whatever is cut off, flipped or put in, a file is translated or refused with a message, and the daemon goes on."""
    chance = random.Random("damage")
    text = SENTENCES["en"][0]
    seeds = {
        "docx": packed({"word/document.xml": f"<w:document {W}><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"}),
        "odt": packed({"content.xml": f"<office:document-content {ODF}><text:p>{text}</text:p></office:document-content>"}),
        "pptx": packed({"ppt/presentation.xml": "<p:presentation xmlns:p='u'/>", "ppt/slides/slide1.xml": "<a:p xmlns:a='u'><a:r><a:t>x y</a:t></a:r></a:p>"}),
        "epub": packed({"META-INF/container.xml": "<c><rootfile full-path='c.opf'/></c>", "c.opf": "<p><item href='a' media-type='application/xhtml+xml'/></p>",
                        "a": f"<html><p>{text}</p></html>"}),
        "html": f"<p title='a'>{text}</p><script>x</script>{{n, plural, one {{a}} other {{b}}}}".encode(),
        "md": f"---\na: b\n---\n# {text}\n\n[[a|b]] `c` ==d== [e](f)\n".encode(),
        "json": json.dumps({"a": [text, {"b": "\\u00e9 {x}"}]}).encode(),
        "po": f'msgid "{text}"\nmsgid_plural "a %d"\nmsgstr[0] ""\nmsgstr[1] ""\n'.encode(),
        "xliff": f'<xliff version="1.2"><file><body><trans-unit><source>{text}<g id="1">a</g></source></trans-unit></body></file></xliff>'.encode(),
        "srt": f"1\n00:00:01,000 --> 00:00:02,000\n<i>{text}</i>\n\n2\n00:00:03,000 --> 00:00:04,000\n- a\n- b\n".encode(),
        "vtt": f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v A>{text}\n".encode(),
        "txt": f"\ufeff{text}\r\n\tb  c\n".encode(),
    }
    for extension, good in seeds.items():
        for _ in range(2 * FILES):
            bad = bytearray(good)
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(bad) or 1)
                match chance.randrange(3):
                    case 0:
                        del bad[at:]
                    case 1:
                        bad[at:at + 1] = bytes([chance.randrange(256)])
                    case 2:
                        bad[at:at] = chance.choice([b"<", b">", b"&", b"{", b"}", b"\0", b"\xff", b'"', b"\\", b"\n", b"]]>", b"<!--"])
            answer = requests.post(f"http://127.0.0.1:{daemon.ports['http']}/translate_file", data={"source": "en", "target": "pt"},
                                   files={"file": (f"a.{extension}", bytes(bad))}, timeout=PATIENCE)
            assert answer.status_code in (200, 400), (extension, bytes(bad), answer.status_code)
            if answer.status_code == 400:
                assert answer.json()["error"].startswith("file: "), (extension, bytes(bad), answer.text)
