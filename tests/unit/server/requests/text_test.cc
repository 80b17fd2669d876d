#include <gtest/gtest.h>

#include <string>

#include "server/requests/text_field.h"
#include "server/requests/utf8.h"

namespace millrace::server {
namespace {

TEST(IsValidUtf8Test, TakesEveryCodePointLength) {
  for (const char* text : {"", "plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xEF\xBF\xBD", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF"})
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  EXPECT_TRUE(IsValidUtf8(std::string("a\0b", 3)));
}

TEST(IsValidUtf8Test, RefusesWhatIsNot) {
  const std::string bad[] = {"\xFF",
                             "\x80",              // a continuation first
                             "\xC3",              // cut short
                             "\xE2\x82",          // cut short
                             "\xC0\xAF",          // over-long
                             "\xE0\x80\xAF",      // over-long
                             "\xED\xA0\x80",      // a surrogate
                             "\xF4\x90\x80\x80",  // over U+10FFFF
                             "\xF8\x88\x80\x80\x80",
                             "good\xC3(",
                             "\xC3\xA9\xA9"};
  for (const std::string& text : bad) {
    EXPECT_FALSE(IsValidUtf8(text)) << ::testing::PrintToString(text);
    EXPECT_FALSE(IsValidUtf8("before " + text + " after")) << ::testing::PrintToString(text);
  }
}

TEST(CountCharactersTest, CountsCodePoints) {
  EXPECT_EQ(CountCharacters(""), 0U);
  EXPECT_EQ(CountCharacters("abc"), 3U);
  EXPECT_EQ(CountCharacters("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 3U);
}

TEST(CheckTextTest, NamesTheField) {
  EXPECT_TRUE(CheckText("text", "Hello").ok());
  EXPECT_TRUE(CheckText("text", " ").ok());
  EXPECT_EQ(CheckText("texts[3]", ""), absl::InvalidArgumentError("texts[3]: is empty"));
  EXPECT_EQ(CheckText("text", std::string("ab\0c", 4)),
            absl::InvalidArgumentError("text: has a NUL at byte 2, which is not allowed"));
}

TEST(CheckTotalTest, AllowsTheLimitItself) {
  EXPECT_TRUE(CheckTotal("texts", 100, 100).ok());
  EXPECT_EQ(CheckTotal("texts", 101, 100),
            absl::InvalidArgumentError(
                "texts: has 101 characters; at most 100 are allowed in a request"));
}

}  // namespace
}  // namespace millrace::server
