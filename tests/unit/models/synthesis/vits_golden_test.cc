// The real voice against onnxruntime on the original file: the figures that the converter's numpy network was held to.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "models/synthesis/vits_decoder.h"
#include "models/synthesis/vits_encoder.h"
#include "models/synthesis/vits_weights.h"

namespace millrace::models {
namespace {

constexpr float kTolerance = 1e-3F;

struct Golden {
  std::vector<int64_t> phonemes;
  std::vector<float> samples;
};

template <typename T>
bool ReadArray(std::istream& stream, std::vector<T>& values) {
  int64_t count = 0;
  if (!stream.read(reinterpret_cast<char*>(&count), sizeof(count))) return false;
  values.resize(static_cast<size_t>(count));
  stream.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  return static_cast<bool>(stream);
}

std::vector<Golden> ReadGolden() {
  std::ifstream stream(MILLRACE_VITS_GOLDEN, std::ios::binary);
  std::vector<Golden> all;
  for (Golden golden; ReadArray(stream, golden.phonemes) && ReadArray(stream, golden.samples);) all.push_back(golden);
  return all;
}

std::filesystem::path ModelsFolder() {
  const char* folder = std::getenv("MILLRACE_MODELS");
  return folder != nullptr ? folder : MILLRACE_SOURCE_DIR "/var/models";
}

float GreatestDifference(const std::vector<float>& expected, const at::Tensor& actual) {
  if (actual.numel() != static_cast<int64_t>(expected.size())) return INFINITY;
  const float* data = actual.const_data_ptr<float>();
  float greatest = 0;
  for (size_t i = 0; i < expected.size(); ++i) greatest = std::max(greatest, std::abs(expected[i] - data[i]));
  return greatest;
}

TEST(VitsGoldenTest, SamplesEqualThoseOfOnnxruntime) {
  const at::InferenceMode inference;
  auto weights = VitsWeights::Open(ModelsFolder() / "piper-en-us-joe/1/model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const VitsEncoder encoder(*weights);
  const VitsDecoder decoder(*weights, encoder.latent());
  ASSERT_TRUE(weights->status().ok()) << weights->status();
  const std::vector<Golden> all = ReadGolden();
  ASSERT_EQ(all.size(), 20U);
  for (const Golden& golden : all) {
    const auto length = static_cast<int64_t>(golden.phonemes.size());
    const at::Tensor ids = at::from_blob(const_cast<int64_t*>(golden.phonemes.data()), {1, length}, at::kLong);
    const auto encoded = encoder.Forward(ids, at::zeros({1, 2, length}), 0, 1, 0);
    const at::Tensor prior = encoded.statistics.narrow(1, 0, encoder.latent()).repeat_interleave(encoded.frames, 2);
    const float difference = GreatestDifference(golden.samples, decoder.Forward(prior, 0));
    EXPECT_LE(difference, kTolerance) << length << " phonemes";
  }
}

}  // namespace
}  // namespace millrace::models
