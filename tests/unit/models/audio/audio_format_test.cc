#include "models/audio/audio_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::models {
namespace {

using ::testing::HasSubstr;

TEST(ResolveSampleRateTest, ZeroIsTheVoicesOwnWhereTheFormatHasIt) {
  for (const AudioFormat format : {AudioFormat::kPcmS16, AudioFormat::kPcmF32, AudioFormat::kWav,
                                   AudioFormat::kFlac, AudioFormat::kMp3})
    EXPECT_EQ(ResolveSampleRate(format, 0, 22050).value(), 22050) << ToString(format);
  EXPECT_EQ(ResolveSampleRate(AudioFormat::kOggOpus, 0, 22050).value(), 24000);
  EXPECT_EQ(ResolveSampleRate(AudioFormat::kOggOpus, 0, 16000).value(), 16000);
  EXPECT_EQ(ResolveSampleRate(AudioFormat::kMp3, 0, 96000).value(), 48000);
}

TEST(ResolveSampleRateTest, AnyRateWithinTheBoundsFitsAnUnboundFormat) {
  for (const uint32_t rate : {8000U, 8001U, 44100U, 48000U})
    EXPECT_EQ(ResolveSampleRate(AudioFormat::kFlac, rate, 22050).value(), static_cast<int>(rate));
}

TEST(ResolveSampleRateTest, BadRatesAreRefusedByNameValueAndWhatIsAllowed) {
  for (const uint32_t rate : {1U, 7999U, 48001U, 4294967295U}) {
    const absl::Status status = ResolveSampleRate(AudioFormat::kPcmS16, rate, 22050).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("sample_rate: " + std::to_string(rate)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("8000..48000"));
  }
  const absl::Status opus = ResolveSampleRate(AudioFormat::kOggOpus, 22050, 22050).status();
  EXPECT_THAT(std::string(opus.message()), HasSubstr("sample_rate: 22050"));
  EXPECT_THAT(std::string(opus.message()), HasSubstr("8000, 12000, 16000, 24000, 48000"));
  EXPECT_FALSE(ResolveSampleRate(AudioFormat::kMp3, 23000, 22050).ok());
}

}  // namespace
}  // namespace millrace::models
