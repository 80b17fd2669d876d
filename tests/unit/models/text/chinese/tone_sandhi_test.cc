#include "models/text/chinese/tone_sandhi.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::models {
namespace {

// Returns the syllables of the words with the tones that they are spoken with.
std::string Spoken(std::vector<ChineseReading> words) {
  std::string text;
  for (const ChineseReading& word : words) text += word.word;
  size_t begin = 0;
  for (ChineseReading& word : words) {
    word.word = std::string_view(text).substr(begin, word.word.size());
    begin += word.word.size();
  }
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
  // Two third tones together are one group: 我很 | 喜欢.
  EXPECT_EQ(Spoken({{"我", {"wo3"}}, {"很", {"hen3"}}, {"喜欢", {"xi3", "huan5"}}}),
            "wo2 hen3 xi3 huan5");
  EXPECT_EQ(Spoken({{"可以", {"ke6", "yi3"}}, {"走", {"zou3"}}}), "ke2 yi2 zou3");
  EXPECT_EQ(Spoken({{"我", {"wo3"}}, {"可以", {"ke6", "yi3"}}}), "wo3 ke2 yi3");
  // The last of three is a word of its own: 这里 | 走.
  EXPECT_EQ(Spoken({{"这里", {"zhe4", "li3"}}, {"走", {"zou3"}}}), "zhe4 li3 zou3");
  EXPECT_EQ(Spoken({{"李小龙", {"li3", "xiao3", "long2"}, 1}}), "li2 xiao3 long2");
  // Two groups of four characters.
  EXPECT_EQ(Spoken({{"可以", {"ke2", "yi3"}}, {"选举", {"xuan3", "ju3"}}}), "ke2 yi3 xuan2 ju3");
}

TEST(ToneSandhiTest, TheFirstOfSeveralClassesKeepsItsTone) {
  EXPECT_EQ(Spoken({{"一", {"yi1"}}, {"班", {"ban1"}}, {"的", {"de5"}}}), "yi1 ban1 de5");
  EXPECT_EQ(Spoken({{"在", {"zai4"}}, {"一", {"yi1"}}, {"中", {"zhong1"}}}), "zai4 yi1 zhong1");
  EXPECT_EQ(Spoken({{"一", {"yi1"}}, {"班", {"ban1"}}, {"人", {"ren2"}}}), "yi4 ban1 ren2");
  EXPECT_EQ(Spoken({{"坐", {"zuo4"}}, {"一", {"yi1"}}, {"班", {"ban1"}}, {"车", {"che1"}}}),
            "zuo4 yi4 ban1 che1");
  EXPECT_EQ(Spoken({{"一线", {"yi1", "xian4"}}, {"城市", {"cheng2", "shi4"}}}),
            "yi1 xian4 cheng2 shi4");
}

TEST(ToneSandhiTest, TheMeasureWordAloneHasNoTone) {
  EXPECT_EQ(Spoken({{"有", {"you3"}}, {"个", {"ge4"}}, {"人", {"ren2"}}}), "you3 ge5 ren2");
}

TEST(ToneSandhiTest, WhatWasDoneBeforeHasNoTone) {
  EXPECT_EQ(Spoken({{"参加", {"can1", "jia1"}}, {"过", {"guo4"}}}), "can1 jia1 guo5");
  EXPECT_EQ(Spoken({{"想", {"xiang3"}}, {"过", {"guo4"}}, {"年", {"nian2"}}}), "xiang3 guo4 nian2");
  EXPECT_EQ(Spoken({{"他", {"ta1"}}, {"过", {"guo4"}}, {"桥", {"qiao2"}}}), "ta1 guo4 qiao2");
  EXPECT_EQ(Spoken({{"过", {"guo4"}}}), "guo4");
}

TEST(ToneSandhiTest, NotBeforeAFourthToneIsTheSecond) {
  EXPECT_EQ(Spoken({{"好久不见", {"hao3", "jiu3", "bu5", "jian4"}}}), "hao2 jiu3 bu2 jian4");
  EXPECT_EQ(Spoken({{"看不见", {"kan4", "bu2", "jian4"}}}), "kan4 bu5 jian4");
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
  EXPECT_EQ(Spoken({{"一点", {"yi4", "dian3"}}, {"七", {"qi1"}}}), "yi1 dian3 qi1");
  EXPECT_EQ(Spoken({{"一点", {"yi4", "dian3"}}, {"三十", {"san1", "shi2"}}}),
            "yi4 dian3 san1 shi2");
  EXPECT_EQ(Spoken({{"一月", {"yi2", "yue4"}}, {"一日", {"yi2", "ri4"}}}), "yi1 yue4 yi1 ri4");
  EXPECT_EQ(Spoken({{"一", {"yi1"}}, {"比", {"bi3"}}, {"二", {"er4"}}}), "yi1 bi3 er4");
  EXPECT_EQ(Spoken({{"一", {"yi1"}}, {"等于", {"deng3", "yu2"}}}), "yi1 deng3 yu2");
  EXPECT_EQ(Spoken({{"一年级", {"yi4", "nian2", "ji2"}}}), "yi1 nian2 ji2");
  EXPECT_EQ(Spoken({{"统一", {"tong3", "yi1"}}, {"考试", {"kao3", "shi4"}}}),
            "tong3 yi1 kao3 shi4");
}

TEST(ToneSandhiTest, WordsThatAreSpokenAsOneAreJoined) {
  const std::string text = "不去听一听慢慢花儿";
  const auto word = [&](size_t from, size_t characters) {
    return std::string_view(text).substr(from * kChineseCharacterBytes,
                                         characters * kChineseCharacterBytes);
  };
  std::vector<ChineseReading> words = {
      {word(0, 1), {"bu4"}},  {word(1, 1), {"qu4"}},   {word(2, 1), {"ting1"}},
      {word(3, 1), {"yi1"}},  {word(4, 1), {"ting1"}}, {word(5, 1), {"man4"}},
      {word(6, 1), {"man4"}}, {word(7, 1), {"hua1"}},  {word(8, 1), {"er5"}}};
  ChangeTones(words);
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0].word, "不去");
  EXPECT_EQ(words[0].syllables[0], "bu2");
  EXPECT_EQ(words[1].word, "听一听");
  EXPECT_EQ(words[1].syllables[1], "yi5");
  EXPECT_EQ(words[2].word, "慢慢");
  EXPECT_EQ(words[3].word, "花儿");
}

TEST(ToneSandhiTest, CharactersWithoutAReadingDivideWords) {
  EXPECT_EQ(Spoken({{"很", {"hen3"}}, {"龘", {}}, {"好", {"hao3"}}}), "hen3 hao3");
  EXPECT_EQ(Spoken({}), "");
}

}  // namespace
}  // namespace millrace::models
