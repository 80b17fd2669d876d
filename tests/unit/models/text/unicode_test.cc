#include "models/text/unicode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::models {
namespace {

std::vector<char32_t> Decoded(std::string_view text) {
  std::vector<char32_t> values;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = DecodeAt(text, at);
    values.push_back(c.value);
    at += c.bytes;
  }
  return values;
}

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

TEST(CountCodePointsTest, CountsCodePoints) {
  EXPECT_EQ(CountCodePoints(""), 0U);
  EXPECT_EQ(CountCodePoints("abc"), 3U);
  EXPECT_EQ(CountCodePoints("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 3U);
}

TEST(DecodeAtTest, ReadsCodePointsOfEveryLength) {
  EXPECT_THAT(Decoded("a\u00e9\u20ac\U0001F600"),
              testing::ElementsAre(U'a', 0xE9, 0x20AC, 0x1F600));
  EXPECT_EQ(DecodeAt("a", 1).bytes, 0u);
}

TEST(DecodeAtTest, EveryByteThatIsNotUtf8IsAReplacementCharacter) {
  for (const std::string_view text : {
           std::string_view("\x80", 1),              // a continuation byte alone
           std::string_view("\xC3", 1),              // a text that ends too early
           std::string_view("\xC0\x80", 2),          // overlong forms
           std::string_view("\xE0\x80\x80", 3),      //
           std::string_view("\xED\xA0\x80", 3),      // a surrogate
           std::string_view("\xF4\x90\x80\x80", 4),  // beyond U+10FFFF
           std::string_view("\xFF", 1),
       }) {
    EXPECT_THAT(Decoded(text), testing::AllOf(testing::SizeIs(text.size()), testing::Each(0xFFFD)))
        << testing::PrintToString(text);
  }
}

TEST(DecodeBeforeTest, FindsNothingBeforeTheBeginning) {
  for (const char* text : {"", "word"}) EXPECT_EQ(DecodeBefore(text, 0).bytes, 0U) << text;
  EXPECT_EQ(DecodeBefore("word", 0).value, U'\0');
}

TEST(DecodeBeforeTest, FindsWhatDecodeAtReads) {
  const std::string text = "a\u00e9\u20ac\U0001F600\x80";
  std::vector<char32_t> backwards;
  for (size_t at = text.size(); at > 0;) {
    const CodePoint c = DecodeBefore(text, at);
    backwards.insert(backwards.begin(), c.value);
    at -= c.bytes;
  }
  EXPECT_EQ(backwards, Decoded(text));
}

TEST(EncodeUtf8Test, IsReadAgain) {
  for (const char32_t c :
       {0x0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFDu, 0x10000u, 0x10FFFFu}) {
    const std::string text = EncodeUtf8(c);
    EXPECT_EQ(DecodeAt(text, 0).value, c);
    EXPECT_EQ(DecodeAt(text, 0).bytes, text.size());
  }
}

TEST(LetterCaseTest, CoversScriptsThatHaveIt) {
  const std::vector<std::pair<char32_t, char32_t>> pairs = {
      {U'a', U'A'}, {U'é', U'É'}, {U'ÿ', U'Ÿ'}, {U'ł', U'Ł'}, {U'ž', U'Ž'},
      {U'ș', U'Ș'}, {U'ά', U'Ά'}, {U'ω', U'Ω'}, {U'я', U'Я'}, {U'ђ', U'Ђ'},
      {U'ґ', U'Ґ'}, {U'ա', U'Ա'}, {U'ế', U'Ế'}};
  for (const auto& [lower, upper] : pairs) {
    EXPECT_TRUE(IsLower(lower) && !IsUpper(lower)) << EncodeUtf8(lower);
    EXPECT_TRUE(IsUpper(upper) && !IsLower(upper)) << EncodeUtf8(upper);
    EXPECT_EQ(ToUpper(lower), upper) << EncodeUtf8(lower);
    EXPECT_EQ(ToLower(upper), lower) << EncodeUtf8(upper);
  }
}

TEST(LetterCaseTest, WhatHasNoneStays) {
  for (const char32_t c : {U'7', U'ß', U'-', U'日', U'\u0301'}) {
    EXPECT_EQ(ToUpper(c), c);
    EXPECT_EQ(ToLower(c), c);
  }
}

TEST(IsWordCharacterTest, TellsLettersFromPunctuationOfTheirScript) {
  for (const char32_t c : {U'a', U'7', U'é', U'ß', U'я', U'ω', U'ش', U'क', U'\u0301', U'한'})
    EXPECT_TRUE(IsWordCharacter(c)) << EncodeUtf8(c);
  for (const char32_t c : {U' ', U'-', U'×', U'·', U'؟', U'।', U'։', U'…', U'€', U'日', U'の'})
    EXPECT_FALSE(IsWordCharacter(c)) << EncodeUtf8(c);
}

TEST(IsSpaceTest, IsUnicodesWhiteSpace) {
  for (const char32_t c : {U' ', U'\t', U'\n', U'\v', U'\f', U'\r', U'\u0085', U'\u00A0', U'\u1680',
                           U'\u2003', U'\u2028', U'\u202F', U'\u3000'})
    EXPECT_TRUE(IsSpace(c)) << static_cast<uint32_t>(c);
  for (const char32_t c : {U'a', U'\0', U'\u200B', U'\u2060', U'\uFEFF'})
    EXPECT_FALSE(IsSpace(c)) << static_cast<uint32_t>(c);
}

}  // namespace
}  // namespace millrace::models
