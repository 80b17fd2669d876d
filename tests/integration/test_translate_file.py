"""Files over HTTP as LibreTranslate's clients send them: real documents, read again by other programs' libraries."""

import contextlib
import io
import json
import random
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from xml.etree import ElementTree

import docx
import odf.opendocument
import odf.style
import odf.table
import odf.teletype
import odf.text
import pytest
import requests
from wire.paths import EN_PT
from wire.polling import eventually
from wire.requests import PATIENCE, translate_request

HEADING = "The old house"
SENTENCE = "Where is the nearest station?"


def post(daemon, name, content, **members):
    form = {"source": "en", "target": "pt"} | members
    return requests.post(f"http://127.0.0.1:{daemon.ports['http']}/translate_file", data=form, files={"file": (name, content)},
                         timeout=PATIENCE)


def translate(daemon, name, content, **members):
    answer = post(daemon, name, content, **members)
    assert answer.status_code == 200, answer.text
    file = requests.get(answer.json()["translatedFileUrl"], timeout=PATIENCE)
    assert file.status_code == 200
    return file


def over_grpc(daemon, text):
    return daemon.translation.Translate(translate_request(text, model=EN_PT), timeout=PATIENCE).translations[0].text


def test_settings_name_the_formats(daemon):
    settings = daemon.http("/frontend/settings")[1]
    assert settings["filesTranslation"] is True
    assert settings["supportedFilesFormat"] == [
        ".txt", ".html", ".md", ".srt", ".vtt", ".ass", ".ssa", ".sub", ".docx", ".pptx", ".odt", ".odp", ".epub", ".json", ".po", ".xliff", ".xlf"]


def test_text(daemon):
    file = translate(daemon, "letter.txt", f"\ufeff{HEADING}\r\n\r\n{SENTENCE}\r\n".encode())
    assert file.content.decode() == f"\ufeff{over_grpc(daemon, HEADING)}\r\n\r\n{over_grpc(daemon, SENTENCE)}\r\n"
    assert file.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert 'filename="letter_pt.txt"' in file.headers["Content-Disposition"]


def test_lines_of_a_text_that_an_editor_broke(daemon):
    whole = "The children were playing in the garden behind the old house."
    lines = translate(daemon, "letter.txt", whole.replace("garden behind", "garden\nbehind").encode()).text.split("\n")
    assert len(lines) == 2 and " ".join(lines) == over_grpc(daemon, whole)


def test_a_source_that_is_detected(daemon):
    assert translate(daemon, "a.txt", SENTENCE.encode(), source="auto").text == over_grpc(daemon, SENTENCE)


def test_html(daemon):
    page = f"<!DOCTYPE html>\n<html><head><title>{HEADING}</title><style>p {{}}</style></head><body><p id=a>{SENTENCE}</p></body></html>\n"
    text = translate(daemon, "page.html", page.encode()).text
    assert text == page.replace(HEADING, over_grpc(daemon, HEADING)).replace(SENTENCE, over_grpc(daemon, SENTENCE))


def test_markdown(daemon):
    text = translate(daemon, "README.md", f"# {HEADING}\n\n{SENTENCE}\n\n```sh\nmake house\n```\n".encode()).text
    assert text == f"# {over_grpc(daemon, HEADING)}\n\n{over_grpc(daemon, SENTENCE)}\n\n```sh\nmake house\n```\n"


def test_json(daemon):
    source = {"title": HEADING, "count": 12, "hello": "Hello {name}!", "list": [SENTENCE, None], "@title": {"description": "A title"}}
    answer = json.loads(translate(daemon, "en.json", json.dumps(source, indent=2).encode()).content)
    assert answer == source | {"title": over_grpc(daemon, HEADING), "hello": over_grpc(daemon, "Hello {name}!"),
                               "list": [over_grpc(daemon, SENTENCE), None]}
    assert "{name}" in answer["hello"]
    broken = post(daemon, "en.json", b'{"title": "The old house"')
    assert broken.status_code == 400 and "file: is not valid JSON" in broken.json()["error"]


def test_catalogue_of_gettext(daemon):
    po = ('msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n#, c-format\nmsgid "Open %s"\nmsgstr ""\n\n'
          f'#, fuzzy\nmsgid "Close"\nmsgstr "Fechar tudo"\n\nmsgid "{SENTENCE}"\nmsgstr ""\n')
    text = translate(daemon, "pt.po", po.encode()).content.decode()
    opened, where = over_grpc(daemon, "Open %s"), over_grpc(daemon, SENTENCE)
    assert "%s" in opened
    assert text == (po.replace('"Open %s"\nmsgstr ""', f'"Open %s"\nmsgstr "{opened}"')
                    .replace(f'"{SENTENCE}"\nmsgstr ""', f'"{SENTENCE}"\nmsgstr "{where}"'))
    broken = post(daemon, "pt.po", b'msgid "Open\nmsgstr ""\n')
    assert broken.status_code == 400 and "file: line 1" in broken.json()["error"]


def test_subtitles(daemon):
    srt = ("1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Where is the\r\nnearest station?</i>\r\n\r\n"
           "2\r\n00:00:03,000 --> 00:00:04,000\r\nThe children were playing in the\r\n\r\n"
           "3\r\n00:00:04,000 --> 00:00:05,000\r\ngarden behind the old house.\r\n")
    blocks = translate(daemon, "film.srt", srt.encode()).content.decode().split("\r\n\r\n")
    assert [block.split("\r\n")[:2] for block in blocks] == [block.split("\r\n")[:2] for block in srt.split("\r\n\r\n")]
    first, second, third = (block.strip().split("\r\n")[2:] for block in blocks)
    assert len(first) == 2 and " ".join(first) == f"<i>{over_grpc(daemon, SENTENCE)}</i>"
    assert " ".join(second + third) == over_grpc(daemon, "The children were playing in the garden behind the old house.")
    assert second[0] and third[0]


def test_webvtt(daemon):
    vtt = f"WEBVTT\n\nNOTE {HEADING}\n\nSTYLE\n::cue {{ color: red }}\n\nintro\n00:01.000 --> 00:02.000 line:0\n<v Ann>{SENTENCE}\n"
    assert translate(daemon, "film.vtt", vtt.encode()).text == vtt.replace(SENTENCE, over_grpc(daemon, SENTENCE))


def test_docx(daemon):
    source = docx.Document()
    source.add_heading(HEADING, 1)
    paragraph = source.add_paragraph("The children were playing in the ")
    paragraph.add_run("big garden").bold = True
    paragraph.add_run(" behind the old house.")
    source.add_table(1, 2).cell(0, 1).text = SENTENCE
    source.sections[0].footer.paragraphs[0].text = "Thank you."
    source.add_paragraph("Good morning.", style="List Bullet")
    held = io.BytesIO()
    source.save(held)
    file = translate(daemon, "report.docx", held.getvalue())
    result = docx.Document(io.BytesIO(file.content))
    assert result.paragraphs[0].text == over_grpc(daemon, HEADING)
    assert result.paragraphs[0].style.name == "Heading 1"
    assert result.paragraphs[1].text == over_grpc(daemon, paragraph.text)
    bold = [run.text for run in result.paragraphs[1].runs if run.bold]
    assert len(bold) == 1 and "jardim" in bold[0] and "casa" not in bold[0]
    assert result.tables[0].cell(0, 1).text == over_grpc(daemon, SENTENCE)
    assert result.sections[0].footer.paragraphs[0].text == over_grpc(daemon, "Thank you.")
    assert result.paragraphs[2].style.name == "List Bullet"
    before, after = zipfile.ZipFile(held), zipfile.ZipFile(io.BytesIO(file.content))
    assert after.testzip() is None and after.namelist() == before.namelist()
    changed = {name for name in after.namelist() if after.read(name) != before.read(name)}
    assert changed == {"word/document.xml", "word/footer1.xml"}


def test_odt(daemon):
    source = odf.opendocument.OpenDocumentText()
    bold = odf.style.Style(name="Bold", family="text")
    bold.addElement(odf.style.TextProperties(fontweight="bold"))
    source.automaticstyles.addElement(bold)
    source.text.addElement(odf.text.H(outlinelevel=1, text=HEADING))
    paragraph = odf.text.P(text="The children were playing in the ")
    paragraph.addElement(odf.text.Span(stylename=bold, text="big garden"))
    paragraph.addText(" behind the old house.")
    source.text.addElement(paragraph)
    table = odf.table.Table()
    row = odf.table.TableRow()
    cell = odf.table.TableCell()
    cell.addElement(odf.text.P(text=SENTENCE))
    row.addElement(cell)
    table.addElement(row)
    source.text.addElement(table)
    held = io.BytesIO()
    source.write(held)
    file = translate(daemon, "report.odt", held.getvalue())
    result = odf.opendocument.load(io.BytesIO(file.content))
    texts = [odf.teletype.extractText(node) for kind in (odf.text.H, odf.text.P) for node in result.getElementsByType(kind)]
    whole = "The children were playing in the big garden behind the old house."
    assert texts == [over_grpc(daemon, text) for text in (HEADING, whole, SENTENCE)]
    spans = result.getElementsByType(odf.text.Span)
    assert len(spans) == 1 and spans[0].getAttribute("stylename") == "Bold"
    assert "jardim" in odf.teletype.extractText(spans[0])
    assert zipfile.ZipFile(io.BytesIO(file.content)).infolist()[0].filename == "mimetype"


def packed(entries):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return held.getvalue()


def unpacked(file):
    archive = zipfile.ZipFile(io.BytesIO(file.content))
    assert archive.testzip() is None
    return {name: archive.read(name).decode() for name in archive.namelist()}


SLIDE = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:cSld><a:p><a:pPr lvl="1"/><a:r><a:rPr lang="en-US"/>
<a:t>{}</a:t></a:r><a:endParaRPr lang="en-US"/></a:p></p:cSld></p:sld>"""


def test_pptx(daemon):
    others = {"[Content_Types].xml": "<Types/>", "ppt/presentation.xml": "<p:presentation xmlns:p='p'/>",
              "ppt/media/image1.png": random.Random(1).randbytes(300_000)}   # most of the archive stays as it is
    file = translate(daemon, "talk.pptx", packed(others | {"ppt/slides/slide1.xml": SLIDE.format(HEADING),
                                                           "ppt/notesSlides/notesSlide1.xml": SLIDE.format(SENTENCE)}))
    assert file.headers["Content-Type"] == "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    archive = zipfile.ZipFile(io.BytesIO(file.content))
    for part, text in (("ppt/slides/slide1.xml", HEADING), ("ppt/notesSlides/notesSlide1.xml", SENTENCE)):
        [paragraph] = ElementTree.fromstring(archive.read(part)).iter("{http://schemas.openxmlformats.org/drawingml/2006/main}p")
        assert [child.tag.split("}")[1] for child in paragraph] == ["pPr", "r", "endParaRPr"]
        assert "".join(paragraph.itertext()).strip() == over_grpc(daemon, text)
    assert archive.read("ppt/media/image1.png") == others["ppt/media/image1.png"]


def test_epub(daemon):
    chapter = ('<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
               f'<style>p {{}}</style></head><body><h1 id="a">{HEADING}</h1><p>{SENTENCE}<br/><a id="p1"/></p></body></html>')
    book = {"mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="O/book.opf"/></container>',
            "O/book.opf": '<package><item href="one%20two.xhtml" media-type="application/xhtml+xml"/></package>',
            "O/one two.xhtml": chapter, "O/a.css": "p {}"}
    file = translate(daemon, "book.epub", packed(book))
    translated = chapter.replace(HEADING, over_grpc(daemon, HEADING)).replace(SENTENCE, over_grpc(daemon, SENTENCE))
    assert unpacked(file) == book | {"O/one two.xhtml": translated}
    first = zipfile.ZipFile(io.BytesIO(file.content)).infolist()[0]
    assert first.filename == "mimetype" and first.compress_type == zipfile.ZIP_STORED


def test_xliff(daemon):
    source = ('<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
              '  <file source-language="en"><body>\n    <trans-unit id="1">\n      <source>Open <x id="INTERPOLATION"/> now.</source>'
              f'\n    </trans-unit>\n    <trans-unit id="2"><source>{HEADING}</source><target>Pronto</target></trans-unit>\n'
              '  </body></file>\n</xliff>\n')
    text = translate(daemon, "messages.xlf", source.encode()).text
    [target] = re.findall(r"\n      <target [^>]*>([^\n]*)</target>\n", text)
    assert target.count('<x id="INTERPOLATION"/>') == 1 and "Open" not in target
    assert re.sub(r"\n      <target .*", "", text).replace(' target-language="pt"', "") == source


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="needs msgfmt of gettext")
def test_msgfmt_takes_a_translated_catalogue(daemon, tmp_path):
    head = ('msgid ""\nmsgstr ""\n"Project-Id-Version: a\\n"\n"PO-Revision-Date: 2026-01-01 00:00+0000\\n"\n"Last-Translator: a <a@b.c>\\n"\n'
            '"Language-Team: a <a@b.c>\\n"\n"Language: \\n"\n"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
            '"Content-Transfer-Encoding: 8bit\\n"\n"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"\n')
    formats = ["Copied %d files to %s.", "%s: line %d: no such word", "%.1f%% of %s are left", "The file %s is older than %s by %d days"]
    entries = [f'#, c-format\nmsgid "{text}"\nmsgstr ""\n' for text in formats]
    entries += ['#, c-format\nmsgid "%d file was found"\nmsgid_plural "%d files were found"\nmsgstr[0] ""\nmsgstr[1] ""\n',
                'msgid "\\nThe house is red.\\n"\nmsgstr ""\n', 'msgid "The first line.\\nThe second line.\\n"\nmsgstr ""\n',
                '#, python-format\nmsgid "%(name)s has %(count)d books"\nmsgstr ""\n',
                '#~ msgid "Old"\n#~ msgstr ""\n']
    path = tmp_path / "pt.po"
    path.write_bytes(translate(daemon, "pt.po", "\n".join([head, *entries]).encode()).content)
    done = subprocess.run(["msgfmt", "--check", "--statistics", "-o", tmp_path / "pt.mo", path], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and "8 translated messages" in done.stderr, done.stderr + path.read_text()


def zipped(**entries):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/") + ".xml", content)
    return held.getvalue()


BAD = {
    "an unknown format": ("a.pdf", b"x", ["'a.pdf'", ".docx"]),
    "no name": ("none", b"x", ["'none'", ".txt"]),
    "not UTF-8": ("a.txt", b"\xff", ["UTF-8"]),
    "no subtitles": ("a.srt", b"Hello.", ["no subtitles"]),
    "not a zip archive": ("a.docx", b"Hello.", ["not a zip archive"]),
    "another zip archive": ("a.docx", zipped(content="<a/>"), ["no word/document.xml"]),
    "a zip bomb": ("a.docx", zipped(word__document="<a/>", zeros=b"\0" * 50_000_000), ["unpacks to more than"]),
    "much XML": ("a.odt", zipped(content=b" " * 500_000 + json.dumps(list(range(900_000))).encode()), ["content.xml", "4194304"]),
    "entities": ("a.odt", zipped(content='<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), ["DOCTYPE"]),
    "deep XML": ("a.odt", zipped(content="<a>" * 1000 + "x" + "</a>" * 1000), ["deeper than 256"]),
    "slides that are none": ("a.pptx", zipped(word__document="<a/>"), ["no ppt/presentation.xml"]),
    "a book that is none": ("a.epub", zipped(word__document="<a/>"), ["no META-INF/container.xml"]),
    "a book whose text is far away": (
        "a.epub", packed({"META-INF/container.xml": '<a><rootfile full-path="../../etc/passwd"/></a>'}), ["no package document"]),
    "an XLIFF of entities": ("a.xlf", b'<!DOCTYPE a [<!ENTITY b "c">]><xliff version="1.2"/>', ["DOCTYPE"]),
    "another XML": ("a.xliff", b"<a/>", ["no element xliff"]),
    "broken XML": ("a.odt", zipped(content="<a>"), ["content.xml", "well-formed"]),
}


@pytest.mark.parametrize(("name", "content", "wanted"), BAD.values(), ids=BAD.keys())
def test_bad_files_get_an_error_that_says_why(daemon, bystander, name, content, wanted):
    answer = post(daemon, name, content)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error.startswith("file: ")
    for part in wanted:
        assert part in error


def test_a_form_of_two_files_is_refused(daemon):
    files = [("file", (name, b"Hello.")) for name in ("a.txt", "b.txt")]
    answer = requests.post(f"http://127.0.0.1:{daemon.ports['http']}/translate_file", data={"source": "en", "target": "pt"},
                           files=files, timeout=PATIENCE)
    assert answer.status_code == 400 and "file: is given twice" in answer.json()["error"]


@pytest.mark.parametrize(("content", "wanted"), [(b"a" * 500_001, ["500001 characters", "500000"]),
                                                 (b"a" * (10 * 1024 * 1024 + 1), ["10485761 bytes", "10485760"])],
                         ids=["much text", "many bytes"])
def test_large_files_are_told_apart_from_bad_ones(daemon, bystander, content, wanted):
    answer = post(daemon, "a.txt", content)
    assert answer.status_code == 413
    for part in wanted:
        assert part in answer.json()["error"]


UPLOAD = b'--b\r\nContent-Disposition: form-data; name="source"\r\n\r\nen\r\n--b--\r\n'


def upload_from(daemon, address):
    """A connection from an address of this machine that has sent the head of an upload and the first byte of its body."""
    peer = socket.create_connection(("127.0.0.1", daemon.ports["http"]), timeout=PATIENCE, source_address=(address, 0))
    peer.sendall(b"POST /translate_file HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(UPLOAD) + UPLOAD[:1])
    return peer


def answer_to_whole_upload(daemon, address):
    with upload_from(daemon, address) as peer:
        peer.sendall(UPLOAD[1:])
        return peer.recv(65536)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_slow_uploads_of_one_address_leave_places_to_others(daemon, bystander):
    with contextlib.ExitStack() as slow:
        def refused():
            # A slow upload holds a place only once the server has read its head, so each try adds one more.
            slow.enter_context(upload_from(daemon, "127.0.0.2"))
            answer = answer_to_whole_upload(daemon, "127.0.0.2")
            return b" 429 " in answer.split(b"\r\n")[0] and b"4 files of this address" in answer
        eventually("slow uploads take all places of their address", refused, PATIENCE)
        for _ in range(8):   # more than all addresses together may have
            refused()
        assert b"missing file parameter" in answer_to_whole_upload(daemon, "127.0.0.3")
        assert translate(daemon, "a.txt", SENTENCE.encode()).text == over_grpc(daemon, SENTENCE)


def test_a_client_that_leaves_stops_its_translation(daemon):
    def cancelled():
        return daemon.metrics().total("millrace_requests_total", method="HttpTranslate", code="CANCELLED")
    before = cancelled()
    text = "\n\n".join(f"{SENTENCE} It is house number {number}, behind the garden." for number in range(1200))
    with pytest.raises(requests.Timeout):
        form = {"source": "en", "target": "pt"}
        requests.post(f"http://127.0.0.1:{daemon.ports['http']}/translate_file", data=form, files={"file": ("a.txt", text)},
                      timeout=0.5)
    eventually("the translation of the client that left ends", lambda: cancelled() == before + 1, PATIENCE)


def test_a_download_that_is_not_there(daemon):
    answer = requests.get(f"http://127.0.0.1:{daemon.ports['http']}/download_file/../../etc/passwd", timeout=PATIENCE)
    assert answer.status_code == 404
    answer = requests.get(f"http://127.0.0.1:{daemon.ports['http']}/download_file/{'0' * 32}.txt", timeout=PATIENCE)
    assert answer.status_code == 404 and f"there is no file '{'0' * 32}.txt'" in answer.json()["error"]
