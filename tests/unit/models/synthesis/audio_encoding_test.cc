#include "models/synthesis/audio_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace millrace::models {
namespace {

int16_t Sample(const std::string& bytes, size_t index) {
  return static_cast<int16_t>(static_cast<uint8_t>(bytes[2 * index]) |
                              static_cast<uint8_t>(bytes[2 * index + 1]) << 8);
}

uint32_t Word(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

TEST(EncodeAudioTest, RoundsToSixteenBitsAndClips) {
  const std::vector<float> samples = {0, 1, -1, 0.5F, 2, -2, 1.4F / 32767, 1.6F / 32767};
  const std::string bytes = EncodeAudio(samples, 22050, AudioFormat::kPcmS16);
  ASSERT_EQ(bytes.size(), 16U);
  const std::vector<int16_t> expected = {0, 32767, -32767, 16384, 32767, -32767, 1, 2};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(Sample(bytes, i), expected[i]) << i;
}

TEST(EncodeAudioTest, NanIsSilenceAndInfinityIsClipped) {
  const std::vector<float> samples = {std::nanf(""), std::numeric_limits<float>::infinity()};
  const std::string bytes = EncodeAudio(samples, 22050, AudioFormat::kPcmS16);
  EXPECT_EQ(Sample(bytes, 0), 0);
  EXPECT_EQ(Sample(bytes, 1), 32767);
}

TEST(EncodeAudioTest, FloatsKeepTheirBits) {
  const std::vector<float> samples = {0.1F, -0.9F};
  const std::string bytes = EncodeAudio(samples, 22050, AudioFormat::kPcmF32);
  ASSERT_EQ(bytes.size(), 8U);
  for (size_t i = 0; i < 2; ++i) {
    const uint32_t bits = Word(bytes, 4 * i);
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    EXPECT_EQ(value, samples[i]);
  }
}

TEST(EncodeAudioTest, WavHeaderTellsRateAndLength) {
  const std::vector<float> samples(100, 0.25F);
  const std::string bytes = EncodeAudio(samples, 16000, AudioFormat::kWav);
  ASSERT_EQ(bytes.size(), 244U);
  EXPECT_EQ(bytes.substr(0, 4), "RIFF");
  EXPECT_EQ(Word(bytes, 4), 236U);
  EXPECT_EQ(bytes.substr(8, 8), "WAVEfmt ");
  EXPECT_EQ(Word(bytes, 16), 16U);
  EXPECT_EQ(Word(bytes, 20), 0x00010001U);  // PCM, one channel
  EXPECT_EQ(Word(bytes, 24), 16000U);
  EXPECT_EQ(Word(bytes, 28), 32000U);
  EXPECT_EQ(Word(bytes, 32), 0x00100002U);  // two bytes, 16 bits
  EXPECT_EQ(bytes.substr(36, 4), "data");
  EXPECT_EQ(Word(bytes, 40), 200U);
  EXPECT_EQ(bytes.substr(44), EncodeAudio(samples, 16000, AudioFormat::kPcmS16));
}

TEST(EncodeAudioTest, PiecesConcatenateToTheWhole) {
  std::vector<float> samples;
  for (int i = 0; i < 50; ++i) samples.push_back(std::sin(static_cast<float>(i)));
  const std::span<const float> all = samples;
  EXPECT_EQ(EncodeAudio(all.first(20), 1, AudioFormat::kPcmS16) +
                EncodeAudio(all.subspan(20), 1, AudioFormat::kPcmS16),
            EncodeAudio(all, 1, AudioFormat::kPcmS16));
}

}  // namespace
}  // namespace millrace::models
