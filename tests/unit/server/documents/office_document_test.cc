#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "server/documents/xml_part.h"
#include "tests/unit/server/documents/office_files.h"
#include "tests/unit/server/documents/translated.h"
#include "tests/unit/server/documents/zip_file.h"

namespace millrace::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kBold = "<w:rPr><w:b/></w:rPr>";

TEST(Docx, RunsThatLookDifferentAreSpans) {
  const std::string body =
      StrCat("<w:p><w:pPr><w:jc/></w:pPr><w:r><w:t>Some </w:t></w:r><w:r>", kBold,
             "<w:t>bo</w:t></w:r><w:proofErr/><w:r>", kBold, "<w:t>ld</w:t></w:r>",
             "<w:r><w:rPr><w:lang/></w:rPr><w:t xml:space=\"preserve\"> wor</w:t></w:r>",
             "<w:r><w:t>ds &amp; more.</w:t></w:r></w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("Some <g0>bold</g0> words &amp; more."));
  EXPECT_EQ(WordAfter(body, "<g0>Negrito</g0> &amp; outras."),
            StrCat("<w:p><w:pPr><w:jc/></w:pPr><w:r>", kBold,
                   "<w:t xml:space=\"preserve\">Negrito</w:t></w:r>",
                   "<w:r><w:t xml:space=\"preserve\"> &amp; outras.</w:t></w:r></w:p>"));
}

TEST(Docx, ATextWhoseSpansWereLostIsWhole) {
  const std::string body =
      StrCat("<w:p><w:r><w:t>Some </w:t></w:r><w:r>", kBold, "<w:t>b</w:t></w:r></w:p>");
  EXPECT_EQ(WordAfter(body, "Alguns b"),
            "<w:p><w:r><w:t xml:space=\"preserve\">Alguns b</w:t></w:r></w:p>");
}

TEST(Docx, LinksMoveWithTheirWords) {
  const std::string body =
      StrCat("<w:p><w:r><w:t>See the </w:t></w:r><w:hyperlink r:id=\"r1\"><w:r>", kBold,
             "<w:t>red page</w:t></w:r></w:hyperlink><w:r><w:t>.</w:t></w:r></w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("See the <g0>red page</g0>."));
  EXPECT_EQ(WordAfter(body, "<g0>A página</g0>: veja."),
            StrCat("<w:p><w:hyperlink r:id=\"r1\"><w:r>", kBold,
                   "<w:t xml:space=\"preserve\">A página</w:t></w:r></w:hyperlink>",
                   "<w:r><w:t xml:space=\"preserve\">: veja.</w:t></w:r></w:p>"));
}

TEST(Docx, WhatIsNoTextStays) {
  const std::string field =
      "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>"
      "<w:r><w:t>3</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
  const std::string removed = "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>";
  const std::string formula = "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>";
  const std::string body = StrCat("<w:p><w:r><w:t>Page </w:t></w:r>", field,
                                  "<w:r><w:t>, </w:t><w:br/><w:t>of</w:t></w:r>", removed, formula,
                                  "<w:r>", kBold, "<w:footnoteReference w:id=\"1\"/></w:r></w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)),
              ElementsAre("Page <x0/>, <br id=1/>of<x2/><x3/><x4/>"));
  EXPECT_EQ(WordAfter(body, "<x0/> página, <br id=1/><x4/>de<x2/><x3/>"),
            StrCat("<w:p>", field, "<w:r><w:t xml:space=\"preserve\"> página, </w:t></w:r>",
                   "<w:r><w:br/></w:r><w:r>", kBold, "<w:footnoteReference w:id=\"1\"/></w:r>",
                   "<w:r><w:t xml:space=\"preserve\">de</w:t></w:r>", removed, formula, "</w:p>"));
}

TEST(Docx, NamespacesThatARunDeclaresStayWithWhatItHolds) {
  const std::string body =
      "<w:p><w:r><w:t>The house </w:t></w:r><w:r xmlns:a=\"urn:a\"><w:drawing><a:graphic/>"
      "</w:drawing></w:r><w:r xmlns:b=\"urn:b\"><w:rPr><b:glow/></w:rPr><w:t>is</w:t></w:r></w:p>";
  const std::string after = WordAfter(body, "A casa <x0/><g1>é</g1>");
  EXPECT_TRUE(HasValidNames(Word(after))) << after;
  EXPECT_THAT(after, HasSubstr("xmlns:a=\"urn:a\""));
  EXPECT_THAT(after, HasSubstr("xmlns:b=\"urn:b\""));
}

constexpr const char* kWordAddress = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
constexpr const char* kStrictAddress = "http://purl.oclc.org/ooxml/wordprocessingml/main";

// A document whose elements have the prefix `prefix`, which may be empty. Its attributes have `x`.
std::string WordNamed(std::string prefix, const std::string& address) {
  const std::string declared = prefix.empty() ? "xmlns" : StrCat("xmlns:", prefix);
  if (!prefix.empty()) prefix += ':';
  const auto element = [&](const std::string& name, const std::string& inside) {
    return StrCat("<", prefix, name, ">", inside, "</", prefix, name, ">");
  };
  const auto run = [&](const std::string& inside) { return element("r", inside); };
  const auto mark = [&](const std::string& type) {
    return run(StrCat("<", prefix, "fldChar x:fldCharType=\"", type, "\"/>"));
  };
  const std::string body =
      element("p", run(element("t", "Page ")) + mark("begin") + run(element("instrText", "PAGE")) +
                       mark("separate") + run(element("t", "3")) + mark("end") +
                       run(element("t", " is red")));
  return StrCat("<", prefix, "document ", declared, "=\"", address, "\" xmlns:x=\"", address, "\">",
                element("body", body), "</", prefix, "document>");
}

TEST(Docx, NamespacesAreKnownByTheirAddressWhateverTheirPrefix) {
  for (const std::string prefix : {"ns0", "", "a", "text"}) {
    for (const std::string address : {kWordAddress, kStrictAddress}) {
      const std::string bytes = Packed({{"word/document.xml", WordNamed(prefix, address)}});
      EXPECT_THAT(TextsOf("a.docx", bytes), ElementsAre("Page <var id=0>x</var> is red")) << prefix;
      const std::string after =
          EntryOf(Translated("a.docx", bytes, Saying("is red", "é vermelha")), "word/document.xml");
      EXPECT_TRUE(HasValidNames(after)) << after;
      EXPECT_THAT(after, HasSubstr(" é vermelha</w:t>"));
      EXPECT_THAT(after, HasSubstr(StrCat("xmlns:w=\"", address, "\"")));
    }
  }
}

TEST(Docx, APrefixMayStandForAnotherNamespaceThanUsual) {
  const std::string xml = StrCat(
      "<o:document xmlns:o=\"", kWordAddress,
      "\" xmlns:w=\"urn:mine\"><o:body><o:p w:id=\"1\"><o:r>"
      "<o:t>Words</o:t></o:r></o:p><w:p><w:r><w:t>Mine</w:t></w:r></w:p></o:body></o:document>");
  const std::string bytes = Packed({{"word/document.xml", xml}});
  EXPECT_THAT(TextsOf("a.docx", bytes), ElementsAre("Words"));
  const std::string after = EntryOf(Translated("a.docx", bytes, Same), "word/document.xml");
  EXPECT_TRUE(HasValidNames(after)) << after;
  EXPECT_THAT(after, HasSubstr("xmlns:w-other=\"urn:mine\""));
}

TEST(Odt, NamespacesAreKnownByTheirAddressWhateverTheirPrefix) {
  const std::string xml =
      "<o:document-content xmlns:o=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\">"
      "<o:body><o:text><p xmlns=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\">The <span>red"
      "</span> car</p></o:text></o:body></o:document-content>";
  const std::string bytes = Packed({{"content.xml", xml}});
  EXPECT_THAT(TextsOf("a.odt", bytes), ElementsAre("The <g0>red</g0> car"));
  EXPECT_TRUE(HasValidNames(EntryOf(Translated("a.odt", bytes, Same), "content.xml")));
}

TEST(Pptx, NamespacesAreKnownByTheirAddressWhateverTheirPrefix) {
  const std::string slide =
      "<n0:sld xmlns:n0=\"http://schemas.openxmlformats.org/presentationml/2006/main\" "
      "xmlns:n1=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><n1:p><n1:r><n1:t>Words"
      "</n1:t></n1:r></n1:p></n0:sld>";
  const std::string show =
      "<n0:presentation xmlns:n0=\"http://schemas.openxmlformats.org/presentationml/2006/main\"/>";
  const std::string bytes =
      Packed({{"ppt/presentation.xml", show}, {"ppt/slides/slide1.xml", slide}});
  EXPECT_THAT(TextsOf("a.pptx", bytes), ElementsAre("Words"));
}

TEST(Docx, PartsAreKnownByTheirDeclaredTypeWhateverTheirName) {
  const std::string types =
      "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Override "
      "PartName=\"/word/document2.xml\" "
      "ContentType=\"application/vnd.openxmlformats-officedocument."
      "wordprocessingml.document.main+xml\"/><Override PartName=\"/word/top.xml\" ContentType="
      "\"application/vnd.openxmlformats-officedocument.wordprocessingml.header+xml\"/><Override "
      "PartName=\"/word/styles.xml\" ContentType=\"application/vnd.openxmlformats-officedocument."
      "wordprocessingml.styles+xml\"/></Types>";
  const std::string paragraph = "<w:p><w:r><w:t>Words</w:t></w:r></w:p>";
  const std::string bytes = Packed({{"[Content_Types].xml", types},
                                    {"word/document2.xml", Word(paragraph)},
                                    {"word/top.xml", "<w:hdr>" + paragraph + "</w:hdr>"},
                                    {"word/styles.xml", "<w:s>" + paragraph + "</w:s>"}});
  EXPECT_THAT(TextsOf("a.docx", bytes), ElementsAre("Words", "Words"));
}

TEST(Docx, SeveralSpacesDivideTheText) {
  const std::string body = "<w:p><w:r><w:t>Name:     Price:</w:t></w:r></w:p>";
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("Name:<br id=0/>Price:"));
  EXPECT_THAT(WordAfter(body, "Nome:<br id=0/>Preço:"), HasSubstr(">     </w:t>"));
}

// A search of the rest of the text for each of the spaces would take hours.
TEST(Docx, TextsOfManySpacesTakeTimeByTheirLength) {
  std::string words;
  for (int i = 0; i < 300'000; ++i) words += "a  ";
  const auto document =
      OpenDocument("a.docx", Docx("<w:p><w:r><w:t>" + words + "</w:t></w:r></w:p>"),
                   {.texts = 1'000'000, .characters = 100'000'000, .ratio = 10'000});
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ((*document)->texts().size(), 1U);
}

TEST(Docx, ElementsHaveABoundedNumberOfAttributes) {
  std::string attributes;
  for (int i = 0; i < 300; ++i) absl::StrAppend(&attributes, " a", i, "=\"\"");
  const auto document =
      OpenDocument("a.docx", Docx("<w:p" + attributes + "><w:r><w:t>Words</w:t></w:r></w:p>"), {});
  EXPECT_THAT(std::string(document.status().message()), HasSubstr("256 attributes"));
}

TEST(Docx, AllItsPartsAreTranslatedAndNoOthers) {
  const std::string bytes =
      Docx("<w:tbl><w:p><w:r><w:t>Cell</w:t></w:r></w:p></w:tbl><w:p/>",
           {{"word/header1.xml", "<w:hdr><w:p><w:r><w:t>Head</w:t></w:r></w:p></w:hdr>"},
            {"word/footer2.xml", "<w:ftr><w:p><w:r><w:t>Foot</w:t></w:r></w:p></w:ftr>"},
            {"word/footnotes.xml", "<w:fn><w:p><w:r><w:t>Note</w:t></w:r></w:p></w:fn>"},
            {"word/styles.xml", "<w:s><w:p><w:r><w:t>No</w:t></w:r></w:p></w:s>"},
            {"word/media/image1.png", "png"}});
  EXPECT_THAT(TextsOf("a.docx", bytes), ElementsAre("Cell", "Head", "Foot", "Note"));
  const ZipEntries after =
      Unpacked(Translated("a.docx", bytes, [](const std::string& text) { return text + "!"; }));
  const ZipEntries before = Unpacked(bytes);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].first, before[i].first);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_THAT(after[1].second, HasSubstr(">Cell!<"));
  EXPECT_THAT(after[2].second, HasSubstr(">Head!<"));
  EXPECT_THAT(after[3].second, HasSubstr(">Foot!<"));
  EXPECT_THAT(after[4].second, HasSubstr(">Note!<"));
  EXPECT_EQ(after[5], before[5]);
  EXPECT_EQ(after[6], before[6]);
}

TEST(Docx, TextBoxesAreParagraphsInsideOfOne) {
  const std::string body =
      "<w:p><w:r><w:t>Out</w:t></w:r><w:r><w:pict><w:p><w:r><w:t>In</w:t></w:r></w:p></w:pict>"
      "</w:r></w:p>";
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("Out<x0/>", "In"));
  const std::string after = EntryOf(
      Translated("a.docx", Docx(body),
                 [](const std::string& text) { return text == "In" ? "Dentro" : "<x0/>Fora"; }),
      "word/document.xml");
  EXPECT_THAT(after, HasSubstr("<w:p><w:r><w:pict><w:p><w:r><w:t xml:space=\"preserve\">Dentro"
                               "</w:t></w:r></w:p></w:pict></w:r><w:r><w:t "
                               "xml:space=\"preserve\">Fora</w:t></w:r></w:p>"));
}

TEST(Docx, AParagraphWhereNoneBelongsIsHarmless) {
  const std::string body =
      "<w:p><w:r><w:t>Out<w:p><w:r><w:t>In</w:t></w:r></w:p></w:t></w:r><w:proofErr><w:p><w:r>"
      "<w:t>Lost</w:t></w:r></w:p></w:proofErr></w:p>";
  EXPECT_EQ(WordAfter(body, "X"), "<w:p><w:r><w:t xml:space=\"preserve\">X</w:t></w:r></w:p>");
}

TEST(Docx, WithoutTextIsTheSameBytes) {
  const std::string bytes = Docx("<w:p><w:r><w:t> </w:t></w:r></w:p>");
  EXPECT_THAT(TextsOf("a.docx", bytes), IsEmpty());
  EXPECT_EQ(Translated("a.docx", bytes, Same), bytes);
}

TEST(Odt, SpansAndLinksFollowTheTranslation) {
  const std::string body =
      "<text:h text:level=\"1\">A <text:span s=\"T1\">big <text:a h=\"u\">link</text:a></text:span>"
      "\n   here<text:s/>now<text:line-break/>End</text:h>";
  EXPECT_THAT(TextsOf("a.odt", Odt(body)),
              ElementsAre("A <g0>big <g1>link</g1></g0> here now<br id=2/>End", "Foot"));
  EXPECT_EQ(OdtAfter(body, "<g0><g1>Laço</g1> grande</g0> aqui<br id=2/>Fim"),
            "<text:h text:level=\"1\"><text:span s=\"T1\"><text:a h=\"u\">Laço</text:a> grande"
            "</text:span> aqui<text:line-break/>Fim</text:h>");
}

TEST(Odt, NotesAndRemovedTextStay) {
  const std::string removed = "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>";
  const std::string body =
      removed + "<text:p>One<text:note><text:p>Two</text:p></text:note><text:s/></text:p>";
  EXPECT_THAT(TextsOf("a.odt", Odt(body)), ElementsAre("One<x0/> ", "Two", "Foot"));
  const std::string after = OdtAfter(body, "Um<x0/>");
  EXPECT_THAT(after, HasSubstr(removed));
  EXPECT_THAT(after, HasSubstr("Um<text:note><text:p>Um</text:p></text:note>"));
}

TEST(Odt, ItsFirstEntryStaysStored) {
  const std::string after = Translated("a.odt", Odt("<text:p>One</text:p>"), Same);
  EXPECT_EQ(after.substr(30, 8), "mimetype");
  EXPECT_EQ(Unpacked(after, ZIP_FL_COMPRESSED)[0].second,
            "application/vnd.oasis.opendocument.text");
}

TEST(OfficeDocument, ErrorsSayWhatIsWrong) {
  const auto wrong = [](std::string name, std::string part, const std::string& xml,
                        const DocumentLimits& limits = {}) {
    return Translated(name, Packed({{"first", ""}, {std::move(part), xml}}), Same, limits);
  };
  EXPECT_THAT(wrong("a.docx", "content.xml", "<a/>"), HasSubstr("file: has no word/document.xml"));
  EXPECT_THAT(wrong("a.odt", "word/document.xml", "<a/>"), HasSubstr("file: has no content.xml"));
  EXPECT_THAT(wrong("a.odt", "content.xml", "<a/>"), HasSubstr("office:document-content"));
  EXPECT_THAT(wrong("a.odt", "content.xml", "<a>"), HasSubstr("content.xml is not well-formed"));
  EXPECT_THAT(wrong("a.odt", "content.xml", "<a>\xFF</a>"), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(wrong("a.odt", "content.xml",
                    "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>"),
              HasSubstr("content.xml has a DOCTYPE"));
  EXPECT_THAT(wrong("a.odt", "content.xml", Content("<a><b/></a>"), {.xml_depth = 2}),
              HasSubstr("nested deeper than 2"));
  EXPECT_THAT(wrong("a.odt", "content.xml", Content(""), {.xml_bytes = 10}),
              HasSubstr("unpacks to more than 10 bytes"));
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "<a>";
  EXPECT_THAT(wrong("a.odt", "content.xml", deep, {.ratio = 2'000}), HasSubstr("not well-formed"));
  for (int i = 0; i < 300'000; ++i) deep += "</a>";
  EXPECT_THAT(wrong("a.odt", "content.xml", deep, {.ratio = 2'000}),
              HasSubstr("nested deeper than 256"));
  EXPECT_THAT(Translated("a.docx", "", Same), HasSubstr("file: is empty"));
  EXPECT_THAT(Translated("a.docx", "text", Same), HasSubstr("file: is not a zip archive"));
}

TEST(Odt, TheSpaceBehindAnElementStays) {
  EXPECT_THAT(TextsOf("a.odt", Odt("<text:p>Page <text:page-number>1</text:page-number> of it, "
                                   "<text:bookmark text:name=\"b\"/> so</text:p>")),
              Contains("Page <var id=0>x</var> of it, <x1/>so"));
}

TEST(Odp, IsReadAsATextIs) {
  EXPECT_THAT(TextsOf("a.odp", Odt("<draw:page><text:p>A slide</text:p></draw:page>")),
              Contains("A slide"));
}

TEST(Odt, SeveralSpacesDivideTheText) {
  const std::string body = "<text:p>Name:<text:s text:c=\"10\"/>Price: <text:s/>x</text:p>";
  EXPECT_THAT(TextsOf("a.odt", Odt(body)), Contains("Name:<br id=0/>Price: <br id=1/>x"));
}

std::string Slide(const std::string& body) {
  return StrCat("<p:sld xmlns:p=\"p\" xmlns:a=\"a\" xmlns:r=\"r\"><p:txBody>", body,
                "</p:txBody></p:sld>");
}
std::string Pptx(const std::string& body, ZipEntries others = {}) {
  others.insert(others.begin(), {{"[Content_Types].xml", "<Types/>"},
                                 {"ppt/presentation.xml", "<p:presentation/>"},
                                 {"ppt/slides/slide1.xml", Slide(body)}});
  return Packed(others);
}
std::string SlideAfter(const std::string& body, const std::string& translation) {
  const std::string all =
      EntryOf(Translated("a.pptx", Pptx(body), [&](const std::string&) { return translation; }),
              "ppt/slides/slide1.xml");
  const size_t begin = all.find("<p:txBody>") + 10;
  return all.substr(begin, all.find("</p:txBody>") - begin);
}

TEST(Pptx, RunsFollowTheirWordsAndTheEndOfTheParagraphStaysLast) {
  const std::string body =
      "<a:p><a:pPr lvl=\"1\"/><a:r><a:rPr lang=\"en-US\" dirty=\"0\"/><a:t>The </a:t></a:r><a:r>"
      "<a:rPr lang=\"en-US\" b=\"1\"/><a:t>red</a:t></a:r><a:r><a:rPr lang=\"en-GB\"/><a:t> car"
      "</a:t></a:r><a:br/><a:fld id=\"{1}\" type=\"slidenum\"><a:t>1</a:t></a:fld>"
      "<a:endParaRPr lang=\"en-US\"/></a:p>";
  EXPECT_THAT(TextsOf("a.pptx", Pptx(body)), ElementsAre("The <g0>red</g0> car<br id=1/><x2/>"));
  EXPECT_EQ(SlideAfter(body, "O carro <g0>vermelho</g0><br id=1/><x2/>"),
            "<a:p><a:pPr lvl=\"1\"/><a:r><a:rPr lang=\"en-US\" dirty=\"0\"/><a:t>O carro "
            "</a:t></a:r><a:r>"
            "<a:rPr lang=\"en-US\" b=\"1\"/><a:t>vermelho</a:t></a:r><a:br/>"
            "<a:fld id=\"{1}\" type=\"slidenum\"><a:t>1</a:t></a:fld>"
            "<a:endParaRPr lang=\"en-US\"/></a:p>");
}

TEST(Pptx, NotesChartsDiagramsAndCommentsAreTranslated) {
  const std::string paragraph = "<a:p><a:r><a:t>Words</a:t></a:r></a:p>";
  const std::string label =
      "<c:strCache><c:ptCount val=\"1\"/><c:pt><c:v>North</c:v></c:pt></c:strCache>"
      "<c:numCache><c:pt><c:v>12</c:v></c:pt></"
      "c:numCache><c:multiLvlStrCache><c:lvl><c:pt><c:v>South"
      "</c:v></c:pt></c:lvl></c:multiLvlStrCache><c:tx><c:v>Sales</c:v></c:tx>";
  const std::string bytes =
      Pptx("", {{"ppt/notesSlides/notesSlide1.xml", Slide(paragraph)},
                {"ppt/charts/chart1.xml", "<c:chart>" + paragraph + label + "</c:chart>"},
                {"ppt/diagrams/data1.xml", "<d>" + paragraph + "</d>"},
                {"ppt/comments/comment1.xml", "<p:cm><p:text>Remark</p:text></p:cm>"},
                {"ppt/slideLayouts/slideLayout1.xml", Slide(paragraph)}});
  EXPECT_THAT(TextsOf("a.pptx", bytes),
              ElementsAre("Words", "Words", "North", "South", "Sales", "Words", "Remark"));
  const std::string after = Translated("a.pptx", bytes, Saying("North", "Norte"));
  EXPECT_THAT(EntryOf(after, "ppt/charts/chart1.xml"), HasSubstr("<c:v>Norte</c:v>"));
  EXPECT_THAT(EntryOf(after, "ppt/charts/chart1.xml"), HasSubstr("<c:v>12</c:v>"));
}

TEST(Pptx, ShapesInChartsAndChartsOfLaterVersionsAreTranslated) {
  const auto type = [](const std::string& part, const std::string& name) {
    return StrCat("<Override PartName=\"/ppt/", part, "\" ContentType=\"application/vnd.", name,
                  "+xml\"/>");
  };
  const std::string types =
      StrCat("<Types>",
             type("drawings/drawing1.xml", "openxmlformats-officedocument.drawingml.chartshapes"),
             type("charts/chartEx1.xml", "ms-office.chartex"), "</Types>");
  const std::string chart =
      "<cx:c><cx:strDim><cx:lvl><cx:pt>North</cx:pt></cx:lvl></"
      "cx:strDim><cx:numDim><cx:lvl><cx:pt>1"
      "</cx:pt></cx:lvl></cx:numDim><cx:tx><cx:v>Sales</cx:v></cx:tx></cx:c>";
  EXPECT_THAT(TextsOf("a.pptx", Packed({{"[Content_Types].xml", types},
                                        {"ppt/presentation.xml", "<p:presentation/>"},
                                        {"ppt/drawings/drawing1.xml",
                                         "<c:s><a:p><a:r><a:t>Words</a:t></a:r></a:p></c:s>"},
                                        {"ppt/charts/chartEx1.xml", chart}})),
              ElementsAre("Words", "North", "Sales"));
}

TEST(Docx, ChartsAreTranslated) {
  EXPECT_THAT(TextsOf("a.docx", Docx("", {{"word/charts/chart1.xml",
                                           "<c:c><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:c>"}})),
              ElementsAre("Sales"));
}

TEST(Docx, ATabWithinTextDividesIt) {
  EXPECT_THAT(TextsOf("a.docx", Docx("<w:p><w:r><w:t>Name\tPrice</w:t></w:r></w:p>")),
              ElementsAre("Name<br id=0/>Price"));
}

// A random part of a paragraph of DrawingML.
std::string RandomSlideItem(std::mt19937& random) {
  switch (random() % 7) {
    case 0:
      return "<a:br><a:rPr b=\"1\"/></a:br>";
    case 1:
      return "<a:fld id=\"{1}\" type=\"slidenum\"><a:rPr/><a:t>1</a:t></a:fld>";
    case 2:
      return "<a:r xmlns:n=\"urn:n\"><a:rPr b=\"1\"><n:glow/></a:rPr><a:t>bold  words</a:t></a:r>";
    case 3:
      return "<a:r><a:rPr><a:hlinkClick r:id=\"r1\"/></a:rPr><a:t>a &lt;link&gt;\tx</a:t></a:r>";
    case 4:
      return "<n:AlternateContent xmlns:n=\"urn:n\"><n:Choice/></n:AlternateContent>";
    default:
      return "<a:r><a:t>The house is red. </a:t></a:r>";
  }
}

TEST(Pptx, OfAnyShapeIsValidAfterAnyTranslation) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string body = "<a:p>";
    if (random() % 2 == 0) body += "<a:pPr/>";
    for (size_t i = random() % 8; i > 0; --i) body += RandomSlideItem(random);
    if (random() % 2 == 0) body += "<a:endParaRPr/>";
    body += "</a:p>";
    ASSERT_TRUE(HasValidNames(Slide(body))) << body;
    const Translator translate = [&](const std::string& text) {
      const size_t cut = random() % (text.size() + 1);
      return random() % 2 == 0 ? text : text.substr(cut) + text.substr(0, cut);
    };
    const std::string after =
        EntryOf(Translated("a.pptx", Pptx(body), translate), "ppt/slides/slide1.xml");
    ASSERT_TRUE(HasValidNames(after)) << body << "\n" << after;
    const auto count = [](const std::string& text, const std::string& part) {
      size_t found = 0;
      for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
      return found;
    };
    for (const char* part : {"<a:br", "<a:fld", "AlternateContent ", "<a:pPr", "<a:endParaRPr"})
      ASSERT_EQ(count(after, part), count(body, part)) << part << "\n" << body << "\n" << after;
    // The order that the schema demands.
    ASSERT_TRUE(after.find("<a:pPr") == after.npos || after.find("<a:p><a:pPr") != after.npos);
    ASSERT_TRUE(after.find("<a:endParaRPr") == after.npos ||
                after.find("<a:endParaRPr/></a:p>") != after.npos)
        << after;
  }
}

// A random part of a paragraph of OpenDocument.
}  // namespace
}  // namespace millrace::server
