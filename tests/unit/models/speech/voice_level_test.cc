#include "models/speech/voice_level.h"

#include <gtest/gtest.h>

#include <vector>

namespace millrace::speech {
namespace {

std::vector<float> Louder(float decibels, std::vector<float> samples) {
  ApplyGain(decibels, samples);
  return samples;
}

TEST(VoiceLevelTest, BelowTheKneeItIsAFactor) {
  EXPECT_EQ(Louder(0, {0.3F, -0.95F}), (std::vector<float>{0.3F, -0.95F}));
  for (const float sample : {-0.3F, 0.01F, 0.39F})
    EXPECT_NEAR(Louder(6.0206F, {sample})[0], 2 * sample, 1e-5);
}

TEST(VoiceLevelTest, NothingClipsAndTheLouderStaysLouder) {
  float before = 0;
  for (float sample = 0; sample <= 0.6F; sample += 0.01F) {
    const float louder = Louder(6, {sample})[0];
    EXPECT_GE(louder, before);
    EXPECT_LT(louder, 1);
    EXPECT_EQ(Louder(6, {-sample})[0], -louder);
    before = louder;
  }
}

}  // namespace
}  // namespace millrace::speech
