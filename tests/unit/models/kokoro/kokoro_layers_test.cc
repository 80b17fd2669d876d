// The native layers against those of ATen operators.

#include "models/kokoro/kokoro_layers.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "models/kernels/conv_kernels.h"
#include "models/kernels/parallel_for.h"
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
