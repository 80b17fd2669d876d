#include "server/frontends/elevenlabs/character_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"

namespace millrace::server {
namespace {

using ::testing::DoubleEq;
using ::testing::Pointwise;

std::vector<double> Begins(const CharacterTimes& times) {
  std::vector<double> begins;
  for (const CharacterTimes::Span& span : times.times) begins.push_back(span.begin);
  return begins;
}

TEST(CharacterTimesTest, AWordsTimeIsDividedAmongItsCharacters) {
  CharacterTimes times;
  AddCharacterTimes("Hi, \u00e9a.", {{"Hi", 200, 400, 0}, {"\u00e9a", 600, 1000, 4}}, 100, 0, 1000,
                    times);
  EXPECT_EQ(absl::StrJoin(times.characters, "|"), "H|i|,| |\u00e9|a|.| ");
  EXPECT_THAT(Begins(times), Pointwise(DoubleEq(), {0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.0}));
  EXPECT_EQ(times.times[5].end, 1.0);
}

TEST(CharacterTimesTest, SentencesJoinAndCountFromTheOrigin) {
  CharacterTimes times;
  AddCharacterTimes("A. ", {{"A", 2000, 2500, 0}}, 2000, 1000, 1000, times);
  AddCharacterTimes("B", {{"B", 3000, 3500, 3}}, 3000, 1000, 1000, times);
  EXPECT_EQ(absl::StrJoin(times.characters, ""), "A. B ");
  EXPECT_THAT(Begins(times), Pointwise(DoubleEq(), {1.0, 1.5, 1.5, 2.0, 2.5}));
}

TEST(CharacterTimesTest, TimesNeverGoBackAndWordsThatAreNotThereAreLeftOut) {
  CharacterTimes times;
  AddCharacterTimes("ab cd", {{"ab", 500, 400, 0}, {"xx", 450, 600, 0}, {"cd", 300, 700, 3}}, 0, 0,
                    1000, times);
  EXPECT_EQ(absl::StrJoin(times.characters, ""), "ab cd ");
  double before = 0;
  for (const CharacterTimes::Span& span : times.times) {
    EXPECT_GE(span.begin, before);
    EXPECT_GE(span.end, span.begin);
    before = span.begin;
  }
}

}  // namespace
}  // namespace millrace::server
