#include "models/audio/audio_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/unit/models/audio/sound.h"

namespace millrace::models {
namespace {

constexpr AudioFormat kEncoded[] = {AudioFormat::kWav, AudioFormat::kFlac, AudioFormat::kMp3,
                                    AudioFormat::kOggOpus};

std::unique_ptr<AudioEncoder> Make(AudioFormat format, AudioContainer container, int from, int to) {
  return MakeAudioEncoder(
             {.format = format, .container = container, .input_rate = from, .output_rate = to})
      .value();
}

std::string Encode(std::span<const float> samples, AudioFormat format, AudioContainer container,
                   int from, int to, size_t piece) {
  const auto encoder = Make(format, container, from, to);
  std::string bytes;
  for (size_t i = 0; i < samples.size(); i += piece)
    bytes += encoder->Push(samples.subspan(i, std::min(piece, samples.size() - i)));
  return bytes + encoder->Close().value();
}

int RateFor(AudioFormat format) { return format == AudioFormat::kOggOpus ? 24000 : 22050; }

// Returns the least ratio of a wave to its error, in decibels. Opus turns the phase of low sounds,
// so its wave differs more than it sounds.
double MinSnr(AudioFormat format) {
  if (format == AudioFormat::kOggOpus) return 8;
  return format == AudioFormat::kMp3 ? 15 : 80;
}

// Signal to noise in decibels, of the best shift: lossy codecs delay.
double BestSnr(const std::vector<float>& wanted, const std::vector<float>& got, size_t max_shift) {
  double best = -100;
  for (size_t shift = 0; shift <= max_shift; ++shift) {
    double signal = 0;
    double noise = 0;
    for (size_t i = 2000; i + 2000 < wanted.size() && i + shift < got.size(); ++i) {
      signal += wanted[i] * wanted[i];
      noise += (got[i + shift] - wanted[i]) * (got[i + shift] - wanted[i]);
    }
    best = std::max(best, 10 * std::log10(signal / (noise + 1e-12)));
  }
  return best;
}

// Like speech in its width, and without a period: a shift is found but where it is.
std::vector<float> Chirp(int rate, double seconds) {
  std::vector<float> samples(static_cast<size_t>(rate * seconds));
  double angle = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(samples.size());
    angle += 2 * std::numbers::pi * (200 + 1800 * part) / rate;
    samples[i] = 0.4F * static_cast<float>(std::sin(angle));
  }
  return samples;
}

TEST(AudioEncoderTest, FilesDecodeToWhatWentIn) {
  for (const AudioFormat format : kEncoded) {
    const int rate = RateFor(format);
    const auto sound = Chirp(rate, 2);
    const Decoded decoded =
        Decode(Encode(sound, format, AudioContainer::kFile, rate, rate, sound.size()));
    EXPECT_EQ(decoded.rate, rate) << ToString(format);
    // The header knows the length, also that of the padding to be left out.
    EXPECT_EQ(decoded.frames, static_cast<sf_count_t>(sound.size())) << ToString(format);
    EXPECT_NEAR(static_cast<double>(decoded.samples.size()), static_cast<double>(sound.size()), 1)
        << ToString(format);
    EXPECT_GT(BestSnr(sound, decoded.samples, 0), MinSnr(format)) << ToString(format);
  }
}

TEST(AudioEncoderTest, StreamsDecodeToWhatWentIn) {
  for (const AudioFormat format : kEncoded) {
    const int rate = RateFor(format);
    const auto sound = Chirp(rate, 2);
    const Decoded decoded =
        Decode(Encode(sound, format, AudioContainer::kStream, rate, rate, 1000));
    EXPECT_EQ(decoded.rate, rate) << ToString(format);
    // An MP3 without its first frame keeps the delay of encoder and decoder and the last padding.
    const double extra = format == AudioFormat::kMp3 ? 2400 : 0;
    EXPECT_GE(static_cast<double>(decoded.samples.size()), static_cast<double>(sound.size()))
        << ToString(format);
    EXPECT_LE(static_cast<double>(decoded.samples.size()),
              static_cast<double>(sound.size()) + extra)
        << ToString(format);
    EXPECT_GT(BestSnr(sound, decoded.samples, static_cast<size_t>(extra)), MinSnr(format))
        << ToString(format);
  }
}

// Where there is silence before it, as there is before speech.
TEST(AudioEncoderTest, AnMp3StreamSoundsWhenTheFileDoes) {
  for (const int rate : {8000, 16000, 22050, 24000, 44100, 48000}) {
    const int frame = rate < 32000 ? 576 : 1152;
    constexpr int kSpare = 48;  // by which LAME fills its last frame at least
    for (const double seconds : {1.0, 1.1, 1.333}) {
      const auto sine = Sine(440, rate, seconds);
      const size_t silent = 2000;
      std::vector<float> sound(silent, 1e-3F);
      sound.insert(sound.end(), sine.begin(), sine.end());
      const auto samples = [&](AudioContainer container) {
        return Decode(Encode(sound, AudioFormat::kMp3, container, rate, rate, 700)).samples;
      };
      const auto begin = [](const std::vector<float>& decoded) {
        return std::ranges::find_if(decoded, [](float s) { return std::abs(s) > 0.1F; }) -
               decoded.begin();
      };
      const auto file = samples(AudioContainer::kFile);
      const auto stream = samples(AudioContainer::kStream);
      EXPECT_EQ(file.size(), sound.size());
      EXPECT_LE(stream.size(), file.size() + frame + kSpare) << rate << " " << seconds;
      EXPECT_GE(stream.size(), file.size()) << rate << " " << seconds;
      EXPECT_NEAR(begin(stream), begin(file), 2) << rate << " " << seconds;
    }
  }
}

TEST(AudioEncoderTest, AStreamComesWhileItIsMade) {
  for (const AudioFormat format :
       {AudioFormat::kPcmS16, AudioFormat::kPcmF32, AudioFormat::kWav, AudioFormat::kFlac,
        AudioFormat::kMp3, AudioFormat::kOggOpus, AudioFormat::kMuLaw, AudioFormat::kALaw}) {
    const auto encoder = Make(format, AudioContainer::kStream, 22050, RateFor(format));
    const auto second = Chirp(22050, 1);
    size_t bytes = 0;
    for (int i = 0; i < 4; ++i) {
      const size_t more = encoder->Push(second).size();
      EXPECT_GT(more, 500U) << ToString(format) << " " << i;
      bytes += more;
    }
    const size_t rest = encoder->Close().value().size();
    EXPECT_LT(rest, bytes / 8) << ToString(format);
  }
}

TEST(AudioEncoderTest, AFileComesAtItsEnd) {
  for (const AudioFormat format : kEncoded) {
    const auto encoder = Make(format, AudioContainer::kFile, 22050, RateFor(format));
    EXPECT_EQ(encoder->Push(Chirp(22050, 1)), "") << ToString(format);
    EXPECT_GT(encoder->Close().value().size(), 1000U) << ToString(format);
  }
}

TEST(AudioEncoderTest, HowTheSoundIsCutDoesNotMatter) {
  const auto sound = Chirp(22050, 1);
  for (const AudioFormat format : {AudioFormat::kPcmS16, AudioFormat::kPcmF32, AudioFormat::kWav,
                                   AudioFormat::kFlac, AudioFormat::kMuLaw, AudioFormat::kALaw}) {
    const std::string whole =
        Encode(sound, format, AudioContainer::kStream, 22050, 22050, sound.size());
    for (const size_t piece : {1U, 777U, 4096U}) {
      EXPECT_EQ(Encode(sound, format, AudioContainer::kStream, 22050, 22050, piece), whole)
          << ToString(format) << " " << piece;
    }
  }
}

// The codes are those of the tables in ITU-T G.711.
TEST(AudioEncoderTest, TheLawsOfTelephonyHaveAByteASampleAndNoHeader) {
  const std::vector<float> samples = {0, 1, -1, 0.5F, -0.5F};
  for (const AudioContainer container : {AudioContainer::kFile, AudioContainer::kStream}) {
    EXPECT_EQ(Encode(samples, AudioFormat::kMuLaw, container, 8000, 8000, 2),
              std::string("\xFF\x80\x00\x8F\x0F", 5));
    EXPECT_EQ(Encode(samples, AudioFormat::kALaw, container, 8000, 8000, 2),
              std::string("\xD5\xAA\x2A\xA5\x25", 5));
  }
}

TEST(AudioEncoderTest, FlacHoldsTheSamplesOfPcm) {
  const auto sound = Chirp(22050, 1);
  const Decoded wav =
      Decode(Encode(sound, AudioFormat::kWav, AudioContainer::kFile, 22050, 22050, 5000));
  const Decoded flac =
      Decode(Encode(sound, AudioFormat::kFlac, AudioContainer::kFile, 22050, 22050, 5000));
  EXPECT_EQ(wav.samples, flac.samples);
}

// 440 Hz stays 440 Hz at every rate, across pieces that end anywhere.
TEST(AudioEncoderTest, ATonesFrequencySurvivesRateAndFormat) {
  const auto tone = Sine(440, 22050, 2);
  for (const AudioFormat format : kEncoded) {
    constexpr uint32_t kSome[] = {8000, 22049, 44100, 48000};
    const auto bound = SampleRates(format);
    for (const uint32_t each : bound.empty() ? std::span<const uint32_t>(kSome) : bound) {
      const int rate = static_cast<int>(each);
      const Decoded decoded =
          Decode(Encode(tone, format, AudioContainer::kStream, 22050, rate, 3001));
      EXPECT_EQ(decoded.rate, rate) << ToString(format);
      EXPECT_NEAR(static_cast<double>(decoded.samples.size()) / rate, 2, 0.3) << ToString(format);
      if (bound.empty()) {
        EXPECT_NEAR(static_cast<double>(decoded.samples.size()), 2 * rate, 1) << ToString(format);
      }
      EXPECT_GT(ShareOf(440, rate, decoded.samples, static_cast<size_t>(rate / 4),
                        static_cast<size_t>(rate * 7 / 4)),
                0.99)
          << ToString(format) << " " << rate;
    }
  }
}

TEST(AudioEncoderTest, NanIsSilenceAndTooLoudIsClipped) {
  std::vector<float> sound(22050, 0);
  for (size_t i = 5000; i < 6000; ++i) sound[i] = std::nanf("");
  for (size_t i = 10000; i < 16000; ++i) sound[i] = (i / 50) % 2 == 0 ? 7.0F : -7.0F;
  sound[20000] = std::numeric_limits<float>::infinity();
  for (const AudioFormat format : kEncoded) {
    const int rate = RateFor(format);
    const Decoded decoded = Decode(Encode(sound, format, AudioContainer::kFile, rate, rate, 4000));
    ASSERT_EQ(decoded.samples.size(), sound.size()) << ToString(format);
    float peak = 0;
    for (const float sample : decoded.samples) {
      ASSERT_TRUE(std::isfinite(sample)) << ToString(format);
      peak = std::max(peak, std::abs(sample));
    }
    EXPECT_GT(peak, 0.9) << ToString(format);
    EXPECT_LT(peak, 1.5) << ToString(format);  // a lossy codec rings at such edges
    for (size_t i = 5000; i < 6000; ++i)
      ASSERT_NEAR(decoded.samples[i], 0, 0.02) << ToString(format) << " " << i;
  }
}

TEST(AudioEncoderTest, LoudnessIsThatOfAWholeFileAndOfAStreamSoFar) {
  const auto quiet = Sine(997, 22050, 2, 0.05F);
  const auto loud = Sine(997, 22050, 2, 0.5F);
  const auto peaks = [&](AudioContainer container) {
    const auto encoder = MakeAudioEncoder({.format = AudioFormat::kWav,
                                           .container = container,
                                           .input_rate = 22050,
                                           .output_rate = 22050,
                                           .normalize_loudness = true})
                             .value();
    std::string bytes = encoder->Push(quiet);
    bytes += encoder->Push(loud);
    const Decoded decoded = Decode(bytes + encoder->Close().value());
    EXPECT_EQ(decoded.samples.size(), quiet.size() + loud.size());
    const auto half = decoded.samples.begin() + 44100;
    return std::pair(*std::max_element(decoded.samples.begin(), half),
                     *std::max_element(half, decoded.samples.end()));
  };
  const auto [file_quiet, file_loud] = peaks(AudioContainer::kFile);
  EXPECT_NEAR(file_loud / file_quiet, 10, 0.1);  // one gain for all
  EXPECT_LT(file_quiet, 0.05);
  const auto [stream_quiet, stream_loud] = peaks(AudioContainer::kStream);
  EXPECT_NEAR(stream_quiet, 0.159, 0.003);  // -19 LUFS at once
  EXPECT_GT(stream_loud, 0.15);
}

TEST(AudioEncoderTest, WithoutSamplesThereIsStillAFile) {
  for (const AudioFormat format : kEncoded) {
    const auto encoder = Make(format, AudioContainer::kFile, 22050, RateFor(format));
    const auto bytes = encoder->Close();
    ASSERT_TRUE(bytes.ok()) << ToString(format) << bytes.status();
    EXPECT_LE(Decode(*bytes).samples.size(), 2400U) << ToString(format);
  }
}

TEST(AudioEncoderTest, AnEncoderMayBeDroppedHalfway) {
  for (const AudioFormat format : kEncoded) {
    const auto encoder = Make(format, AudioContainer::kStream, 22050, RateFor(format));
    EXPECT_FALSE(encoder->Push(Chirp(22050, 1)).empty());
  }
}

TEST(AudioEncoderTest, TheVolumeIsAFactorAndWhatIsTooLoudIsClipped) {
  const auto pcm = [](float volume) {
    const auto encoder = MakeAudioEncoder({.format = AudioFormat::kPcmF32,
                                           .container = AudioContainer::kStream,
                                           .input_rate = 8000,
                                           .output_rate = 8000,
                                           .volume = volume})
                             .value();
    const std::vector<float> samples = {0.25F, -0.5F};
    const std::string bytes = encoder->Push(samples) + encoder->Close().value();
    std::vector<float> read(bytes.size() / sizeof(float));
    std::memcpy(read.data(), bytes.data(), bytes.size());
    return read;
  };
  EXPECT_EQ(pcm(1), (std::vector<float>{0.25F, -0.5F}));
  EXPECT_EQ(pcm(0.5F), (std::vector<float>{0.125F, -0.25F}));
  EXPECT_EQ(pcm(4), (std::vector<float>{1, -1}));
  EXPECT_EQ(pcm(0), (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace millrace::models
