#include "models/audio/resampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tests/unit/models/audio/sound.h"

namespace millrace::models {
namespace {

std::vector<float> Resampled(std::span<const float> samples, int from, int to, size_t piece) {
  Resampler resampler = Resampler::Make(from, to).value();
  std::vector<float> all;
  for (size_t i = 0; i < samples.size(); i += piece) {
    const auto part = resampler.Push(samples.subspan(i, std::min(piece, samples.size() - i)));
    all.insert(all.end(), part.begin(), part.end());
  }
  const auto rest = resampler.Flush();
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

TEST(ResamplerTest, AToneKeepsItsFrequencyAndLengthAtEveryRate) {
  for (const auto& [from, to] : std::vector<std::pair<int, int>>{
           {22050, 8000}, {22050, 24000}, {22050, 48000}, {16000, 44100}, {48000, 8000}}) {
    const auto tone = Sine(1000, from, 1);
    const auto out = Resampled(tone, from, to, tone.size());
    EXPECT_NEAR(static_cast<double>(out.size()), to, 1) << from << " " << to;
    // Away from the ends, where the filter sees silence.
    EXPECT_GT(ShareOf(1000, to, out, out.size() / 10, out.size() * 9 / 10), 0.99999)
        << from << " " << to;
  }
}

TEST(ResamplerTest, PiecesJoinWithoutAGap) {
  const auto tone = Sine(440, 22050, 0.5);
  const auto whole = Resampled(tone, 22050, 24000, tone.size());
  for (const size_t piece : {1U, 7U, 1000U, 4096U}) {
    const auto pieces = Resampled(tone, 22050, 24000, piece);
    ASSERT_EQ(pieces.size(), whole.size()) << piece;
    for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(pieces[i], whole[i], 1e-6) << i;
  }
}

TEST(ResamplerTest, WhatTheLowerRateCannotHoldIsRemovedAndNotFolded) {
  const auto tone = Sine(7000, 22050, 1);
  const auto out = Resampled(tone, 22050, 8000, tone.size());
  for (size_t i = 800; i < 7200; ++i) ASSERT_NEAR(out[i], 0, 1e-3) << i;
}

TEST(ResamplerTest, NanDoesNotSpread) {
  auto tone = Sine(440, 22050, 0.2);
  tone[100] = std::nanf("");
  tone[200] = std::numeric_limits<float>::infinity();
  for (const float sample : Resampled(tone, 22050, 24000, 50)) {
    ASSERT_TRUE(std::isfinite(sample));
    ASSERT_LT(std::abs(sample), 2);
  }
}

TEST(ResamplerTest, NothingGivesNothing) { EXPECT_TRUE(Resampled({}, 22050, 24000, 1).empty()); }

}  // namespace
}  // namespace millrace::models
