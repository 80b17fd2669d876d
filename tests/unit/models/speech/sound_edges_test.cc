#include "models/speech/sound_edges.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace millrace::speech {
namespace {

constexpr int kRate = 8000;

// Seconds of a tone or, at 0, of silence, one after another.
std::vector<float> Sounds(std::initializer_list<std::pair<double, float>> parts) {
  std::vector<float> samples;
  for (const auto& [seconds, level] : parts) {
    const auto count = static_cast<size_t>(std::lround(seconds * kRate));
    for (size_t i = 0; i < count; ++i)
      samples.push_back(level * std::sin(static_cast<float>(i) * 0.5F));
  }
  return samples;
}

TEST(SoundEdgesTest, FindsWhereSpeechBeginsAndEnds) {
  const auto samples = Sounds({{0.2, 0}, {0.5, 0.1F}, {0.3, 0.001F}});
  EXPECT_NEAR(static_cast<double>(FirstSound(samples, kRate).value()) / kRate, 0.2, 0.006);
  EXPECT_NEAR(static_cast<double>(LastSound(samples, kRate).value()) / kRate, 0.7, 0.006);
  const auto quiet = Sounds({{0.1, 0.001F}});
  EXPECT_FALSE(FirstSound(quiet, kRate));
  EXPECT_FALSE(LastSound(quiet, kRate));
  EXPECT_FALSE(FirstSound({}, kRate));
}

TEST(SoundEdgesTest, FindsTheLongestSilence) {
  const auto samples = Sounds({{0.1, 0.1F}, {0.06, 0}, {0.2, 0.1F}, {0.2, 0}, {0.1, 0.1F}});
  const auto silence = LongestSilence(samples, kRate);
  ASSERT_TRUE(silence);
  EXPECT_NEAR(static_cast<double>(silence->begin) / kRate, 0.36, 0.006);
  EXPECT_NEAR(static_cast<double>(silence->end) / kRate, 0.56, 0.006);
  EXPECT_FALSE(LongestSilence(Sounds({{0.1, 0.1F}, {0.03, 0}, {0.2, 0.1F}}), kRate));
  EXPECT_FALSE(LongestSilence({}, kRate));
}

}  // namespace
}  // namespace millrace::speech
