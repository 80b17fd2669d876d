// Batches of VITS against sentences alone at their own lengths, on small random voices and on the
// CPU.

#include "models/vits/vits_batch.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/kernels/conv_kernels.h"
#include "models/speech/device_noise.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/speech/ran_operators.h"
#include "tests/unit/models/vits/batch_comparison.h"
#include "tests/unit/models/vits/tiny_vits.h"

namespace millrace::vits {
namespace {

// Minimal filtering has several times the error of direct sums.
float Tolerance() { return 2e-4F + 16 * kernels::GetConvKernels().product_error; }

TEST(DrawNoiseRowsTest, GivesTheRowsOfNoiseSource) {
  const at::InferenceMode inference;
  for (const int64_t count : {2, 20, 192, 6, 10}) {
    std::vector<at::Tensor> keys;
    const std::vector<int64_t> rows = {0, 1, 7, 3, 12345};
    for (size_t i = 0; i < rows.size(); ++i)
      keys.push_back(speech::NoiseKey(0xFEDCBA9876543210 * i, i));
    const at::Tensor drawn =
        speech::DrawNoiseRows(at::stack(keys), at::tensor(rows), count).contiguous();
    for (size_t i = 0; i < rows.size(); ++i) {
      std::vector<float> expected(static_cast<size_t>((rows[i] + 1) * count));
      speech::NoiseSource(0xFEDCBA9876543210 * i, i).Fill(expected);
      for (int64_t j = 0; j < count; ++j) {
        EXPECT_NEAR(drawn.const_data_ptr<float>()[static_cast<int64_t>(i) * count + j],
                    expected[static_cast<size_t>(rows[i] * count + j)], 1e-5F)
            << count << ' ' << i << ' ' << j;
      }
    }
  }
}

struct BatchCase {
  const char* name;
  TinyVits shape;
};

class VitsBatchTest : public ::testing::TestWithParam<BatchCase> {
 protected:
  void SetUp() override {
    WriteTinyVits(folder_.path(), GetParam().shape);
    voice_ = std::make_unique<BatchComparison>(folder_.path() / "model.safetensors",
                                               at::Device(at::kCPU));
  }

  const at::InferenceMode inference_;
  const testing::TemporaryFolder folder_;
  models::FakeWorkerContext context_;
  std::unique_ptr<BatchComparison> voice_;
};

TEST_P(VitsBatchTest, SpeaksEachSentenceAlone) {
  for (const size_t phonemes : {1, 2, 3, 31, 32, 33, 130}) {
    BatchComparison one(folder_.path() / "model.safetensors", at::Device(at::kCPU));
    one.Add(phonemes);
    one.ExpectEqual(context_, Tolerance());
  }
}

TEST_P(VitsBatchTest, SpeaksSentencesTogetherAsAlone) {
  for (const size_t phonemes : {20, 3, 48, 20, 1, 33, 7, 100, 64, 12, 5, 31, 32, 2, 90, 20, 17, 55})
    voice_->Add(phonemes);
  voice_->ExpectEqual(context_, Tolerance());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, VitsBatchTest,
    ::testing::Values(
        BatchCase{"Plain", {}}, BatchCase{"Paired", {.paired = true}},
        BatchCase{"Speakers", {.speakers = 3}},
        // Rows of noise that begin within a block of the generator.
        BatchCase{"LatentOfHalfABlock", {.latent = 22}},
        BatchCase{"EvenTaps",
                  {.shapes = {{"enc_p.encoder.ffn_layers.0.conv_1.weight", {48, 24, 4}}}}},
        BatchCase{"FarCoupling",
                  {.shapes = {{"flow.flows.4.enc.in_layers.0.weight", {48, 24, 31}}}}},
        BatchCase{"WideBlocks", {.block_kernels = {3, 7, 11}, .block_dilations = {1, 3, 12}}}),
    [](const auto& info) { return info.param.name; });

class TinyBatchTest : public ::testing::Test {
 protected:
  TinyBatchTest() { WriteTinyVits(folder_.path(), {.speakers = 2}); }

  const at::InferenceMode inference_;
  const testing::TemporaryFolder folder_;
  models::FakeWorkerContext context_;
};

TEST_F(TinyBatchTest, TheForwardsNeedNoNumberFromTheDevice) {
  BatchComparison voice(folder_.path() / "model.safetensors", at::Device(at::kCPU));
  voice.Add(20);
  voice.Add(9);
  const std::set<std::string> seen =
      speech::OperatorsWithoutTheHost([&] { voice.Together(context_); });
  EXPECT_TRUE(seen.contains("aten::gather") && seen.contains("aten::tanh"));
}

TEST_F(TinyBatchTest, GroupsFillOneAxisAndLongSentencesGoAlone) {
  const BatchComparison voice(folder_.path() / "model.safetensors", at::Device(at::kCPU));
  using Groups = std::vector<std::vector<size_t>>;
  const auto group = [&](const std::vector<int64_t>& frames) {
    return voice.batch().Group(frames);
  };
  ASSERT_GT(voice.gap(), 0);
  EXPECT_EQ(group({}), Groups{});
  EXPECT_EQ(group({9000}), Groups{{0}});
  EXPECT_EQ(group({100, 101, 99, 102}), (Groups{{0, 1, 2, 3}}));
  EXPECT_EQ(group({2048, 2048 - voice.gap(), 1}), (Groups{{0, 1}, {2}}));
  EXPECT_EQ(group({2048, 2049 - voice.gap()}), (Groups{{0}, {1}}));
  EXPECT_EQ(group({9000, 1, 9000}), (Groups{{0}, {1}, {2}}));
}

}  // namespace
}  // namespace millrace::vits
