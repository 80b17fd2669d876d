// The real weights against the PyTorch package kokoro on the same weights (a committed file that
// make_kokoro_golden.py wrote), and against onnxruntime on the original int8 file (another one, by
// make_kokoro_durations.py).

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/parallel_for.h"
#include "models/kernels/precision.h"
#include "models/kokoro/kokoro_batch.h"
#include "models/kokoro/kokoro_decoder.h"
#include "models/kokoro/kokoro_encoder.h"
#include "models/kokoro/kokoro_weights.h"
#include "models/speech/device_noise.h"
#include "models/speech/noise.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/golden_file.h"
#include "tests/fakes/golden_share.h"
#include "tests/fakes/models_folder.h"
#include "tests/fakes/threads_loop_runner.h"
#include "tests/unit/models/speech/log_mel.h"

namespace millrace::kokoro {
namespace {

constexpr float kTolerance = 1e-3F;       // for samples
constexpr float kCurveTolerance = 1e-4F;  // relative to the curve's greatest value
constexpr int kSampleRate = 24000;
constexpr float kFullScale = 32767;

struct Golden {
  std::vector<int64_t> phonemes;
  std::vector<char> voice;
  std::vector<int64_t> frames;
  std::vector<float> pitch, loudness;
  std::vector<int16_t> samples;
};

bool ReadDurations(std::istream& stream, Golden& golden) {
  return testing::ReadArray(stream, golden.phonemes) && testing::ReadArray(stream, golden.voice) &&
         testing::ReadArray(stream, golden.frames);
}

// Reads MILLRACE_KOKORO_GOLDEN_FILE instead when it is set: another file of the same kind.
std::vector<Golden> ReadGolden() {
  const char* file = std::getenv("MILLRACE_KOKORO_GOLDEN_FILE");
  std::ifstream stream(file != nullptr ? file : MILLRACE_KOKORO_GOLDEN, std::ios::binary);
  std::vector<Golden> all;
  for (Golden golden; ReadDurations(stream, golden) && testing::ReadArray(stream, golden.pitch) &&
                      testing::ReadArray(stream, golden.loudness) &&
                      testing::ReadArray(stream, golden.samples);)
    all.push_back(golden);
  return all;
}

std::filesystem::path Package() { return testing::ModelsFolder() / "kokoro-82m/1"; }

// Returns noise of deviation 1: a hash of the index, as noise() in make_kokoro_golden.py.
std::vector<float> HashNoise(size_t count) {
  std::vector<float> noise(count);
  for (size_t i = 0; i < count; ++i) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761U;
    x ^= x >> 16;
    x *= 0x85EBCA6BU;
    x ^= x >> 13;
    noise[i] = (static_cast<float>(x >> 8) * 0x1p-24F - 0.5F) * 3.4641016F;
  }
  return noise;
}

class KokoroGoldenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto weights = KokoroWeights::Open(Package() / "model.safetensors", at::kCPU);
    ASSERT_TRUE(weights.ok()) << weights.status();
    weights_ = std::make_unique<KokoroWeights>(*std::move(weights));
    encoder_ = std::make_unique<KokoroEncoder>(*weights_);
    ASSERT_TRUE(weights_->status().ok()) << weights_->status();
  }

  // Returns the style for so many phonemes with the marks of both ends.
  at::Tensor Style(const std::vector<char>& voice, size_t phonemes) {
    const std::string name = "voices." + std::string(voice.begin(), voice.end());
    return weights_->Take(name, {-1, -1}).narrow(0, static_cast<int64_t>(phonemes) - 3, 1);
  }

  std::vector<int64_t> Frames(const Golden& golden) {
    const at::Tensor style = Style(golden.voice, golden.phonemes.size());
    const int64_t half = style.size(1) / 2;
    return encoder_->Forward(golden.phonemes, style.narrow(1, half, half)).frames;
  }

  struct Durations {
    Golden golden;
    std::vector<int64_t> frames;  // ours
  };

  // Returns the sentences of the durations file. They are encoded once for all tests.
  const std::vector<Durations>& AllDurations() {
    static const std::vector<Durations> all = [this] {
      std::ifstream stream(MILLRACE_KOKORO_DURATIONS, std::ios::binary);
      std::vector<Durations> durations;
      for (Golden golden; ReadDurations(stream, golden);) durations.push_back({golden, {}});
      EXPECT_EQ(durations.size(), 50U);
      durations = testing::GoldenShare(std::move(durations));
      for (Durations& one : durations) one.frames = Frames(one.golden);
      return durations;
    }();
    return all;
  }

  const at::InferenceMode inference_;
  std::unique_ptr<KokoroWeights> weights_;
  std::unique_ptr<KokoroEncoder> encoder_;
};

std::vector<float> ToVector(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

at::Tensor ToCurve(const std::vector<float>& values) {
  return at::from_blob(const_cast<float*>(values.data()),
                       {1, 1, static_cast<int64_t>(values.size())}, at::kFloat)
      .clone();
}

// The samples are compared from PyTorch's own curves on: a pitch that differs in its last bit moves
// the phases of the harmonics, in PyTorch as well as here.
TEST_F(KokoroGoldenTest, CurvesAndSamplesEqualThoseOfPyTorch) {
  const KokoroDecoder decoder(*weights_, kSampleRate);
  ASSERT_TRUE(weights_->status().ok()) << weights_->status();
  const int64_t half = decoder.style_channels();
  float furthest_pitch = 0;
  float greatest = 0;
  float greatest_alone = 0;
  const std::vector<Golden> all = ReadGolden();
  ASSERT_GE(all.size(), 2U);
  for (const Golden& golden : all) {
    const at::Tensor style = Style(golden.voice, golden.phonemes.size());
    const auto encoded = encoder_->Forward(golden.phonemes, style.narrow(1, half, half));
    ASSERT_EQ(encoded.frames, golden.frames);
    const auto curves = decoder.Predict(encoded, style);
    const float pitch = testing::GreatestDifference(golden.pitch, ToVector(curves.pitch));
    EXPECT_LE(pitch, kCurveTolerance * *std::max_element(golden.pitch.begin(), golden.pitch.end()));
    EXPECT_LE(testing::GreatestDifference(golden.loudness, ToVector(curves.loudness)),
              kCurveTolerance * *std::max_element(golden.loudness.begin(), golden.loudness.end()));

    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    const std::vector<float> noise = HashNoise(static_cast<size_t>(
        frames * weights_->shape().samples_per_frame() * decoder.noise_per_sample()));
    std::vector<float> expected;
    for (const int16_t sample : golden.samples)
      expected.push_back(static_cast<float>(sample) / kFullScale);
    const auto samples = decoder.Decode(encoded, {ToCurve(golden.pitch), ToCurve(golden.loudness)},
                                        style, noise, [] { return false; });
    ASSERT_TRUE(samples);
    const float difference = testing::GreatestDifference(expected, *samples);
    EXPECT_LE(difference, kTolerance) << golden.phonemes.size() << " phonemes";
    const auto alone = decoder.Decode(encoded, curves, style, noise, [] { return false; });
    ASSERT_TRUE(alone);
    furthest_pitch = std::max(furthest_pitch, pitch);
    greatest = std::max(greatest, difference);
    greatest_alone = std::max(greatest_alone, testing::GreatestDifference(expected, *alone));
  }
  std::printf("%zu sentences: pitch within %.2e Hz; samples within %.2e, of own pitch %.2e\n",
              all.size(), furthest_pitch, greatest, greatest_alone);
}

// From the same curves on, as above; all sentences at once, as on an accelerator.
TEST_F(KokoroGoldenTest, ThreadsTogetherGiveTheSameBits) {
  const KokoroDecoder decoder(*weights_, kSampleRate);
  ASSERT_TRUE(weights_->status().ok()) << weights_->status();
  const std::vector<Golden> all = ReadGolden();
  const Golden& golden =
      *std::ranges::min_element(all, {}, [](const Golden& one) { return one.samples.size(); });
  const at::Tensor style = Style(golden.voice, golden.phonemes.size());
  const int64_t half = decoder.style_channels();
  const auto speak = [&] {
    const auto encoded = encoder_->Forward(golden.phonemes, style.narrow(1, half, half));
    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    std::vector<float> noise = HashNoise(static_cast<size_t>(
        frames * weights_->shape().samples_per_frame() * decoder.noise_per_sample()));
    return *decoder.Decode(encoded, decoder.Predict(encoded, style), style, std::move(noise),
                           [] { return false; });
  };
  const std::vector<float> alone = speak();
  testing::ThreadsLoopRunner runner(8);
  const kernels::ScopedLoopRunner scope(&runner);
  EXPECT_EQ(speak(), alone);
  EXPECT_GT(runner.loops(), 100);
}

// Lengths are equal, because what gives them is in float32 in both. The bounds are what onnxruntime
// reaches on the original file with the same layers in int8, by measure_onnxruntime_int8.py.
TEST_F(KokoroGoldenTest, Int8IsNearerToFloat32ThanThatOfOnnxruntime) {
  if (!kernels::HasInt8DotProducts()) GTEST_SKIP() << "no model is in int8 on such a processor";
  const KokoroDecoder decoder(*weights_, kSampleRate);
  const KokoroDecoder int8(*weights_, kSampleRate, /*padded=*/false, /*exact=*/false,
                           kernels::Precision::kInt8);
  ASSERT_TRUE(weights_->status().ok()) << weights_->status();
  const int64_t half = decoder.style_channels();
  std::ifstream stream(MILLRACE_KOKORO_DURATIONS, std::ios::binary);
  std::vector<Golden> all;
  for (Golden golden; ReadDurations(stream, golden);) all.push_back(golden);
  for (const auto& [line, onnxruntime] :
       {std::pair{0, 0.391}, std::pair{20, 0.792}, std::pair{40, 0.959}}) {
    const Golden& golden = all.at(static_cast<size_t>(line));
    const at::Tensor style = Style(golden.voice, golden.phonemes.size());
    const auto encoded = encoder_->Forward(golden.phonemes, style.narrow(1, half, half));
    const auto curves = decoder.Predict(encoded, style);
    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    // The original file's source has no noise.
    const std::vector<float> noise(static_cast<size_t>(
        frames * weights_->shape().samples_per_frame() * decoder.noise_per_sample()));
    const auto speak = [&](const KokoroDecoder& by) {
      return *by.Decode(encoded, curves, style, noise, [] { return false; });
    };
    const std::vector<float> expected = speak(decoder);
    const std::vector<float> actual = speak(int8);
    ASSERT_EQ(actual.size(), expected.size());
    const double distance = speech::LogMelDistance(expected, actual);
    EXPECT_LE(distance, onnxruntime) << "sentence " << line;
    EXPECT_GT(distance, 0) << "sentence " << line;
    std::printf("%zu phonemes: int8 is %.3f dB from float32, onnxruntime's %.3f dB\n",
                golden.phonemes.size(), distance, onnxruntime);
  }
}

TEST_F(KokoroGoldenTest, APaddedBatchSpeaksAsEachAlone) {
  const KokoroDecoder decoder(*weights_, kSampleRate);
  const KokoroEncoder padded_encoder(*weights_, /*padded=*/true);
  const KokoroDecoder padded_decoder(*weights_, kSampleRate, /*padded=*/true);
  ASSERT_TRUE(weights_->status().ok()) << weights_->status();
  const int64_t half = decoder.style_channels();
  const int64_t samples_per_frame = weights_->shape().samples_per_frame();
  const KokoroBatch batch(padded_encoder, padded_decoder, samples_per_frame, "kokoro/1");
  models::FakeWorkerContext context;
  std::vector<Golden> all = ReadGolden();
  ASSERT_GE(all.size(), 2U);
  all.resize(2);
  std::vector<KokoroBatch::Sentence> sentences;
  for (const Golden& golden : all)
    sentences.push_back({golden.phonemes, Style(golden.voice, golden.phonemes.size())});
  const auto together = batch.Encode(sentences, context);

  std::vector<KokoroEncoder::Output> encoded;
  std::vector<KokoroDecoder::Curves> curves;
  int64_t longest = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const at::Tensor& style = sentences[i].style;
    encoded.push_back(encoder_->Forward(all[i].phonemes, style.narrow(1, half, half)));
    ASSERT_EQ(together[i].frames, encoded[i].frames);
    EXPECT_LE(testing::GreatestDifference(
                  ToVector(encoded[i].prosody),
                  ToVector(together[i].features.narrow(1, 0, encoded[i].prosody.size(2)))),
              1e-4F);
    curves.push_back(decoder.Predict(encoded[i], style));
    longest = std::max(longest, curves[i].pitch.size(2) / 2);
  }
  // With as much padding as there is in a bucket, and more.
  const int64_t frames = longest + longest / 4;
  const auto rows = static_cast<int64_t>(all.size());
  KokoroDecoder::PaddedInput input;
  input.features = at::zeros({rows, frames, together[0].features.size(1)});
  input.counts = at::ones({rows, 1, 1});
  input.style = at::cat({sentences[0].style, sentences[1].style});
  input.noise_keys = at::stack({speech::NoiseKey(0, 0), speech::NoiseKey(0, 1)});
  KokoroDecoder::Curves given{at::zeros({rows, 1, 2 * frames}), at::zeros({rows, 1, 2 * frames})};
  for (int64_t row = 0; row < rows; ++row) {
    const auto i = static_cast<size_t>(row);
    const int64_t count = curves[i].pitch.size(2) / 2;
    at::Tensor features = input.features[row];
    int64_t frame = 0;
    for (size_t j = 0; j < encoded[i].frames.size(); ++j) {
      features.narrow(0, frame, encoded[i].frames[j])
          .copy_(together[i].features[static_cast<int64_t>(j)].unsqueeze(0));
      frame += encoded[i].frames[j];
    }
    input.counts[row].fill_(static_cast<float>(count));
    given.pitch[row].narrow(1, 0, 2 * count).copy_(curves[i].pitch[0]);
    given.loudness[row].narrow(1, 0, 2 * count).copy_(curves[i].loudness[0]);
  }
  const KokoroDecoder::Curves predicted = padded_decoder.PredictPadded(input);
  const at::Tensor spoken = padded_decoder.DecodePadded(input, given);
  for (int64_t row = 0; row < rows; ++row) {
    const auto i = static_cast<size_t>(row);
    const int64_t count = curves[i].pitch.size(2) / 2;
    const std::vector<float> pitch = ToVector(curves[i].pitch);
    EXPECT_LE(
        testing::GreatestDifference(pitch, ToVector(predicted.pitch[row].narrow(1, 0, 2 * count))),
        kCurveTolerance * *std::max_element(pitch.begin(), pitch.end()));
    std::vector<float> noise(
        static_cast<size_t>(count * samples_per_frame * decoder.noise_per_sample()));
    speech::NoiseSource(0, static_cast<uint64_t>(row)).Fill(noise);
    const auto alone =
        decoder.Decode(encoded[i], curves[i], sentences[i].style, noise, [] { return false; });
    ASSERT_TRUE(alone);
    const float difference = testing::GreatestDifference(
        *alone, ToVector(spoken[row].narrow(0, 0, count * samples_per_frame)));
    EXPECT_LE(difference, kTolerance);
    std::printf("%ld of %ld frames: samples within %.2e\n", static_cast<long>(count),
                static_cast<long>(frames), difference);
  }
}

TEST_F(KokoroGoldenTest, DurationsAreThoseOfPyTorch) {
  std::vector<std::string> lines;
  std::ifstream file(MILLRACE_SOURCE_DIR "/tests/data/synthesis/kokoro_frames.txt");
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 50U);
  lines = testing::GoldenShare(std::move(lines));
  int64_t phonemes = 0;
  int64_t different = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::istringstream numbers(lines[i]);
    for (const int64_t frames : AllDurations()[i].frames) {
      int64_t expected = 0;
      ASSERT_TRUE(numbers >> expected);
      ASSERT_LE(std::abs(frames - expected), 1) << lines[i];
      different += frames == expected ? 0 : 1;
      ++phonemes;
    }
  }
  EXPECT_GT(phonemes, 50 * static_cast<int64_t>(lines.size()));
  // A length next to a half may be rounded either way, by another order of the sums.
  EXPECT_LE(different, std::max<int64_t>(1, phonemes / 1000));
  std::printf("%ld of %ld phonemes differ from PyTorch\n", static_cast<long>(different),
              static_cast<long>(phonemes));
}

// The int8 file also rounds what goes between the layers, so a few phonemes differ by several
// frames, for PyTorch on the same weights just as much.
TEST_F(KokoroGoldenTest, DurationsAreNearlyThoseOfOnnxruntime) {
  int64_t phonemes = 0;
  int64_t equal = 0;
  int64_t near = 0;
  int64_t furthest = 0;
  for (const auto& [golden, frames] : AllDurations()) {
    ASSERT_EQ(frames.size(), golden.frames.size());
    for (size_t i = 0; i < frames.size(); ++i) {
      const int64_t off = std::abs(frames[i] - golden.frames[i]);
      ++phonemes;
      equal += off == 0 ? 1 : 0;
      near += off <= 1 ? 1 : 0;
      furthest = std::max(furthest, off);
    }
  }
  EXPECT_GE(equal, phonemes * 95 / 100);
  EXPECT_GE(near, phonemes * 995 / 1000);
  EXPECT_LE(furthest, 4);
  std::printf("%zu sentences: %ld of %ld phonemes last as long, %ld within 1 frame, furthest %ld\n",
              AllDurations().size(), static_cast<long>(equal), static_cast<long>(phonemes),
              static_cast<long>(near), static_cast<long>(furthest));
}

}  // namespace
}  // namespace millrace::kokoro
