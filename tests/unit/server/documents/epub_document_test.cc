#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/core/strings.h"
#include "tests/unit/server/documents/translated.h"
#include "tests/unit/server/documents/zip_file.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kContainer =
    "<container><rootfiles><rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>";

std::string Chapter(const std::string& body) {
  return StrCat("<?xml version=\"1.0\"?>\n<!DOCTYPE html>\n",
                "<html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/></head><body>", body,
                "</body></html>");
}
std::string Book(const std::string& chapter, const std::string& items = "",
                 const ZipEntries& others = {}) {
  ZipEntries entries = {
      {"mimetype", "application/epub+zip"},
      {"META-INF/container.xml", kContainer},
      {"OEBPS/book.opf", StrCat("<package><manifest><item href=\"text/chapter%201.xhtml\" "
                                "media-type=\"application/xhtml+xml\"/><item href=\"toc.ncx\" "
                                "media-type=\"application/x-dtbncx+xml\"/><item href=\"a.css\" "
                                "media-type=\"text/css\"/>",
                                items, "</manifest></package>")},
      {"OEBPS/text/chapter 1.xhtml", chapter},
      {"OEBPS/toc.ncx", "<ncx><navLabel><text>One</text></navLabel></ncx>"},
      {"OEBPS/a.css", "p {}"}};
  entries.insert(entries.end(), others.begin(), others.end());
  return Packed(entries);
}

TEST(Epub, ChaptersAndContentsAreTranslated) {
  const std::string chapter = Chapter("<p>House</p>");
  const std::string book = Book(chapter);
  EXPECT_THAT(TextsOf("a.epub", book),
              ElementsAre(chapter, "<ncx><navLabel><text>One</text></navLabel></ncx>"));
  const std::string after = Translated("a.epub", book, Saying("House", "Casa"));
  EXPECT_EQ(EntryOf(after, "OEBPS/text/chapter 1.xhtml"), Chapter("<p>Casa</p>"));
  EXPECT_EQ(EntryOf(after, "OEBPS/a.css"), "p {}");
}

TEST(Epub, SectionsOfCDataAreText) {
  const std::string style = "<style>/*<![CDATA[*/ p > a {} /*]]>*/</style>";
  const std::string book = Book(Chapter(style + "<p><![CDATA[A < b]]> &amp; c</p>"));
  EXPECT_EQ(
      EntryOf(Translated("a.epub", book, Saying("A &lt;", "E &lt;")), "OEBPS/text/chapter 1.xhtml"),
      Chapter(style + "<p>E &lt; b &amp; c</p>"));
  const std::string open = Chapter("<p>a</p><!-- <![CDATA[ -->");
  EXPECT_EQ(
      EntryOf(Translated("a.epub", Book(open), Saying(">a<", ">e<")), "OEBPS/text/chapter 1.xhtml"),
      Chapter("<p>e</p><!-- <![CDATA[ -->"));
}

TEST(Epub, ItsFirstEntryStaysStored) {
  const std::string after =
      Translated("a.epub", Book(Chapter("<p>House</p>")), Saying("House", "Casa"));
  EXPECT_EQ(after.substr(30, 8), "mimetype");
  EXPECT_EQ(Unpacked(after, ZIP_FL_COMPRESSED)[0].second, "application/epub+zip");
}

TEST(Epub, ATranslationThatIsNoXmlIsNotSent) {
  EXPECT_THAT(Translated("a.epub", Book(Chapter("<p>a</p>")), Saying("</p>", "")),
              HasSubstr("chapter 1.xhtml is not valid XML"));
}

TEST(Epub, AddressesStayInTheArchive) {
  const std::string items =
      "<item href=\"../../../etc/passwd\" media-type=\"application/xhtml+xml\"/>"
      "<item href=\"text/../text/chapter%201.xhtml#a\" media-type=\"application/xhtml+xml\"/>"
      "<item href=\"%zz%\" media-type=\"application/xhtml+xml\"/>";
  EXPECT_EQ(TextsOf("a.epub", Book(Chapter("<p>House</p>"), items)).size(), 2U);
}

TEST(Epub, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(Translated("a.epub", "text", Same), HasSubstr("file: is not a zip archive"));
  EXPECT_THAT(Translated("a.epub", Packed({{"mimetype", ""}}), Same),
              HasSubstr("file: has no META-INF/container.xml"));
  EXPECT_THAT(Translated("a.epub", Packed({{"a", ""}, {"META-INF/container.xml", "<a/>"}}), Same),
              HasSubstr("names no package document"));
  EXPECT_THAT(Translated("a.epub", Book("<p>\xFF</p>"), Same), HasSubstr("is not valid UTF-8"));
  EXPECT_THAT(
      Translated("a.epub", Book("\xFF", "", {{"META-INF/encryption.xml", "<CipherReference/>"}}),
                 Same),
      HasSubstr("file: is encrypted"));
  EXPECT_THAT(Translated("a.epub", Book(std::string(2000, 'a')), Same, {.xml_bytes = 1000}),
              HasSubstr("unpacks to more than"));
}

}  // namespace
}  // namespace millrace::server
