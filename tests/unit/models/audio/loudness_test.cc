#include "models/audio/loudness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/models/audio/sound.h"

namespace millrace::models {
namespace {

constexpr int kRate = 22050;

float Peak(std::span<const float> samples) {
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::abs(sample));
  return peak;
}

// A 997 Hz sine whose peaks are at 0 dBFS has -3.01 LUFS by BS.1770, so -19 LUFS means peaks at
// -15.99 dBFS.
constexpr float kSineAtTarget = 0.1587F;

TEST(LoudnessNormalizerTest, AToneComesOutAtTheTargetFromAnyLevel) {
  for (const float amplitude : {0.02F, 0.1F, 0.9F}) {
    auto tone = Sine(997, kRate, 3, amplitude);
    LoudnessNormalizer::Make(kRate).value().Apply(tone);
    EXPECT_NEAR(Peak(tone), kSineAtTarget, 0.003) << amplitude;
  }
}

TEST(LoudnessNormalizerTest, NothingIsMadeLouderThanTwentyDecibels) {
  auto tone = Sine(997, kRate, 3, 0.001F);
  LoudnessNormalizer::Make(kRate).value().Apply(tone);
  EXPECT_NEAR(Peak(tone), 0.01, 0.0005);
}

TEST(LoudnessNormalizerTest, PeaksStayBelowTheCeiling) {
  auto sound = Sine(997, kRate, 3, 0.02F);
  sound[30000] = 0.9F;  // raised as the rest is it would be far beyond 1
  LoudnessNormalizer::Make(kRate).value().Apply(sound);
  EXPECT_NEAR(Peak(sound), 0.891, 0.002);
}

TEST(LoudnessNormalizerTest, TheWholeHasOneGain) {
  const auto before = Sine(997, kRate, 2, 0.05F);
  auto after = before;
  LoudnessNormalizer::Make(kRate).value().Apply(after);
  const float gain = after[6] / before[6];
  for (size_t i = 0; i < after.size(); ++i) ASSERT_NEAR(after[i], gain * before[i], 1e-5) << i;
}

TEST(LoudnessNormalizerTest, ASentenceAfterAnotherComesCloserWithoutAStep) {
  LoudnessNormalizer normalizer = LoudnessNormalizer::Make(kRate).value();
  auto first = Sine(997, kRate, 2, 0.05F);
  auto second = Sine(997, kRate, 2, 0.2F);
  normalizer.Apply(first);
  normalizer.Apply(second);
  EXPECT_NEAR(Peak(first), kSineAtTarget, 0.003);
  // It begins with the gain of the first, some 3.2, and is at its own, lower one after 10 ms.
  EXPECT_NEAR(second[3] / (0.2F * std::sin(2 * 3.14159265F * 997 * 3 / kRate)), 3.17, 0.1);
  const float rest = Peak(std::span<const float>(second).subspan(kRate / 50));
  EXPECT_LT(rest, 0.4);
  EXPECT_GT(rest, kSineAtTarget - 0.003);
}

TEST(LoudnessNormalizerTest, SilenceShortSoundAndNanAreLeftAlone) {
  std::vector<float> silence(kRate, 0);
  LoudnessNormalizer::Make(kRate).value().Apply(silence);
  EXPECT_EQ(Peak(silence), 0);
  auto blip = Sine(997, kRate, 0.1, 0.25F);
  LoudnessNormalizer::Make(kRate).value().Apply(blip);
  EXPECT_NEAR(Peak(blip), 0.25, 0.001);
  auto broken = Sine(997, kRate, 2, 0.05F);
  broken[100] = std::nanf("");
  LoudnessNormalizer::Make(kRate).value().Apply(broken);
  EXPECT_EQ(broken[100], 0);
  EXPECT_NEAR(Peak(broken), kSineAtTarget, 0.003);
}

}  // namespace
}  // namespace millrace::models
