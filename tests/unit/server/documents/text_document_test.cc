#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/documents/document.h"
#include "tests/unit/server/documents/translated.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TextDocument, IsOneTextWithoutItsByteOrderMark) {
  const std::string file = "\xEF\xBB\xBFOne.\r\n\r\nTwo.\r\n";
  EXPECT_THAT(TextsOf("a.txt", file), ElementsAre("One.\r\n\r\nTwo.\r\n"));
  EXPECT_EQ(Translated("a.TXT", file, Saying("One", "Um")), "\xEF\xBB\xBFUm.\r\n\r\nTwo.\r\n");
}

TEST(TextDocument, HtmlIsTranslatedAsHtml) {
  auto document = OpenDocument("a.html", "<p>One.</p>", {});
  ASSERT_TRUE(document.ok());
  EXPECT_EQ((*document)->format(), models::TextFormat::kHtml);
  EXPECT_EQ((*OpenDocument("a.md", "# One.", {}))->format(), models::TextFormat::kMarkdown);
  EXPECT_EQ(Translated("a.md", "\xEF\xBB\xBF# One.\n", Saying("One", "Um")), "\xEF\xBB\xBF# Um.\n");
  EXPECT_EQ((*OpenDocument("a.txt", "x", {}))->format(), models::TextFormat::kText);
}

TEST(TextDocument, AnEmptyFileHasNoTexts) {
  EXPECT_THAT(TextsOf("a.txt", ""), IsEmpty());
  EXPECT_EQ(Translated("a.txt", "\xEF\xBB\xBF", Same), "\xEF\xBB\xBF");
}

TEST(Document, ErrorsSayWhatIsAllowed) {
  EXPECT_THAT(Translated("a.pdf", "x", Same), AllOf(HasSubstr("file: "), HasSubstr("'a.pdf'"),
                                                    HasSubstr(".txt, .html, .md, .srt")));
  EXPECT_THAT(Translated("", "x", Same), HasSubstr("file: the name ''"));
  EXPECT_THAT(Translated("a.txt", "\xFF", Same), HasSubstr("file: is not valid UTF-8"));
  EXPECT_THAT(Translated("a.txt", std::string("a\0b", 3), Same), HasSubstr("NUL"));
  EXPECT_EQ(Translated("a.txt", "12345", Same, {.file_bytes = 4}),
            "file: has 5 bytes; at most 4 are allowed");
  EXPECT_EQ(Translated("a.txt", "12é45", Same, {.characters = 4}),
            "file: has 5 characters of text and markup; at most 4 are allowed");
  EXPECT_EQ(Translated("a.txt", "12é45", Same, {.characters = 5}), "12é45");
  EXPECT_EQ(Translated("a.srt", "1\n0 --> 1\nA.\n\n2\n0 --> 1\nB.\n", Same, {.texts = 1}),
            "file: has 2 paragraphs, cues or values; at most 1 are allowed");
}

}  // namespace
}  // namespace millrace::server
