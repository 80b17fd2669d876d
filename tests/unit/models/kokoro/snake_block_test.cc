// The native block against the one of ATen operators, with every set of kernels behind it.

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/kernels/conv_kernels.h"
#include "models/kernels/parallel_for.h"
#include "models/kokoro/aten_snake_block.h"
#include "models/kokoro/cpu_snake_block.h"
#include "models/kokoro/kokoro_extent.h"
#include "models/kokoro/kokoro_weights.h"
#include "models/speech/packed_conv.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/fakes/threads_loop_runner.h"
#include "tests/unit/models/kokoro/tiny_kokoro.h"

namespace millrace::kokoro {
namespace {

at::Tensor Signal(std::vector<int64_t> shape, double scale, double offset) {
  at::Tensor signal = at::empty(shape);
  for (int64_t i = 0; i < signal.numel(); ++i) {
    signal.mutable_data_ptr<float>()[i] =
        static_cast<float>(offset + scale * std::sin(0.37 * static_cast<double>(i * i % 1009)));
  }
  return signal;
}

float GreatestDifference(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  const at::Tensor x = a.contiguous();
  const at::Tensor y = b.contiguous();
  float greatest = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    greatest =
        std::max(greatest, std::abs(x.const_data_ptr<float>()[i] - y.const_data_ptr<float>()[i]));
  }
  return greatest;
}

// Runs a block over a signal [1, channels, time] and returns the result as such.
at::Tensor RunBlock(const CpuSnakeBlock& block, const at::Tensor& x, const at::Tensor& style,
                    SnakeScratch& scratch, CpuSnakeBlock::Result result = {},
                    const at::Tensor& added = {}) {
  const auto as_rows = [&](const at::Tensor& signal) {
    const at::Tensor rows = at::zeros({x.size(2), speech::PadChannels(x.size(1))});
    rows.narrow(1, 0, x.size(1)).copy_(signal[0].t());
    return rows;
  };
  const at::Tensor rows = as_rows(x);
  // The block must not read what lies in the memory of results.
  const at::Tensor results = added.defined()
                                 ? as_rows(added)
                                 : at::full_like(rows, std::numeric_limits<float>::quiet_NaN());
  result.rows = results.mutable_data_ptr<float>();
  result.added = added.defined();
  block.Run(rows, style, scratch, result);
  return results.narrow(1, 0, x.size(1)).t().unsqueeze(0);
}

TEST(SnakeBlockTest, CpuEqualsAten) {
  const at::InferenceMode inference;
  const testing::TemporaryFolder folder;
  WriteTinyKokoro(folder.path(), {});
  auto weights = KokoroWeights::Open(folder.path() / "model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  for (const auto& [number, channels] : {std::pair{0, 34}, std::pair{3, 5}}) {
    const std::string name = "decoder.generator.resblocks." + std::to_string(number);
    const CpuSnakeBlock native(*weights, name, channels, 6, {1, 3});
    const AtenSnakeBlock aten(*weights, name, channels, 6, {1, 3});
    ASSERT_TRUE(weights->status().ok()) << weights->status();
    const at::Tensor style = Signal({1, 6}, 0.5, 0);
    SnakeScratch scratch;
    for (kernels::Scratch* memory : {&scratch.sum, &scratch.middle})
      std::fill_n(memory->Take(200'000), 200'000, std::numeric_limits<float>::quiet_NaN());
    // Shorter than the convolutions reach, odd, and long; about 0 and far from it.
    for (const int64_t rows : {1, 2, 7, 65, 1000}) {
      for (const double offset : {0.0, 20.0}) {
        const at::Tensor x = Signal({1, channels, rows}, 2, offset);
        const auto extent = KokoroExtent::Of(at::full({1, 1, 1}, static_cast<double>(rows)), rows);
        const at::Tensor expected = aten.Run(x, style, extent);
        const float limit = 2e-4F + 16 * kernels::GetConvKernels().product_error;
        EXPECT_LE(GreatestDifference(expected, RunBlock(native, x, style, scratch)), limit)
            << channels << " channels, " << rows << " rows about " << offset;
        const at::Tensor added = Signal(x.sizes().vec(), 1, 0);
        EXPECT_LE(GreatestDifference(
                      at::leaky_relu((expected + added) * 0.25, 0.5),
                      RunBlock(native, x, style, scratch, {.scale = 0.25F, .slope = 0.5F}, added)),
                  limit)
            << channels << " channels, " << rows << " rows about " << offset;
      }
    }
  }
}

TEST(SnakeBlockTest, ThreadsTogetherGiveTheSameBits) {
  const at::InferenceMode inference;
  const testing::TemporaryFolder folder;
  WriteTinyKokoro(folder.path(), {});
  auto weights = KokoroWeights::Open(folder.path() / "model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const CpuSnakeBlock block(*weights, "decoder.generator.resblocks.0", 34, 6, {1, 3});
  const at::Tensor style = Signal({1, 6}, 0.5, 0);
  // More rows than a chunk has, and no multiple of them.
  const at::Tensor x = Signal({1, 34, 10'007}, 2, 1);
  SnakeScratch scratch;
  const at::Tensor alone = RunBlock(block, x, style, scratch);
  testing::ThreadsLoopRunner runner(8);
  const kernels::ScopedLoopRunner scope(&runner);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(GreatestDifference(alone, RunBlock(block, x, style, scratch)), 0);
  }
  EXPECT_GT(runner.loops(), 3);
}

TEST(SnakeBlockTest, Int8IsNearFloat32AndTheSameOnAnyThreads) {
  const at::InferenceMode inference;
  const testing::TemporaryFolder folder;
  WriteTinyKokoro(folder.path(), {});
  auto weights = KokoroWeights::Open(folder.path() / "model.safetensors", at::kCPU);
  ASSERT_TRUE(weights.ok()) << weights.status();
  const std::string name = "decoder.generator.resblocks.0";
  const CpuSnakeBlock floats(*weights, name, 34, 6, {1, 3});
  const CpuSnakeBlock int8(*weights, name, 34, 6, {1, 3}, kernels::Precision::kInt8);
  ASSERT_TRUE(weights->status().ok()) << weights->status();
  const at::Tensor style = Signal({1, 6}, 0.5, 0);
  SnakeScratch scratch;
  testing::ThreadsLoopRunner runner(8);
  for (const int64_t rows : {1, 7, 64, 65, 5'003}) {
    const at::Tensor x = Signal({1, 34, rows}, 2, 1);
    const at::Tensor expected = RunBlock(floats, x, style, scratch);
    const at::Tensor actual = RunBlock(int8, x, style, scratch);
    const double error = (actual - expected).norm().item<double>();
    EXPECT_GT(error, 0) << rows;  // it is rounded
    EXPECT_LE(error, 0.03 * expected.norm().item<double>()) << rows;
    const kernels::ScopedLoopRunner scope(&runner);
    EXPECT_EQ(GreatestDifference(actual, RunBlock(int8, x, style, scratch)), 0) << rows;
  }
}

TEST(SnakeKernelTest, IsExactFarFromZeroOnEveryProcessor) {
  constexpr int64_t kChannels = 16;
  constexpr int64_t kRows = 500;
  std::vector<float> input(kChannels * kRows), output(input.size());
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = 300.0F * std::sin(0.11F * static_cast<float>(i));
  const std::vector<float> scale(kChannels, 1.5F), shift(kChannels, -0.25F);
  const std::vector<float> alpha(kChannels, 2.5F), inverse(kChannels, 0.4F);
  for (const kernels::ConvKernels* kernels : kernels::SupportedConvKernels()) {
    kernels->snake({input.data(), output.data(), kRows, kChannels, scale.data(), shift.data(),
                    alpha.data(), inverse.data()});
    for (size_t i = 0; i < input.size(); ++i) {
      // As a fused multiply and add rounds it.
      const float y = std::fma(input[i], 1.5F, -0.25F);
      const double sine = std::sin(static_cast<double>(2.5F * y));
      const double expected = static_cast<double>(y) + 0.4 * sine * sine;
      ASSERT_NEAR(output[i], expected, 1e-4) << kernels->name << " at " << input[i];
    }
  }
}

}  // namespace
}  // namespace millrace::kokoro
