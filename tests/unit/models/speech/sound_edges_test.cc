#include "models/speech/sound_edges.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace millrace::speech {
namespace {

constexpr int kEdgesRate = 8000;

// Seconds of a tone or, at 0, of silence, one after another.
std::vector<float> Sounds(std::initializer_list<std::pair<double, float>> parts) {
  std::vector<float> samples;
  for (const auto& [seconds, level] : parts) {
    const auto count = static_cast<size_t>(std::lround(seconds * kEdgesRate));
    for (size_t i = 0; i < count; ++i)
      samples.push_back(level * std::sin(static_cast<float>(i) * 0.5F));
  }
  return samples;
}

TEST(SoundEdgesTest, FindsWhereSpeechBeginsAndEnds) {
  const auto samples = Sounds({{0.2, 0}, {0.5, 0.1F}, {0.3, 0.001F}});
  EXPECT_NEAR(static_cast<double>(FirstSound(samples, kEdgesRate).value()) / kEdgesRate, 0.2,
              0.006);
  EXPECT_NEAR(static_cast<double>(LastSound(samples, kEdgesRate).value()) / kEdgesRate, 0.7, 0.006);
  const auto quiet = Sounds({{0.1, 0.001F}});
  EXPECT_FALSE(FirstSound(quiet, kEdgesRate));
  EXPECT_FALSE(LastSound(quiet, kEdgesRate));
  EXPECT_FALSE(FirstSound({}, kEdgesRate));
}

TEST(SoundEdgesTest, FindsTheLongestSilence) {
  const auto samples = Sounds({{0.1, 0.1F}, {0.06, 0}, {0.2, 0.1F}, {0.2, 0}, {0.1, 0.1F}});
  const auto silence = LongestSilence(samples, kEdgesRate);
  ASSERT_TRUE(silence);
  EXPECT_NEAR(static_cast<double>(silence->begin) / kEdgesRate, 0.36, 0.006);
  EXPECT_NEAR(static_cast<double>(silence->end) / kEdgesRate, 0.56, 0.006);
  EXPECT_FALSE(LongestSilence(Sounds({{0.1, 0.1F}, {0.03, 0}, {0.2, 0.1F}}), kEdgesRate));
  EXPECT_FALSE(LongestSilence({}, kEdgesRate));
}

}  // namespace
}  // namespace millrace::speech
