#include "models/text/inline_pronunciation.h"

#include <gtest/gtest.h>

#include "fakes/linear_time.h"

namespace millrace::models {
namespace {

const std::vector<std::string> kSymbols = {"k", "ˈ", "O", "ə", "ɹ", " "};

std::string Divided(std::string_view text) {
  const auto segments = SplitInlinePronunciations(text, PhonemeVocabulary(kSymbols));
  if (!segments.ok()) return std::string(segments.status().message());
  std::string divided;
  for (const TextSegment& segment : *segments) {
    EXPECT_EQ(text.substr(segment.begin, segment.text.size()), segment.text);
    divided += "<" + std::string(segment.text);
    if (!segment.phonemes.empty()) divided += "=" + std::string(segment.phonemes);
    divided += ">";
  }
  return divided;
}

TEST(InlinePronunciationTest, DividesPlainTextAndPronunciations) {
  EXPECT_EQ(Divided("Say [Kokoro](/kˈOkəɹO/), please."), "<Say ><Kokoro=kˈOkəɹO><, please.>");
  EXPECT_EQ(Divided("[a](/k/)[b](/ə/)"), "<a=k><b=ə>");
  EXPECT_EQ(Divided("plain"), "<plain>");
  EXPECT_EQ(Divided(""), "");
}

TEST(InlinePronunciationTest, OtherBracketsArePlain) {
  for (const char* text :
       {"[a]", "[a", "a]", "[a](b)", "[a](http://b/)", "](", "[]()", "a (/b/) c"}) {
    EXPECT_EQ(Divided(text), "<" + std::string(text) + ">");
  }
  EXPECT_EQ(Divided("[see [this](/k/)]"), "<[see ><this=k><]>");
}

TEST(InlinePronunciationTest, WhatDoesNotEndIsRefusedWithItsPlace) {
  EXPECT_EQ(Divided("ab [c](/k"),
            "text: the pronunciation [...](/.../) at byte 3 does not end with /) within 512 bytes");
  EXPECT_EQ(Divided("ab c](/k/)"),
            "text: the pronunciation [...](/.../) at byte 4 has no [ before it");
  EXPECT_EQ(Divided("[](/k/)"), "text: the pronunciation [...](/.../) at byte 0 has no text");
  EXPECT_EQ(Divided("[x](/ /)"), "text: the pronunciation [...](/.../) at byte 0 has no phonemes");
  EXPECT_EQ(Divided("[a](/k/) b](/k/)"),
            "text: the pronunciation [...](/.../) at byte 10 has no [ before it");
}

TEST(InlinePronunciationTest, UnknownSymbolsAreNamed) {
  EXPECT_EQ(Divided("é [x](/kʘ/)"),
            "text: the pronunciation [...](/.../) at byte 3 has the symbol 'ʘ', which the voice "
            "does not know");
}

TEST(InlinePronunciationTest, DeepBracketsTakeLinearTime) {
  for (const std::string piece : {"[", "]", "[](", "](", "[a](/k/)", "[a](", "[[a](/k/)]"}) {
    ExpectLinearTime(piece, 200'000, [](const std::string& text) { Divided(text); });
  }
}

}  // namespace
}  // namespace millrace::models
