#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/core/strings.h"
#include "tests/unit/server/documents/office_files.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;

// A run with text.
std::string Said(const std::string& text) {
  return StrCat("<w:r><w:t xml:space=\"preserve\">", text, "</w:t></w:r>");
}

struct Row {
  std::string body;
  std::vector<std::string> texts;
};

// A row is a body, and the texts that its paragraphs are read as.
TEST(WordItems, AreReadAsHtml) {
  const std::string mark = "<w:fldChar w:fldCharType=\"";
  const std::string page = StrCat(mark, "begin\"/><w:instrText>PAGE</w:instrText>", mark,
                                  "separate\"/><w:t>3</w:t>", mark, "end\"/>");
  const auto control = [](const std::string& inside) {
    return StrCat("<w:sdt><w:sdtContent>", inside, "</w:sdtContent></w:sdt>");
  };
  const Row rows[] = {
      {"<w:p>\n  <w:r>\n    <w:t>Red ho</w:t>\n  </w:r>\n  <w:r><w:t>use</w:t></w:r>\n</w:p>",
       {"Red house"}},
      {"<w:p><w:r><w:t>Draft</w:t><w:ptab/><w:t>Page</w:t><w:br w:type=\"page\"/><w:t>End</w:t>"
       "</w:r></w:p>",
       {"Draft<br id=0/>Page<br id=1/>End"}},
      {StrCat("<w:p><w:r><w:t xml:space=\"preserve\">Page </w:t>", page,
              "<w:t xml:space=\"preserve\"> of it</w:t></w:r></w:p>"),
       {"Page <var id=0>x</var> of it"}},
      {StrCat("<w:p>", Said("See "), control("<w:ins>" + Said("this") + "</w:ins>"),
              control("<w:hyperlink>" + Said(" page") + "</w:hyperlink>"), "</w:p>"),
       {"See <g0><g1>this</g1></g0><g2><g3> page</g3></g2>"}},
      {StrCat("<w:p>", Said("Page "), "<w:ins><w:r>", mark, "begin\"/></w:r></w:ins><w:r>", mark,
              "separate\"/></w:r>", Said("3"), "<w:ins><w:r>", mark, "end\"/></w:r></w:ins>",
              Said(" of it"), "</w:p>"),
       {"Page <var id=0>x</var> of it"}},
      {"<w:p><w:r><w:t>A</w:t><w:drawing><w:txbxContent><w:p><w:r>" + mark +
           "begin\"/></w:r></w:p></w:txbxContent></w:drawing></w:r></w:p>",
       {"A<x0/>"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(TextsOf("a.docx", Docx(row.body)), row.texts) << row.body;
    EXPECT_EQ(TextsOf("a.docx", Translated("a.docx", Docx(row.body), Same)), row.texts) << row.body;
  }
}

TEST(WordItems, RangesStayAroundTheirWords) {
  for (const std::string name : {"bookmark", "commentRange", "perm", "moveToRange"}) {
    const std::string begin = StrCat("<w:", name, "Start w:id=\"1\"/>");
    const std::string end = StrCat("<w:", name, "End w:id=\"1\"/>");
    const std::string body =
        StrCat("<w:p>", Said("The "), begin, Said("red"), end, Said(" house"), "</w:p>");
    EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("The <g0>red</g0> house"));
    EXPECT_EQ(WordAfter(body, "A casa <g0>vermelha</g0>"),
              StrCat("<w:p>", Said("A casa "), begin, Said("vermelha"), end, "</w:p>"));
    // One that a translation lost goes on existing.
    EXPECT_EQ(WordAfter(body, "A casa"), StrCat("<w:p>", Said("A casa"), begin, end, "</w:p>"));
  }
}

TEST(WordItems, ARangeWithoutTextStaysTogether) {
  const std::string range = "<w:bookmarkStart w:id=\"0\"/><w:bookmarkEnd w:id=\"0\"/>";
  const std::string body = StrCat("<w:p>", Said("The "), range, Said("house"), "</w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("The <x0/>house"));
  EXPECT_EQ(WordAfter(body, "<x0/>A casa"), StrCat("<w:p>", range, Said("A casa"), "</w:p>"));
}

TEST(WordItems, ARangeOfALineBreakDividesTheText) {
  const std::string range =
      "<w:bookmarkStart w:id=\"0\"/><w:r><w:br/></w:r><w:bookmarkEnd w:id=\"0\"/>";
  const std::string body = StrCat("<w:p>", Said("House"), range, Said("Car"), "</w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("House<br id=0/>Car"));
  EXPECT_EQ(WordAfter(body, "Casa<br id=0/>Carro"),
            StrCat("<w:p>", Said("Casa"), range, Said("Carro"), "</w:p>"));
}

TEST(WordItems, OfTwoRangesThatCrossTheFirstIsASpan) {
  const std::string body =
      StrCat("<w:p><w:bookmarkStart w:id=\"1\"/>", Said("The "), "<w:bookmarkStart w:id=\"2\"/>",
             Said("red"), "<w:bookmarkEnd w:id=\"1\"/>", Said(" house"),
             "<w:bookmarkEnd w:id=\"2\"/></w:p>");
  EXPECT_THAT(TextsOf("a.docx", Docx(body)), ElementsAre("<g0>The <x1/>red</g0> house<x2/>"));
}

}  // namespace
}  // namespace millrace::server
