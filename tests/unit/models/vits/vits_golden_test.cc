// The real voice against onnxruntime on the original file: the figures that the converter's numpy
// network was held to.

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/parallel_for.h"
#include "models/kernels/precision.h"
#include "models/speech/noise.h"
#include "models/vits/aten_vits_decoder.h"
#include "models/vits/cpu_vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/vits_weights.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/golden_file.h"
#include "tests/fakes/golden_share.h"
#include "tests/fakes/models_folder.h"
#include "tests/fakes/threads_loop_runner.h"
#include "tests/unit/models/speech/log_mel.h"
#include "tests/unit/models/vits/batch_comparison.h"

namespace millrace::vits {
namespace {

constexpr float kTolerance = 1e-3F;

struct Golden {
  std::vector<int64_t> phonemes;
  std::vector<float> samples;
};

std::vector<Golden> ReadGolden() {
  std::ifstream stream(MILLRACE_VITS_GOLDEN, std::ios::binary);
  std::vector<Golden> all;
  for (Golden golden;
       testing::ReadArray(stream, golden.phonemes) && testing::ReadArray(stream, golden.samples);)
    all.push_back(golden);
  return all;
}

class VitsGoldenTest : public ::testing::TestWithParam<bool> {};

TEST_P(VitsGoldenTest, SamplesEqualThoseOfOnnxruntime) {
  const at::InferenceMode inference;
  auto weights =
      VitsWeights::Open(testing::ModelsFolder() / "piper-en-us-joe/1/model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const VitsEncoder encoder(*weights);
  std::unique_ptr<VitsDecoder> decoder;
  if (GetParam()) {
    decoder = std::make_unique<CpuVitsDecoder>(*weights, encoder.latent());
  } else {
    decoder = std::make_unique<AtenVitsDecoder>(*weights, encoder.latent(), "joe/1");
  }
  ASSERT_TRUE(weights->status().ok()) << weights->status();
  const std::vector<Golden> all = ReadGolden();
  ASSERT_EQ(all.size(), 20U);
  models::FakeWorkerContext context;
  float greatest = 0;
  for (const Golden& golden : testing::GoldenShare(all)) {
    const std::vector<float> silence(2 * golden.phonemes.size());
    auto encoded = encoder.Forward(golden.phonemes, silence, 0, 1, 0);
    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    const std::vector<float> noise(static_cast<size_t>(frames * encoder.latent()));
    const auto samples = decoder->Start({encoded.statistics, encoded.frames, noise, 0, 0})
                             ->Generate(
                                 0, frames, [] { return false; }, context);
    ASSERT_TRUE(samples);
    const float difference = testing::GreatestDifference(golden.samples, *samples);
    EXPECT_LE(difference, kTolerance) << golden.phonemes.size() << " phonemes";
    greatest = std::max(greatest, difference);
  }
  RecordProperty("greatest_difference", std::to_string(greatest));
}

// The bounds are what onnxruntime reaches on the original file with the same layers but the
// upsampling in int8, by measure_onnxruntime_int8.py.
TEST(CpuVitsGoldenTest, Int8IsNearerToFloat32ThanThatOfOnnxruntime) {
  if (!kernels::HasInt8DotProducts()) GTEST_SKIP() << "no model is in int8 on such a processor";
  const at::InferenceMode inference;
  auto weights =
      VitsWeights::Open(testing::ModelsFolder() / "piper-en-us-joe/1/model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const VitsEncoder encoder(*weights);
  const CpuVitsDecoder decoder(*weights, encoder.latent());
  const CpuVitsDecoder int8(*weights, encoder.latent(), kernels::Precision::kInt8);
  ASSERT_TRUE(weights->status().ok()) << weights->status();
  const std::vector<Golden> all = ReadGolden();
  models::FakeWorkerContext context;
  for (const auto& [sentence, onnxruntime] :
       {std::pair{0, 0.712}, std::pair{7, 1.023}, std::pair{13, 0.804}}) {
    const Golden& golden = all.at(static_cast<size_t>(sentence));
    const std::vector<float> silence(2 * golden.phonemes.size());
    const auto encoded = encoder.Forward(golden.phonemes, silence, 0, 1, 0);
    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    const std::vector<float> noise(static_cast<size_t>(frames * encoder.latent()));
    const auto speak = [&](const VitsDecoder& by) {
      return *by.Start({encoded.statistics, encoded.frames, noise, 0, 0})
                  ->Generate(
                      0, frames, [] { return false; }, context);
    };
    const double distance = speech::LogMelDistance(speak(decoder), speak(int8));
    EXPECT_LE(distance, onnxruntime) << "sentence " << sentence;
    EXPECT_GT(distance, 0) << "sentence " << sentence;
    std::printf("%zu phonemes: int8 is %.3f dB from float32, onnxruntime's %.3f dB\n",
                golden.phonemes.size(), distance, onnxruntime);
  }
}

TEST(CpuVitsGoldenTest, ThreadsTogetherGiveTheSameBits) {
  const at::InferenceMode inference;
  auto weights =
      VitsWeights::Open(testing::ModelsFolder() / "piper-en-us-joe/1/model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const VitsEncoder encoder(*weights);
  const CpuVitsDecoder decoder(*weights, encoder.latent());
  ASSERT_TRUE(weights->status().ok()) << weights->status();
  const std::vector<Golden> all = ReadGolden();
  ASSERT_FALSE(all.empty());
  const Golden& golden = all.front();
  models::FakeWorkerContext context;
  const auto speak = [&] {
    const std::vector<float> silence(2 * golden.phonemes.size());
    auto encoded = encoder.Forward(golden.phonemes, silence, 0, 1, 0);
    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    std::vector<float> noise(static_cast<size_t>(frames * encoder.latent()));
    speech::NoiseSource(3, 0).Fill(noise);
    return *decoder.Start({encoded.statistics, encoded.frames, noise, 0.667F, 0})
                ->Generate(
                    0, frames, [] { return false; }, context);
  };
  const std::vector<float> alone = speak();
  testing::ThreadsLoopRunner runner(8);
  const kernels::ScopedLoopRunner scope(&runner);
  EXPECT_EQ(speak(), alone);
  EXPECT_GT(runner.loops(), 20);
}

// The real voice in one batch, as on a device, with all noise.
TEST(VitsBatchGoldenTest, SentencesTogetherEqualEachAlone) {
  const at::InferenceMode inference;
  BatchComparison voice(testing::ModelsFolder() / "piper-en-us-joe/1/model.safetensors",
                        at::Device(at::kCPU));
  std::vector<Golden> all = testing::GoldenShare(ReadGolden());
  ASSERT_FALSE(all.empty());
  all.resize(std::min<size_t>(all.size(), 5));
  for (Golden& golden : all) {
    const size_t number = golden.phonemes.size();
    voice.Add(std::move(golden.phonemes),
              {.noise_scale = 0.667F, .noise_w = 0.8F, .seed = number, .latent_stream = 1});
  }
  voice.Add(1);
  models::FakeWorkerContext context;
  voice.ExpectEqual(context, kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Decoders, VitsGoldenTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Native" : "Aten"; });

}  // namespace
}  // namespace millrace::vits
