"""LibreOffice writes documents of each kind, the daemon translates them, and LibreOffice opens them again: scripts/check-office.sh."""

import random
import shutil
import subprocess
import zipfile

import pytest
import requests
from wire.paths import EN_PT
from wire.requests import PATIENCE, translate_request

SOFFICE = shutil.which("soffice")
CONVERSION_SECONDS = 180
SENTENCES = ["The house is red.", "The children were playing in the garden.", "Where is the nearest station?", "The water is cold.",
             "The man reads a book.", "The old church is near the river."]
NAMESPACES = ('xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
              'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
              'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
              'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" '
              'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"')
STYLES = ('<office:automatic-styles><style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/>'
          '</style:style></office:automatic-styles>')

pytestmark = pytest.mark.skipif(SOFFICE is None, reason="needs LibreOffice (libreoffice-writer, libreoffice-impress)")


def words(choice):
    """Some inline text, with what may stand between words."""
    sentence = choice.choice(SENTENCES)
    first, rest = sentence.split(" ", 1)
    return choice.choice([
        sentence, f'{first} <text:span text:style-name="B">{rest}</text:span>', f'{sentence}<text:tab/>{choice.choice(SENTENCES)}',
        f'<text:a xlink:type="simple" xlink:href="http://www.example.com/">{sentence}</text:a>',
        f"{sentence}<text:line-break/>{choice.choice(SENTENCES)}", f'{sentence}<text:s text:c="4"/>{choice.choice(SENTENCES)}'])


def text_words(choice):
    """The same, and what only text documents have."""
    number = choice.randrange(10 ** 6)
    return choice.choice([
        words(choice), f"{words(choice)} <text:page-number>1</text:page-number>",
        f'{words(choice)}<text:note text:id="n{number}" text:note-class="footnote"><text:note-citation>1</text:note-citation>'
        f"<text:note-body><text:p>{words(choice)}</text:p></text:note-body></text:note>",
        f'<text:bookmark-start text:name="b{number}"/>{words(choice)}<text:bookmark-end text:name="b{number}"/>',
        f"<office:annotation><dc:creator>A</dc:creator><text:p>{choice.choice(SENTENCES)}</text:p></office:annotation>{words(choice)}",
        f'<draw:frame draw:name="f{number}" svg:width="5cm" svg:height="2cm" text:anchor-type="as-char"><draw:text-box><text:p>{words(choice)}'
        f"</text:p></draw:text-box></draw:frame> {words(choice)}",
        f'<text:change-start text:change-id="c1"/>{words(choice)}<text:change-end text:change-id="c1"/> {words(choice)}'])


def table(choice):
    row = "".join(f"<table:table-cell><text:p>{words(choice)}</text:p></table:table-cell>" for _ in range(2))
    return f'<table:table><table:table-column table:number-columns-repeated="2"/><table:table-row>{row}</table:table-row></table:table>'


def text_document(choice):
    blocks = [f"<text:p>{text_words(choice)}</text:p>" for _ in range(6)] + [table(choice)]
    blocks += [f'<text:h text:outline-level="1">{words(choice)}</text:h>',
               f"<text:list><text:list-item><text:p>{words(choice)}</text:p></text:list-item></text:list>"]
    choice.shuffle(blocks)
    # A changed region is declared once, however many paragraphs name it.
    body = "".join(blocks)
    first = body.find('<text:change-start text:change-id="c1"/>')
    head = body[:first + 40] + body[first + 40:].replace('<text:change-start text:change-id="c1"/>', "") if first >= 0 else body
    end = head.find('<text:change-end text:change-id="c1"/>')
    head = head[:end + 38] + head[end + 38:].replace('<text:change-end text:change-id="c1"/>', "") if end >= 0 else head
    tracked = ('<text:tracked-changes><text:changed-region text:id="c1"><text:insertion><office:change-info><dc:creator>A</dc:creator>'
               "<dc:date>2026-01-01T00:00:00</dc:date></office:change-info></text:insertion></text:changed-region></text:tracked-changes>"
               if first >= 0 else "")
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document {NAMESPACES} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">{STYLES}'
            f"<office:body><office:text>{tracked}{head}</office:text></office:body></office:document>")


def slides(choice):
    def frame(top, inner):
        return f'<draw:frame svg:x="2cm" svg:y="{top}cm" svg:width="20cm" svg:height="4cm"><draw:text-box>{inner}</draw:text-box></draw:frame>'
    pages = "".join(
        f'<draw:page draw:name="p{page}" draw:master-page-name="M">' + "".join(frame(1 + 5 * line, f"<text:p>{words(choice)}</text:p>") for line in range(3)) +
        '<presentation:notes><draw:frame presentation:class="notes" svg:width="10cm" svg:height="5cm"><draw:text-box>'
        f"<text:p>{words(choice)}</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>" for page in range(3))
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document {NAMESPACES} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.presentation">'
            '<office:automatic-styles><style:page-layout style:name="L"/><style:style style:name="B" style:family="text">'
            '<style:text-properties fo:font-weight="bold"/></style:style></office:automatic-styles><office:master-styles>'
            '<style:master-page style:name="M" style:page-layout-name="L"/></office:master-styles>'
            f"<office:body><office:presentation>{pages}</office:presentation></office:body></office:document>")


def convert(folder, kind, *files):
    """Has LibreOffice open files and write them as another kind."""
    profile = f"-env:UserInstallation=file://{folder}/profile"
    subprocess.run([SOFFICE, profile, "--headless", "--convert-to", kind, "--outdir", folder, *files],
                   check=True, capture_output=True, timeout=CONVERSION_SECONDS)


def xml_of(path):
    archive = zipfile.ZipFile(path)
    return "".join(archive.read(name).decode() for name in archive.namelist() if name.endswith(".xml"))


def translate(daemon, path, into):
    answer = requests.post(f"http://127.0.0.1:{daemon.ports['http']}/translate_file", data={"source": "en", "target": "pt"},
                           files={"file": (path.name, path.read_bytes())}, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    into.write_bytes(requests.get(answer.json()["translatedFileUrl"], timeout=PATIENCE).content)
    return into


@pytest.mark.parametrize(("make", "flat", "kinds"), [(text_document, "fodt", ("odt", "docx")), (slides, "fodp", ("odp", "pptx"))],
                         ids=["text", "slides"])
def test_libreoffice_opens_what_was_translated(daemon, tmp_path, make, flat, kinds):
    choice = random.Random(7)
    sources = []
    for number in range(8):
        source = tmp_path / f"d{number}.{flat}"
        source.write_text(make(choice))
        sources.append(source)
    results = []
    for kind in kinds:
        convert(tmp_path, kind, *sources)
        # A flat document that LibreOffice does not recognise is opened as plain text, with its tags.
        assert [source for source in sources if "&lt;text:p" in xml_of(tmp_path / f"{source.stem}.{kind}")] == []
        results += [translate(daemon, tmp_path / f"{source.stem}.{kind}", tmp_path / f"{kind}-{source.stem}.{kind}") for source in sources]
    convert(tmp_path, "pdf", *results)
    unopened = [result.name for result in results if not result.with_suffix(".pdf").exists()]
    assert unopened == []
    translated = daemon.translation.Translate(translate_request(*SENTENCES, model=EN_PT), timeout=PATIENCE).translations
    for result in results:
        text = xml_of(result)
        assert [sentence for sentence in SENTENCES if sentence in text] == []
        assert any(item.text in text for item in translated), result.name
