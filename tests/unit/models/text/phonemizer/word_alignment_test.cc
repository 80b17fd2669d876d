#include "models/text/word_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/text/phoneme_words.h"
#include "models/text/written_words.h"

namespace millrace::models {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Written words with what is heard of each.
std::vector<std::pair<std::string, std::string>> Align(
    const std::vector<std::pair<std::string, std::string>>& words, const std::string& phonemes) {
  std::string sentence;
  std::vector<WordAlone> alone;
  for (const auto& [written, sound] : words) {
    if (!sentence.empty()) sentence += ' ';
    alone.push_back({sentence.size(), sentence.size() + written.size(), sound});
    sentence += written;
  }
  std::vector<std::pair<std::string, std::string>> aligned;
  for (const PhonemeWord& word : AlignWords(alone, phonemes)) {
    aligned.emplace_back(
        sentence.substr(word.begin, word.end - word.begin),
        phonemes.substr(word.phonemes_begin, word.phonemes_end - word.phonemes_begin));
  }
  return aligned;
}

TEST(WordAlignmentTest, WordsApartAreTakenAsTheyStand) {
  EXPECT_THAT(Align({{"Hello", "həlˈoʊ"}, {"world", "wˈɜːld"}}, "həlˈoʊ, wˈɜːld."),
              ElementsAre(Pair("Hello", "həlˈoʊ"), Pair("world", "wˈɜːld")));
}

// A count of spaces would be right here, and every word wrong.
TEST(WordAlignmentTest, OneWordMoreMakesUpForOneLess) {
  EXPECT_THAT(Align({{"of", "ʌv"}, {"the", "ðə"}, {"42", "fˈoːɹɾi tˈuː"}, {"men", "mˈɛn"}},
                    "ʌvðə fˈoːɹɾi tˈuː mˈɛn"),
              ElementsAre(Pair("of", "ʌv"), Pair("the", "ðə"), Pair("42", "fˈoːɹɾi tˈuː"),
                          Pair("men", "mˈɛn")));
}

TEST(WordAlignmentTest, WordsThatSoundOtherwiseInASentenceKeepTheirPlace) {
  EXPECT_THAT(Align({{"I", "ˈaɪ"}, {"am", "ˈæm"}, {"for", "fˈɔːɹ"}, {"a", "ˈeɪ"}, {"cat", "kˈæt"}},
                    "aɪɐm fɚɹə kˈæt"),
              ElementsAre(Pair("I", "aɪ"), Pair("am", "ɐm"), Pair("for", "fɚɹ"), Pair("a", "ə"),
                          Pair("cat", "kˈæt")));
}

TEST(WordAlignmentTest, AFlapIsTheEndOfTheWordBefore) {
  EXPECT_THAT(Align({{"at", "ˈæt"}, {"a", "ˈeɪ"}, {"time", "tˈaɪm"}}, "æɾə tˈaɪm"),
              ElementsAre(Pair("at", "æɾ"), Pair("a", "ə"), Pair("time", "tˈaɪm")));
}

TEST(WordAlignmentTest, AStressBelongsToTheWordBehindIt) {
  EXPECT_THAT(Align({{"with", "wɪð"}, {"it", "ɪt"}}, "wɪðˈɪt"),
              ElementsAre(Pair("with", "wɪð"), Pair("it", "ˈɪt")));
}

TEST(WordAlignmentTest, WhatIsNotHeardIsCountedToItsNeighbour) {
  EXPECT_THAT(Align({{"one", "wˈʌn"}, {"*", ""}, {"two", "tˈuː"}}, "wˈʌn tˈuː"),
              ElementsAre(Pair("one *", "wˈʌn"), Pair("two", "tˈuː")));
  EXPECT_THAT(Align({{"*", ""}, {"one", "wˈʌn"}}, "wˈʌn"), ElementsAre(Pair("* one", "wˈʌn")));
  EXPECT_THAT(Align({{"*", ""}}, "?"), IsEmpty());
  EXPECT_THAT(Align({}, "wˈʌn"), IsEmpty());
}

TEST(WordAlignmentTest, FarTooMuchIsOneWord) {
  const std::string sound(3000, 'a');
  EXPECT_THAT(Align({{"x", sound}, {"y", sound}}, sound), ElementsAre(Pair("x y", sound)));
}

TEST(WrittenWordsTest, HaveNoPunctuationAroundThem) {
  const std::string text = "“Well,” she said - don't pay $5 (or 50%)! ¿Qué? ... U.S.\u00a0end—";
  std::vector<std::string> words;
  for (const WrittenWord& word : SplitWrittenWords(text))
    words.push_back(text.substr(word.begin, word.end - word.begin));
  EXPECT_THAT(words, ElementsAre("Well", "she", "said", "don't", "pay", "$5", "or", "50%", "Qué",
                                 "U.S", "end"));
}

TEST(PhonemeWordsTest, StandBetweenSpacesWithoutMarks) {
  EXPECT_EQ(SplitPhonemeWords("“ˈA, bɪ. — ɔ̃!"),
            (std::vector<PhonemeWord>{{3, 6, 3, 6}, {8, 11, 8, 11}, {17, 21, 17, 21}}));
}

}  // namespace
}  // namespace millrace::models
