// The native layers against those of ATen operators.

#include "models/kokoro/kokoro_layers.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/norm.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "models/kernels/conv_kernels.h"
#include "models/kernels/parallel_for.h"
#include "models/speech/cpu_conv.h"
#include "models/speech/cpu_upsampling.h"
#include "tests/fakes/threads_loop_runner.h"

namespace millrace::kokoro {
namespace {

at::Tensor Signal(const std::vector<int64_t>& shape, double step) {
  at::Tensor signal = at::empty(shape);
  for (int64_t i = 0; i < signal.numel(); ++i)
    signal.mutable_data_ptr<float>()[i] =
        static_cast<float>(std::sin(step * static_cast<double>(i * i % 1009)));
  return signal;
}

TEST(CpuUpsamplingTest, EqualsAten) {
  const at::InferenceMode inference;
  struct Shape {
    int64_t in, out, taps, stride, time;
  };
  // As many taps as a row of results reaches, more, and one row for each; a single value.
  for (const Shape& shape : {Shape{48, 24, 20, 10, 31}, Shape{32, 40, 12, 6, 7},
                             Shape{16, 3, 7, 3, 50}, Shape{5, 33, 4, 4, 9}, Shape{8, 8, 4, 2, 1}}) {
    const at::Tensor weight = Signal({shape.in, shape.out, shape.taps}, 0.37);
    const at::Tensor bias = Signal({shape.out}, 0.11);
    const at::Tensor x = Signal({2, shape.in, shape.time}, 0.73);
    const at::Tensor expected =
        at::conv_transpose1d(x, weight, bias, shape.stride, (shape.taps - shape.stride) / 2);
    const at::Tensor actual = speech::CpuUpsampling(weight, bias, shape.stride).Run(x);
    ASSERT_EQ(actual.sizes(), expected.sizes());
    EXPECT_TRUE(at::allclose(actual, expected, /*rtol=*/0,
                             1e-4 + 100 * kernels::GetConvKernels().product_error))
        << shape.taps << " taps, stride " << shape.stride;
  }
}

TEST(CpuUpsamplingTest, RowsAreThoseOfTheSignalAndMayBeReflected) {
  const at::InferenceMode inference;
  // Nothing is cut, and some rows at each end.
  for (const int64_t taps : {4, 10}) {
    const speech::CpuUpsampling up(Signal({32, 40, taps}, 0.37), Signal({40}, 0.11), /*stride=*/4);
    const at::Tensor x = Signal({1, 32, 9}, 0.73);
    const at::Tensor expected = up.Run(x)[0].t();
    const at::Tensor rows = x[0].t().contiguous();
    EXPECT_TRUE(at::equal(up.RunRows(rows, /*reflected=*/false).narrow(1, 0, 40), expected));
    const at::Tensor reflected = up.RunRows(rows, /*reflected=*/true).narrow(1, 0, 40);
    EXPECT_TRUE(at::equal(reflected.narrow(0, 1, expected.size(0)), expected));
    EXPECT_TRUE(at::equal(reflected[0], expected[1]));
  }
}

// Returns the root mean square of what two signals differ by, relative to that of the first.
double RelativeDistance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / a.norm()).item<double>();
}

// Widths of whole panels and others, of rows of inputs and of results.
constexpr int64_t kWidths[][2] = {{64, 96}, {130, 33}, {48, 64}};

TEST(CpuUpsamplingTest, Int8IsNearFloat32AndTheSameWithThreads) {
  const at::InferenceMode inference;
  for (const auto& [in, out] : kWidths) {
    const at::Tensor weight = Signal({in, out, 12}, 0.37);
    const at::Tensor bias = Signal({out}, 0.11);
    const at::Tensor x = Signal({2, in, 200}, 0.73);
    const at::Tensor expected = speech::CpuUpsampling(weight, bias, 6).Run(x);
    const speech::CpuUpsampling int8(weight, bias, 6, kernels::Precision::kInt8);
    const at::Tensor actual = int8.Run(x);
    ASSERT_EQ(actual.sizes(), expected.sizes());
    EXPECT_LE(RelativeDistance(expected, actual), 0.02);
    EXPECT_GE(RelativeDistance(expected, actual), 1e-4);  // it is in int8
    testing::ThreadsLoopRunner runner(4);
    const kernels::ScopedLoopRunner scope(&runner);
    EXPECT_TRUE(at::equal(int8.Run(x), actual));
  }
}

TEST(CpuConvTest, Int8IsNearFloat32AndARowDoesNotDependOnThoseItDoesNotRead) {
  const at::InferenceMode inference;
  for (const auto& [in, out] : kWidths) {
    const at::Tensor weight = Signal({out, in, 3}, 0.37);
    const at::Tensor bias = Signal({out}, 0.11);
    const at::Tensor x = Signal({1, in, 200}, 0.73);
    const at::Tensor expected = speech::CpuConv(weight, bias, {.winograd = true}).Run(x);
    const speech::CpuConv int8(weight, bias, {.precision = kernels::Precision::kInt8});
    const at::Tensor actual = int8.Run(x);
    ASSERT_EQ(actual.sizes(), expected.sizes());
    EXPECT_LE(RelativeDistance(expected, actual), 0.02);
    EXPECT_GE(RelativeDistance(expected, actual), 1e-4);  // it is in int8
    // All but the last row, which would read the next.
    EXPECT_TRUE(
        at::equal(int8.Run(x.narrow(2, 0, 101)).narrow(2, 0, 100), actual.narrow(2, 0, 100)));
    testing::ThreadsLoopRunner runner(4);
    const kernels::ScopedLoopRunner scope(&runner);
    EXPECT_TRUE(at::equal(int8.Run(x), actual));
  }
}

TEST(CpuUpsamplingTest, ThreadsTogetherGiveTheSameBits) {
  const at::InferenceMode inference;
  const speech::CpuUpsampling up(Signal({256, 64, 20}, 0.37), Signal({64}, 0.11), 10);
  const at::Tensor x = Signal({1, 256, 700}, 0.73);
  const at::Tensor alone = up.Run(x);
  testing::ThreadsLoopRunner runner(8);
  const kernels::ScopedLoopRunner scope(&runner);
  EXPECT_TRUE(at::equal(up.Run(x), alone));
  EXPECT_EQ(runner.loops(), 3);  // to rows, the convolution, from rows
}

}  // namespace
}  // namespace millrace::kokoro
