#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/core/strings.h"
#include "tests/unit/server/documents/office_files.h"
#include "tests/unit/server/documents/translated.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Docx, TheWordsOfALinkThatIsAFieldAreTranslated) {
  const std::string body =
      StrCat("<w:p><w:r><w:t>See </w:t></w:r>",
             Field("HYPERLINK \"http://a.b\"", "<w:r><w:t>our site</w:t></w:r>"), "</w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("See <g0>our site</g0>"));
  EXPECT_EQ(WordAfter(body, "Veja <g0>nosso site</g0>"),
            StrCat("<w:p><w:r><w:t xml:space=\"preserve\">Veja </w:t></w:r>",
                   Field("HYPERLINK \"http://a.b\"",
                         "<w:r><w:t xml:space=\"preserve\">nosso site</w:t></w:r>"),
                   "</w:p>"));
}

TEST(Docx, TheWordsOfAFieldThatRefersToWordsAreTranslated) {
  for (const char* code : {"REF _Ref1 \\h", "IF 1 = 1 \"our site\" \"\"", "STYLEREF \"Heading 1\"",
                           "TITLE", "DOCPROPERTY Subject \\* MERGEFORMAT"}) {
    const std::string body = StrCat("<w:p><w:r><w:t>See </w:t></w:r>",
                                    Field(code, "<w:r><w:t>our site</w:t></w:r>"), "</w:p>");
    EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("See <g0>our site</g0>")) << code;
  }
}

TEST(Docx, TheBaseOfRubyTextIsTranslated) {
  const auto ruby = [](const std::string& base) {
    return StrCat(
        "<w:r><w:ruby><w:rubyPr><w:hps "
        "w:val=\"8\"/></w:rubyPr><w:rt><w:r><w:t>reading</w:t></w:r></w:rt><w:rubyBase><w:r>",
        base, "</w:r></w:rubyBase></w:ruby></w:r>");
  };
  const std::string body =
      StrCat("<w:p><w:r><w:t>The </w:t></w:r>", ruby("<w:t>house</w:t>"), "</w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("The <g0>house</g0>"));
  EXPECT_EQ(WordAfter(body, "A <g0>casa</g0>"),
            StrCat("<w:p><w:r><w:t xml:space=\"preserve\">A </w:t></w:r>",
                   ruby("<w:t xml:space=\"preserve\">casa</w:t>"), "</w:p>"));
}

TEST(Docx, AContentControlWithinALineIsTranslated) {
  const auto control = [](const std::string& kind, const std::string& words) {
    return StrCat("<w:sdt><w:sdtPr><w:alias w:val=\"Name\"/>", kind, "</w:sdtPr><w:sdtContent>",
                  words, "</w:sdtContent></w:sdt>");
  };
  const std::string friend_run = "<w:r><w:t xml:space=\"preserve\">friend</w:t></w:r>";
  const std::string body = StrCat("<w:p><w:r><w:t xml:space=\"preserve\">Dear </w:t></w:r>",
                                  control("<w:text/>", friend_run), "</w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("Dear <g0>friend</g0>"));
  EXPECT_EQ(
      WordAfter(body, "<g0>Amigo</g0> querido"),
      StrCat("<w:p>", control("<w:text/>", "<w:r><w:t xml:space=\"preserve\">Amigo</w:t></w:r>"),
             "<w:r><w:t xml:space=\"preserve\"> querido</w:t></w:r></w:p>"));
  for (const char* kind : {"<w:dropDownList/>", "<w:date/>", "<w14:checkbox xmlns:w14=\"u\"/>"}) {
    const std::string kept = StrCat("<w:p>", control(kind, friend_run), friend_run, "</w:p>");
    EXPECT_THAT(TextsOf("a.docx", Docx(kept)), ElementsAre("<x0/>friend")) << kind;
  }
}

TEST(Docx, AFieldThatShowsTextIsAWordOfItsSentence) {
  const std::string name = Field("MERGEFIELD Name", "<w:r><w:t>Ann</w:t></w:r>");
  const std::string simple = "<w:fldSimple w:instr=\"PAGE\"><w:r><w:t>3</w:t></w:r></w:fldSimple>";
  const auto run = [](const std::string& text) {
    return StrCat("<w:r><w:t xml:space=\"preserve\">", text, "</w:t></w:r>");
  };
  const std::string body =
      StrCat("<w:p>", run("Dear "), name, run(", see page "), simple, run("."), "</w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)),
              ElementsAre("Dear <var id=0>x</var>, see page <var id=1>x</var>."));
  EXPECT_EQ(WordAfter(body, "Veja <var id=1>x</var>, <var id=0>x</var>."),
            StrCat("<w:p>", run("Veja "), simple, run(", "), name, run("."), "</w:p>"));
  // A field that touches a word is part of it.
  EXPECT_THAT(TextsOf("a.docx", Docx(StrCat("<w:p>", run("Part"), simple, "</w:p>"))),
              ElementsAre("Part<x0/>"));
}

TEST(Docx, FieldsThatNestDeeplyStay) {
  const std::string begin =
      "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>TOC</w:instrText></w:r>"
      "<w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>";
  const std::string end = "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>";
  std::string body = "<w:r><w:t>Words</w:t></w:r>";
  std::string before;
  std::string behind;
  for (int depth = 0; depth < 15'000; ++depth) {
    before += begin;
    behind += end;
  }
  body = StrCat("<w:p><w:r><w:t>Out</w:t></w:r>", before, body, behind, "</w:p>");
  auto document = OpenDocument("a.docx", Docx(body), {.ratio = 10'000});
  ASSERT_TRUE(document.ok()) << document.status();
  const std::string text = (*document)->texts()[0];
  EXPECT_THAT(text, HasSubstr("Out<g0><g1>"));
  const std::string after = EntryOf(*(*document)->Render({text}), "word/document.xml");
  EXPECT_THAT(after, HasSubstr(before));
  EXPECT_THAT(after, HasSubstr(behind));
}

TEST(Docx, ATableOfContentsIsTranslated) {
  const std::string page = Field("PAGEREF _1", "<w:r><w:t>3</w:t></w:r>");
  const std::string body = StrCat(
      "<w:p><w:r><w:fldChar "
      "w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>TOC</w:instrText></w:r>",
      "<w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>",
      "<w:hyperlink><w:r><w:t>The house</w:t></w:r><w:r><w:tab/></w:r>", page,
      "</w:hyperlink></w:p>", "<w:p><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("<x0/><g1>The house<br id=2/><x3/></g1>"));
}

TEST(Docx, AFieldThatGoesOnInTheNextParagraphStays) {
  const std::string body =
      "<w:p><w:r><w:t>A</w:t></w:r><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>"
      "<w:r><w:t>B</w:t></w:r></w:p><w:p><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>";
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("A<x0/>"));
  EXPECT_THAT(WordAfter(body, "X<x0/>"), HasSubstr("<w:r><w:t>B</w:t></w:r></w:p><w:p>"));
}

}  // namespace
}  // namespace millrace::server
