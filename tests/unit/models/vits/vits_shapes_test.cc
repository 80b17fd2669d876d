// Each shape in which Piper's voices are published, with random weights, against onnxruntime on the
// file that the weights were converted from.

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "models/vits/aten_vits_decoder.h"
#include "models/vits/cpu_vits_decoder.h"
#include "models/vits/vits_encoder.h"
#include "models/vits/vits_weights.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/golden_file.h"

namespace millrace::vits {
namespace {

struct GoldenSpeech {
  int64_t speaker = 0;
  std::vector<int64_t> phonemes;
  std::vector<float> samples;
};

std::vector<GoldenSpeech> ReadSpeech(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<GoldenSpeech> all;
  GoldenSpeech speech;
  while (stream.read(reinterpret_cast<char*>(&speech.speaker), sizeof(speech.speaker)) &&
         testing::ReadArray(stream, speech.phonemes) && testing::ReadArray(stream, speech.samples))
    all.push_back(speech);
  return all;
}

class VitsShapesTest : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(VitsShapesTest, SamplesEqualThoseOfOnnxruntime) {
  const at::InferenceMode inference;
  const auto [shape, native] = GetParam();
  const std::filesystem::path folder = std::filesystem::path(MILLRACE_VITS_SHAPES) / shape;
  auto weights = VitsWeights::Open(folder / "model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const VitsEncoder encoder(*weights);
  std::unique_ptr<VitsDecoder> decoder;
  if (native) {
    decoder = std::make_unique<CpuVitsDecoder>(*weights, encoder.latent());
  } else {
    decoder = std::make_unique<AtenVitsDecoder>(*weights, encoder.latent(), shape);
  }
  ASSERT_TRUE(weights->status().ok()) << weights->status();
  const std::vector<GoldenSpeech> all = ReadSpeech(folder / "golden.bin");
  ASSERT_EQ(all.size(), 2U);
  models::FakeWorkerContext context;
  for (const GoldenSpeech& golden : all) {
    const std::vector<float> silence(2 * golden.phonemes.size());
    auto encoded = encoder.Forward(golden.phonemes, silence, 0, 1, golden.speaker);
    const int64_t frames =
        std::accumulate(encoded.frames.begin(), encoded.frames.end(), int64_t{0});
    const std::vector<float> noise(static_cast<size_t>(frames * encoder.latent()));
    const auto samples =
        decoder->Start({encoded.statistics, encoded.frames, noise, 0, golden.speaker})
            ->Generate(
                0, frames, [] { return false; }, context);
    ASSERT_TRUE(samples);
    ASSERT_EQ(samples->size(), golden.samples.size());
    float greatest = 0;
    for (size_t i = 0; i < samples->size(); ++i)
      greatest = std::max(greatest, std::abs((*samples)[i] - golden.samples[i]));
    EXPECT_LE(greatest, 1e-3F) << golden.phonemes.size() << " phonemes";
  }
}

// The other decoder is that of devices.
INSTANTIATE_TEST_SUITE_P(Shapes, VitsShapesTest,
                         ::testing::Values(std::tuple("x_low_1", true), std::tuple("x_low_3", true),
                                           std::tuple("low_3", true), std::tuple("medium_1", true),
                                           std::tuple("high_1", true), std::tuple("high_3", true),
                                           std::tuple("x_low_3", false),
                                           std::tuple("high_1", false)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_native" : "_aten");
                         });

}  // namespace
}  // namespace millrace::vits
