#include "server/frontends/elevenlabs/output_format.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::server {
namespace {

TEST(OutputFormatTest, NamesOfElevenLabsStandForOurFormats) {
  const struct {
    const char* name;
    models::AudioFormat format;
    uint32_t rate;
  } cases[] = {
      {"mp3_22050_32", models::AudioFormat::kMp3, 22'050},
      {"mp3_44100_128", models::AudioFormat::kMp3, 44'100},
      {"pcm_8000", models::AudioFormat::kPcmS16, 8000},
      {"pcm_44100", models::AudioFormat::kPcmS16, 44'100},
      {"wav_24000", models::AudioFormat::kWav, 24'000},
      {"opus_48000_64", models::AudioFormat::kOggOpus, 48'000},
  };
  for (const auto& one : cases) {
    const auto format = ParseOutputFormat(one.name);
    ASSERT_TRUE(format.ok()) << format.status();
    EXPECT_EQ(format->format, one.format) << one.name;
    EXPECT_EQ(format->sample_rate, one.rate) << one.name;
  }
}

TEST(OutputFormatTest, WhatIsNotPossibleIsRefusedByName) {
  for (const std::string name :
       {"ulaw_8000", "alaw_8000", "pcm", "pcm_", "pcm_1", "pcm_96000", "pcm_16000_1", "mp3_44100",
        "mp3_44100_x", "mp3_44100_0", "mp3_1_32", "opus_44100_32", "flac_44100", "", "_", "x"}) {
    const auto format = ParseOutputFormat(name);
    EXPECT_EQ(format.status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_NE(format.status().message().find("output_format: '" + name + "' is not available"),
              absl::string_view::npos)
        << format.status();
  }
}

}  // namespace
}  // namespace millrace::server
