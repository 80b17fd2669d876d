#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "models/core/strings.h"
#include "tests/unit/server/documents/office_files.h"

namespace millrace::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OpenDocumentItems, RangesStayAroundTheirWords) {
  const std::pair<std::string, std::string> marks[] = {
      {"<text:bookmark-start text:name=\"a\"/>", "<text:bookmark-end text:name=\"a\"/>"},
      {"<text:reference-mark-start text:name=\"a\"/>",
       "<text:reference-mark-end text:name=\"a\"/>"},
      {"<text:toc-mark-start text:id=\"a\"/>", "<text:toc-mark-end text:id=\"a\"/>"},
      {"<text:change-start text:change-id=\"a\"/>", "<text:change-end text:change-id=\"a\"/>"},
      {"<office:annotation office:name=\"a\"/>", "<office:annotation-end office:name=\"a\"/>"}};
  for (const auto& [begin, end] : marks) {
    const std::string body = StrCat("<text:p>The ", begin, "red", end, " house</text:p>");
    EXPECT_THAT(TextsOf("a.odt", Odt(body)), Contains("The <g0>red</g0> house"));
    EXPECT_EQ(OdtAfter(body, "A casa <g0>vermelha</g0>"),
              StrCat("<text:p>A casa ", begin, "vermelha", end, "</text:p>"));
    EXPECT_EQ(OdtAfter(body, "A casa"), StrCat("<text:p>A casa", begin, end, "</text:p>"));
  }
}

TEST(OpenDocumentItems, TheBaseOfRubyTextIsTranslated) {
  const std::string body =
      "<text:p>The <text:ruby><text:ruby-base>red</text:ruby-base><text:ruby-text>aka"
      "</text:ruby-text></text:ruby> house</text:p>";
  EXPECT_THAT(TextsOf("a.odt", Odt(body)), Contains("The <g0>red</g0> house"));
  EXPECT_EQ(OdtAfter(body, "A casa <g0>vermelha</g0>"),
            "<text:p>A casa <text:ruby><text:ruby-base>vermelha</text:ruby-base><text:ruby-text>"
            "aka</text:ruby-text></text:ruby></text:p>");
}

TEST(OpenDocumentItems, AContentControlIsTranslated) {
  EXPECT_THAT(TextsOf("a.odt", Odt("<text:p>Dear <loext:content-control>friend"
                                   "</loext:content-control></text:p>")),
              Contains("Dear <g0>friend</g0>"));
}

std::string WithStyles(const std::string& body) {
  const auto style = [](const std::string& name, const std::string& looks) {
    return StrCat("<style:style style:name=\"", name, "\" style:family=\"text\">",
                  "<style:text-properties ", looks, "/></style:style>");
  };
  return StrCat("<office:automatic-styles>", style("T1", "officeooo:rsid=\"1\""),
                style("T2", "fo:font-weight=\"bold\" officeooo:rsid=\"1\""),
                style("T3", "fo:language=\"en\" fo:font-weight=\"bold\""),
                "</office:automatic-styles>", body);
}

TEST(OpenDocumentItems, SpansThatDifferOnlyByTheSessionOfAnEditorAreOne) {
  const auto span = [](const std::string& style, const std::string& text) {
    return StrCat("<text:span text:style-name=\"", style, "\">", text, "</text:span>");
  };
  const std::string body = WithStyles(StrCat("<text:p>The h", span("T1", "ou"), "se is ",
                                             span("T2", "re"), span("T3", "d"), ".</text:p>"));
  EXPECT_THAT(TextsOf("a.odt", Odt(body)), Contains("The house is <g0>red</g0>."));
  EXPECT_THAT(EntryOf(Translated("a.odt", Odt(body), Saying("The house", "A casa")), "content.xml"),
              HasSubstr(StrCat("<text:p>A casa is ", span("T2", "red"), ".</text:p>")));
}

TEST(Odt, OfEncryptedDocumentsItIsSaid) {
  EXPECT_THAT(TextsOf("a.odt", Packed({{"content.xml", "\xFF\x01"},
                                       {"META-INF/manifest.xml", "<m:encryption-data/>"}})),
              ElementsAre("file: is encrypted; remove its password or protection first"));
}

TEST(Odp, FootersOfSlidesAreTranslated) {
  EXPECT_THAT(TextsOf("a.odp", Packed({{"content.xml", Content("<presentation:footer-decl>Red house"
                                                               "</presentation:footer-decl>")}})),
              ElementsAre("Red house"));
}

}  // namespace
}  // namespace millrace::server
