#include "models/audio/pcm_encoder.h"

#include <gtest/gtest.h>

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

std::string EncodePcm(std::span<const float> samples, AudioFormat format,
                      AudioContainer container = AudioContainer::kFile, int rate = 22050) {
  const auto encoder = MakePcmEncoder(format, container, rate);
  std::string bytes = encoder->Push(samples);
  return bytes + encoder->Close().value();
}

TEST(PcmEncoderTest, RoundsToSixteenBitsAndClips) {
  const std::vector<float> samples = {0, 1, -1, 0.5F, 2, -2, 1.4F / 32767, 1.6F / 32767};
  const std::string bytes = EncodePcm(samples, AudioFormat::kPcmS16);
  ASSERT_EQ(bytes.size(), 16U);
  const std::vector<int16_t> expected = {0, 32767, -32767, 16384, 32767, -32767, 1, 2};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(Sample(bytes, i), expected[i]) << i;
}

TEST(PcmEncoderTest, NanIsSilenceAndInfinityIsClipped) {
  const std::vector<float> samples = {std::nanf(""), std::numeric_limits<float>::infinity()};
  const std::string bytes = EncodePcm(samples, AudioFormat::kPcmS16);
  EXPECT_EQ(Sample(bytes, 0), 0);
  EXPECT_EQ(Sample(bytes, 1), 32767);
}

TEST(PcmEncoderTest, FloatsKeepTheirBits) {
  const std::vector<float> samples = {0.1F, -0.9F};
  const std::string bytes = EncodePcm(samples, AudioFormat::kPcmF32);
  ASSERT_EQ(bytes.size(), 8U);
  for (size_t i = 0; i < 2; ++i) {
    const uint32_t bits = Word(bytes, 4 * i);
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    EXPECT_EQ(value, samples[i]);
  }
}

TEST(PcmEncoderTest, WavHeaderTellsRateAndLength) {
  const std::vector<float> samples(100, 0.25F);
  const std::string bytes = EncodePcm(samples, AudioFormat::kWav, AudioContainer::kFile, 16000);
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
  EXPECT_EQ(bytes.substr(44), EncodePcm(samples, AudioFormat::kPcmS16));
}

TEST(PcmEncoderTest, StreamedWavLeavesItsLengthOpenAndTheHeaderComesOnce) {
  const std::vector<float> samples(100, 0.25F);
  const auto encoder = MakePcmEncoder(AudioFormat::kWav, AudioContainer::kStream, 16000);
  const std::string first = encoder->Push(samples);
  const std::string second = encoder->Push(samples);
  ASSERT_EQ(first.size(), 244U);
  EXPECT_EQ(Word(first, 4), 0xFFFFFFFFU);
  EXPECT_EQ(Word(first, 40), 0xFFFFFFFFU);
  EXPECT_EQ(second, EncodePcm(samples, AudioFormat::kPcmS16));
  EXPECT_EQ(encoder->Close().value(), "");
}

TEST(PcmEncoderTest, WithoutSamplesAWavIsItsHeader) {
  const std::string file = EncodePcm({}, AudioFormat::kWav);
  EXPECT_EQ(file.size(), 44U);
  EXPECT_EQ(Word(file, 40), 0U);
  EXPECT_EQ(EncodePcm({}, AudioFormat::kWav, AudioContainer::kStream).size(), 44U);
}

}  // namespace
}  // namespace millrace::models
