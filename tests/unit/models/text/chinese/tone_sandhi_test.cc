#include "models/text/chinese/tone_sandhi.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace millrace::models {
namespace {

// Returns the syllables of the words with the tones that they are spoken with.
std::string Spoken(std::vector<ChineseReading> words) {
  ChangeTones(words);
  std::string spoken;
  for (const ChineseReading& word : words) {
    for (const std::string& syllable : word.syllables) {
      if (!spoken.empty()) spoken += ' ';
      spoken += syllable;
    }
  }
  return spoken;
}

TEST(ToneSandhiTest, AThirdToneBeforeAnotherIsTheSecond) {
  EXPECT_EQ(Spoken({{"很", {"hen3"}}, {"好", {"hao3"}}}), "hen2 hao3");
  EXPECT_EQ(Spoken({{"我", {"wo3"}}, {"很", {"hen3"}}, {"好", {"hao3"}}}), "wo3 hen2 hao3");
  EXPECT_EQ(Spoken({{"好久", {"hao3", "jiu3"}}}), "hao2 jiu3");
  EXPECT_EQ(Spoken({{"很", {"hen3"}}, {"高", {"gao1"}}}), "hen3 gao1");
  // Two groups of four characters.
  EXPECT_EQ(Spoken({{"可以", {"ke2", "yi3"}}, {"选举", {"xuan3", "ju3"}}}), "ke2 yi3 xuan2 ju3");
}

TEST(ToneSandhiTest, NotBeforeAFourthToneIsTheSecond) {
  EXPECT_EQ(Spoken({{"不", {"bu4"}}, {"去", {"qu4"}}}), "bu2 qu4");
  EXPECT_EQ(Spoken({{"不", {"bu4"}}, {"高兴", {"gao1", "xing4"}}}), "bu4 gao1 xing4");
}

TEST(ToneSandhiTest, OneHasTheToneThatTheNextSyllableAsksFor) {
  EXPECT_EQ(Spoken({{"一", {"yi1"}}, {"次", {"ci4"}}}), "yi2 ci4");
  EXPECT_EQ(Spoken({{"一", {"yi1"}}, {"本", {"ben3"}}, {"书", {"shu1"}}}), "yi4 ben3 shu1");
  EXPECT_EQ(Spoken({{"看一看", {"kan4", "yi1", "kan4"}}}), "kan4 yi5 kan4");
  EXPECT_EQ(Spoken({{"一去不回", {"yi1", "qu4", "bu4", "hui2"}}}), "yi2 qu4 bu4 hui2");
}

TEST(ToneSandhiTest, OneOfANumberInOrderKeepsItsTone) {
  EXPECT_EQ(Spoken({{"第", {"di4"}}, {"一天", {"yi4", "tian1"}}}), "di4 yi1 tian1");
  EXPECT_EQ(Spoken({{"十一点", {"shi2", "yi4", "dian3"}}}), "shi2 yi1 dian3");
  EXPECT_EQ(Spoken({{"一月", {"yi2", "yue4"}}, {"一号", {"yi2", "hao4"}}}), "yi1 yue4 yi1 hao4");
  EXPECT_EQ(Spoken({{"统一", {"tong3", "yi1"}}, {"考试", {"kao3", "shi4"}}}),
            "tong3 yi1 kao3 shi4");
}

TEST(ToneSandhiTest, CharactersWithoutAReadingDivideWords) {
  EXPECT_EQ(Spoken({{"很", {"hen3"}}, {"龘", {}}, {"好", {"hao3"}}}), "hen3 hao3");
  EXPECT_EQ(Spoken({}), "");
}

}  // namespace
}  // namespace millrace::models
