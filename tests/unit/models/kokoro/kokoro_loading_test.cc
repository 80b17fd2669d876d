// Packages of Kokoro that are damaged or do not fit.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/precision.h"
#include "tests/unit/models/kokoro/kokoro_fixture.h"

namespace millrace::kokoro {
namespace {

using KokoroLoadingTest = KokoroFixture;

TEST_F(KokoroLoadingTest, DamagedWeightsAreAnErrorThatNamesTheFile) {
  WriteTinyKokoro(folder_.path(), {});
  const std::filesystem::path file = folder_.path() / "model.safetensors";
  const auto size = std::filesystem::file_size(file);
  for (const uintmax_t keep : {uintmax_t{0}, uintmax_t{7}, uintmax_t{100}, size / 2, size - 4}) {
    WriteTinyKokoro(folder_.path(), {});
    std::filesystem::resize_file(file, keep);
    const auto model = TryLoadAgain();
    ASSERT_FALSE(model.ok()) << keep;
    EXPECT_NE(model.status().message().find("model.safetensors"), std::string::npos)
        << model.status();
  }
}

TEST_F(KokoroLoadingTest, EveryMissingTensorIsNamed) {
  WriteTinyKokoro(folder_.path(), {});
  const std::filesystem::path file = folder_.path() / "model.safetensors";
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (const char* name :
       {"bert.embeddings.position_embeddings.weight", "bert_encoder.bias",
        "predictor.text_encoder.lstms.2.weight_hh_l0_reverse", "predictor.lstm.bias_ih_l0",
        "text_encoder.cnn.1.1.gamma", "predictor.F0.1.norm2.fc.weight", "decoder.N_conv.weight",
        "decoder.decode.1.conv2.weight", "decoder.generator.noise_res.1.alpha1.2",
        "decoder.generator.ups.0.bias", "decoder.generator.m_source.l_linear.weight",
        "decoder.generator.conv_post.weight", "voices.ben"}) {
    std::string damaged = bytes;
    const size_t at = damaged.find("\"" + std::string(name) + "\"");
    ASSERT_NE(at, std::string::npos) << name;
    damaged[at + 1] = 'x';
    std::ofstream(file, std::ios::binary) << damaged;
    const auto model = TryLoadAgain();
    ASSERT_FALSE(model.ok()) << name;
    EXPECT_NE(model.status().message().find(name), std::string::npos) << model.status();
  }
}

TEST_F(KokoroLoadingTest, WeightsThatDoNotFitEachOtherAreRefusedByName) {
  const auto expect = [&](const TinyKokoro& shape, const std::string& message) {
    const auto model = TryLoad(shape);
    EXPECT_EQ(model.status().code(), absl::StatusCode::kDataLoss) << message;
    EXPECT_NE(model.status().message().find(message), std::string::npos) << model.status();
  };
  expect({.symbols = 20}, "vocab has the number 49, the weights know 20 symbols");
  expect({.metadata = {{"fft", "8 3"}}}, "its metadata fft is '8 3'");
  expect({.metadata = {{"albert_heads", "5"}}}, "has 12 outputs, no multiple of 5 heads");
  expect({.metadata = {{"upsample_strides", "64 64 64"}}}, "its metadata upsample_strides is");
  expect({.metadata = {{"block_dilations", "1 3;x"}}}, "its metadata block_dilations is");
  expect({.shapes = {{"voices.ben", {49, 12}}}}, "voices.ben has 49 rows, voices.anna has 50");
  expect({.shapes = {{"voices.ben", {50, 10}}}}, "voices.ben is FP32 [50, 10], expected");
  expect({.shapes = {{"decoder.generator.noise_convs.0.weight", {34, 10, 3}}}},
         "decoder.generator.noise_convs.0.weight has 3 taps, expected 4");
  expect({.shapes = {{"decoder.generator.resblocks.2.convs1.0.weight", {5, 5, 4}}}},
         "decoder.generator.resblocks.2.convs1.0.weight has 4 taps; only an odd");
  expect({.positions = 2}, "has no room for a phoneme");
}

TEST_F(KokoroLoadingTest, Int8IsForProcessorsWithDotProducts) {
  config_.precision.asked = kernels::Precision::kInt8;
  context_.shapes = models::ShapePolicy::kFew;  // as on a device
  const auto padded = TryLoad({});
  EXPECT_EQ(padded.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(padded.status().message().find("precision: PRECISION_INT8 is for the CPU"),
            std::string::npos)
      << padded.status();
  context_.shapes = models::ShapePolicy::kExact;
  const auto model = TryLoad({});
  EXPECT_EQ(model.ok(), kernels::HasInt8DotProducts()) << model.status();
  if (model.ok()) return;
  EXPECT_NE(model.status().message().find(
                "precision: PRECISION_INT8 would be slower than float32 on this processor, which "
                "has no dot products of int8; allowed here are PRECISION_FLOAT32 and "
                "PRECISION_AUTO"),
            std::string::npos)
      << model.status();
}

TEST_F(KokoroLoadingTest, Int8RefusesWeightsThatAreNotFinite) {
  if (!kernels::HasInt8DotProducts()) GTEST_SKIP() << "no model is in int8 on such a processor";
  config_.precision.asked = kernels::Precision::kInt8;
  const std::string tensor = "decoder.generator.resblocks.0.convs1.0.weight";
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    const auto model = TryLoad({.values = {{tensor, value}}});
    EXPECT_EQ(model.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(model.status().message().find(
                  tensor + " has a value that is not finite, which PRECISION_INT8 cannot round"),
              std::string::npos)
        << model.status();
  }
  config_.precision = {.asked = {}, .int8_distance_db = 0.3F};
  EXPECT_TRUE(TryLoad({.values = {{tensor, NAN}}}).ok());  // AUTO never fails
}

TEST_F(KokoroLoadingTest, AutoIsNeverRefused) {
  config_.precision.asked.reset();
  for (const float distance : {0.0F, 0.3F, 99.0F}) {
    config_.precision.int8_distance_db = distance;
    for (const auto shapes : {models::ShapePolicy::kExact, models::ShapePolicy::kFew}) {
      context_.shapes = shapes;
      const auto model = TryLoad({});
      EXPECT_TRUE(model.ok()) << model.status();
    }
  }
}

TEST_F(KokoroLoadingTest, ALanguageWithoutAFrontEndIsRefused) {
  const auto model = TryLoad({}, "", "fr");
  EXPECT_NE(model.status().message().find("language: there is no way from 'fr'"), std::string::npos)
      << model.status();
}

}  // namespace
}  // namespace millrace::kokoro
