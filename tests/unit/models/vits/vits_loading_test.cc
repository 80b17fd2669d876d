// Voices that are refused at load, and the file, tensor or program that the error names.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/precision.h"
#include "tests/fakes/write_safetensors.h"
#include "tests/unit/models/speech/speak.h"
#include "tests/unit/models/vits/vits_fixture.h"

namespace millrace::vits {
namespace {

using VitsLoadingTest = VitsFixture;

TEST_F(VitsLoadingTest, AMissingEspeakIsFoundWhenLoading) {
  WriteTinyVits(folder_.path(), {});
  context_.espeak.program = "no-such-espeak";
  const auto model = TryLoad();
  EXPECT_EQ(model.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(model.status().message().find("install the package espeak-ng"), std::string::npos)
      << model.status();
}

TEST_F(VitsLoadingTest, AVoiceThatReadsLettersNeedsNoEspeak) {
  context_.espeak.program = "no-such-espeak";
  const auto model = Load({.reads_letters = true});
  ASSERT_NE(model, nullptr);
  const std::vector<float> spoken = speech::Samples(*model, speech::Say("Hello, b\u00e9ll."));
  EXPECT_GT(spoken.size(), 1000U);
  // The voice has no symbol for the accent, and capital letters are read as small ones.
  EXPECT_EQ(speech::Samples(*model, speech::Say("HELLO, bell.")), spoken);
  EXPECT_EQ(model->Validate(speech::Say("\u6771\u4eac")).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(VitsLoadingTest, DamagedWeightsAreAnErrorThatNamesTheFile) {
  WriteTinyVits(folder_.path(), {});
  const std::filesystem::path file = folder_.path() / "model.safetensors";
  const auto size = std::filesystem::file_size(file);
  for (const uintmax_t keep : {uintmax_t{0}, uintmax_t{7}, uintmax_t{100}, size / 2, size - 4}) {
    WriteTinyVits(folder_.path(), {});
    std::filesystem::resize_file(file, keep);
    const auto model = TryLoad();
    ASSERT_FALSE(model.ok()) << keep;
    EXPECT_NE(model.status().message().find("model.safetensors"), std::string::npos)
        << model.status();
  }
}

TEST_F(VitsLoadingTest, WeightsOfAnotherKindAreRefused) {
  WriteTinyVits(folder_.path(), {});
  testing::WriteSafetensors(folder_.path() / "model.safetensors",
                            R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "0000");
  const auto model = TryLoad();
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("not the weights of a VITS voice"), std::string::npos)
      << model.status();
}

TEST_F(VitsLoadingTest, AMissingTensorIsNamed) {
  WriteTinyVits(folder_.path(), {});
  const std::filesystem::path file = folder_.path() / "model.safetensors";
  std::ifstream in(file, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const size_t at = bytes.find("dec.ups.1.bias");
  bytes[at] = 'x';
  std::ofstream(file, std::ios::binary) << bytes;
  const auto model = TryLoad();
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("dec.ups.1.bias"), std::string::npos) << model.status();
}

TEST_F(VitsLoadingTest, WeightsThatDoNotFitEachOtherAreRefusedByName) {
  const auto refused = [&](const TinyVits& shape) {
    WriteTinyVits(folder_.path(), shape);
    const auto model = TryLoad();
    EXPECT_EQ(model.status().code(), absl::StatusCode::kDataLoss);
    return std::string(model.status().message());
  };
  const auto expect = [&](const TinyVits& shape, const std::string& message) {
    const std::string actual = refused(shape);
    EXPECT_NE(actual.find("model.safetensors: " + message), std::string::npos) << actual;
  };
  expect({.latent = 21}, "enc_p.proj.weight has 42 outputs, which is no multiple of 4");
  expect({.shapes = {{"flow.flows.2.pre.weight", {64, 10, 1}}, {"flow.flows.2.pre.bias", {64}}}},
         "flow.flows.2.pre.weight has 64 outputs, those before it 24");
  expect({.shapes = {{"dec.conv_pre.bias", {8}}}}, "dec.conv_pre.bias is FP32 [8], expected");
  expect({.block_kernels = {3, 4}}, "dec.resblocks.1.convs.0.weight has 4 taps; only an odd");
  expect({.shapes = {{"dec.conv_post.weight", {1, 10, 6}}}}, "dec.conv_post.weight has 6 taps");
  expect({.shapes = {{"flow.flows.4.enc.in_layers.1.weight", {48, 24, 2}}}},
         "flow.flows.4.enc.in_layers.1.weight has 2 taps");
  expect({.shapes = {{"dec.ups.0.weight", {40, 20, 3}}}},
         "dec.ups.0.weight has 3 taps, fewer than its stride of 4");
  expect({.generator = 8, .strides = {64, 64, 64}},
         "upsample_strides 64 64 64 make a frame longer than 65536 samples");
}

TEST_F(VitsLoadingTest, Int8RefusesWeightsThatAreNotFinite) {
  if (!kernels::HasInt8DotProducts()) GTEST_SKIP() << "no model is in int8 on such a processor";
  WriteTinyVits(folder_.path(), {.values = {{"dec.resblocks.0.convs.0.weight", NAN}}});
  config_.precision.asked = kernels::Precision::kInt8;
  const auto model = TryLoad();
  EXPECT_EQ(model.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(model.status().message().find("dec.resblocks.0.convs.0.weight has a value that is not "
                                          "finite, which PRECISION_INT8 cannot round"),
            std::string::npos)
      << model.status();
  config_.precision = {.asked = {}, .int8_distance_db = 0.3F};
  EXPECT_TRUE(TryLoad().ok());  // AUTO never fails
}

TEST_F(VitsLoadingTest, AVoiceWithMoreSymbolsThanTheWeightsIsRefused) {
  WriteTinyVits(folder_.path(), {.symbols = 10});
  const auto model = TryLoad();
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("the weights know 10 symbols"), std::string::npos)
      << model.status();
}

}  // namespace
}  // namespace millrace::vits
