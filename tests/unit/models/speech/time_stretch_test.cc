#include "models/speech/time_stretch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

namespace millrace::speech {
namespace {

constexpr int kToneRate = 24000;

std::vector<float> ToneOf(double hertz, size_t size) {
  std::vector<float> samples(size);
  for (size_t i = 0; i < size; ++i) {
    samples[i] = static_cast<float>(
        0.5 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / kToneRate));
  }
  return samples;
}

double PowerOf(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return sum / static_cast<double>(samples.size());
}

int64_t RisingZeros(const std::vector<float>& samples) {
  int64_t count = 0;
  for (size_t i = 1; i < samples.size(); ++i) count += samples[i - 1] < 0 && samples[i] >= 0;
  return count;
}

TEST(TimeStretchTest, TheNumberOfSamplesIsExact) {
  for (const size_t size : {1U, 7U, 480U, 14401U}) {
    for (const double speed : {0.5, 0.75, 1.1, 1.5, 2.0, 4.0}) {
      EXPECT_EQ(StretchTime(ToneOf(200, size), speed, kToneRate).size(),
                static_cast<size_t>(std::llround(static_cast<double>(size) / speed)))
          << size << " at " << speed;
    }
  }
  EXPECT_TRUE(StretchTime({}, 2, kToneRate).empty());
  EXPECT_EQ(StretchTime(ToneOf(200, 1000), 1, kToneRate), ToneOf(200, 1000));
}

TEST(TimeStretchTest, PitchAndLevelStay) {
  for (const double hertz : {85.0, 120.0, 233.0, 1000.0}) {
    const std::vector<float> tone = ToneOf(hertz, kToneRate);
    for (const double speed : {0.5, 0.75, 1.25, 2.0}) {
      const std::vector<float> stretched = StretchTime(tone, speed, kToneRate);
      EXPECT_NEAR(static_cast<double>(RisingZeros(stretched)), hertz / speed,
                  std::max(0.01 * hertz / speed, 1.5))
          << hertz << " Hz at " << speed;
      EXPECT_NEAR(PowerOf(stretched), PowerOf(tone), 0.05 * PowerOf(tone))
          << hertz << " Hz at " << speed;
    }
  }
}

TEST(TimeStretchTest, WhatIsHeardComesAtItsTime) {
  // A tone between two silences of 0.2 s.
  std::vector<float> samples(kToneRate / 5, 0.0F);
  const std::vector<float> tone = ToneOf(150, kToneRate / 2);
  samples.insert(samples.end(), tone.begin(), tone.end());
  samples.insert(samples.end(), kToneRate / 5, 0.0F);
  for (const double speed : {0.5, 0.8, 1.6, 2.0}) {
    const std::vector<float> stretched = StretchTime(samples, speed, kToneRate);
    const auto loud = [](float sample) { return std::abs(sample) > 0.1F; };
    const auto first = std::find_if(stretched.begin(), stretched.end(), loud) - stretched.begin();
    const auto last = std::find_if(stretched.rbegin(), stretched.rend(), loud) - stretched.rbegin();
    EXPECT_NEAR(static_cast<double>(first) / kToneRate, 0.2 / speed, 0.02) << speed;
    EXPECT_NEAR(static_cast<double>(last) / kToneRate, 0.2 / speed, 0.02) << speed;
  }
}

}  // namespace
}  // namespace millrace::speech
