#include "models/speech/symbol_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <vector>

namespace millrace::speech {
namespace {

using ::testing::ElementsAre;

constexpr int kRate = 8000;
constexpr int64_t kFrame = kRate / 100;  // 10 ms

// Times of phonemes of one character each, of so many frames.
SymbolTimes Times(std::string_view phonemes, const std::vector<int64_t>& frames) {
  PhonemeIds read;
  for (size_t i = 0; i < phonemes.size(); ++i) read.symbols.push_back({i, i + 1, i, i + 1});
  return SymbolTimes::FromFrames(read, phonemes, frames, kFrame);
}

// Loud from each first to each second, in frames.
std::vector<float> Heard(int64_t frames, std::vector<std::pair<int64_t, int64_t>> parts) {
  std::vector<float> samples(static_cast<size_t>(frames * kFrame));
  for (const auto& [begin, end] : parts) {
    for (int64_t i = begin * kFrame; i < end * kFrame; ++i)
      samples[static_cast<size_t>(i)] = 0.1F * std::sin(static_cast<float>(i) * 0.5F);
  }
  return samples;
}

std::vector<int64_t> InFrames(const SymbolTimes& times) {
  std::vector<int64_t> frames;
  for (const int64_t bound : times.bounds) frames.push_back((bound + kFrame / 2) / kFrame);
  return frames;
}

TEST(SymbolTimesTest, AreThoseOfTheFrames) {
  const SymbolTimes times = Times("ab, c.", {10, 20, 5, 5, 10, 40});
  EXPECT_THAT(InFrames(times), ElementsAre(0, 10, 30, 35, 40, 50, 90));
  EXPECT_EQ(times.SoundsEnd(), 50 * kFrame);
}

TEST(SymbolTimesTest, TheLastSoundEndsWhereItIsHeardTo) {
  SymbolTimes times = Times("ab.", {10, 60, 10});
  times.FollowSound(Heard(80, {{3, 30}}), kRate);
  EXPECT_THAT(InFrames(times), ElementsAre(3, 10, 30, 80));
  times.EndMarksAt(32 * kFrame);
  EXPECT_THAT(InFrames(times), ElementsAre(3, 10, 30, 32));
}

TEST(SymbolTimesTest, SoundsThatWouldBeginInTheSilenceMoveIntoTheWord) {
  SymbolTimes times = Times("abc", {10, 30, 40});
  times.FollowSound(Heard(80, {{0, 20}}), kRate);
  const std::vector<int64_t> frames = InFrames(times);
  EXPECT_EQ(frames.front(), 0);
  EXPECT_EQ(frames.back(), 20);
  for (size_t i = 1; i < times.bounds.size(); ++i) EXPECT_LT(times.bounds[i - 1], times.bounds[i]);
}

TEST(SymbolTimesTest, WordsAtAPauseAreWhereTheyAreHeard) {
  SymbolTimes times = Times("ab, cd", {10, 30, 5, 5, 10, 10});
  times.FollowSound(Heard(70, {{0, 25}, {46, 70}}), kRate);
  EXPECT_THAT(InFrames(times), ElementsAre(0, 10, 25, 36, 46, 60, 70));
}

TEST(SymbolTimesTest, AShortWordThatIsHeardBeforeItsTimeEndsWithTheSound) {
  SymbolTimes times = Times("ab cd, e", {10, 30, 5, 5, 40, 5, 5, 20});
  times.FollowSound(Heard(120, {{0, 45}, {98, 120}}), kRate);
  const std::vector<int64_t> frames = InFrames(times);
  EXPECT_EQ(frames[0], 0);
  EXPECT_EQ(frames[1], 10);
  EXPECT_EQ(frames[5], 45);  // the end of "cd"
  EXPECT_EQ(frames[7], 98);
  for (size_t i = 1; i < times.bounds.size(); ++i) EXPECT_LT(times.bounds[i - 1], times.bounds[i]);
}

TEST(SymbolTimesTest, ASilenceWithinAWordOrBetweenWordsIsNoPause) {
  SymbolTimes times = Times("ab cd, e", {10, 30, 5, 10, 30, 5, 5, 10});
  const std::vector<int64_t> before = times.bounds;
  // Closures of stops: in "ab", between the words, and in "cd".
  times.FollowSound(Heard(105, {{0, 15}, {25, 40}, {46, 60}, {67, 105}}), kRate);
  EXPECT_EQ(times.bounds, before);
}

TEST(SymbolTimesTest, SilenceChangesNothing) {
  SymbolTimes times = Times("ab.", {10, 60, 10});
  const std::vector<int64_t> before = times.bounds;
  times.FollowSound(Heard(80, {}), kRate);
  EXPECT_EQ(times.bounds, before);
  SymbolTimes none;
  none.FollowSound(Heard(8, {{0, 8}}), kRate);
  none.EndMarksAt(5);
  EXPECT_EQ(none.SoundsEnd(), 0);
}

}  // namespace
}  // namespace millrace::speech
