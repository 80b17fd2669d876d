// The CUDA implementation of the operators of models/kokoro/fused_stage.cc and
// split_style_block.cc, in the CUDA module.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <cuda.h>
#include <torch/library.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "models/kokoro/cuda/snake_kernels_source.h"
#include "models/speech/cuda/row_product.h"

namespace millrace::kokoro {
namespace {

using runtime::Parts;

using speech::DataOf;
using speech::RowKernels;
using speech::ToInt;

constexpr int kTransposed = RowKernels::kTransposed;
constexpr int kTransposedRows = RowKernels::kTransposedRows;
constexpr int kDoubled = 256;  // threads of a block that doubles rows

// The compiled kernels.
class SnakeKernels : public RowKernels {
 public:
  // Compiled at the first call.
  static const SnakeKernels& Get() {
    static const SnakeKernels& kernels = *new SnakeKernels;
    return kernels;
  }

  CUfunction finish_norm = Find("FinishNorm");
  CUfunction row_moments = Find("RowMoments");
  CUfunction double_length = Find("DoubleLength");
  Tiled snake_convolution = FindTiled("SnakeConvolution");

 private:
  SnakeKernels() : RowKernels(kSnakeKernelsSource, "snake_kernels.cu") {}
};

std::string WhyNot(const at::Tensor& /*weight*/) { return SnakeKernels::Get().why_not(); }

// Returns the scales and shifts of a norm, [batch, 2, channels]. style: of this layer, in a row of
// `stride` for each sentence.
at::Tensor FinishNorm(const at::Tensor& moments, const float* style, int64_t stride,
                      const at::Tensor& counts) {
  const int64_t batch = moments.size(0), channels = moments.size(3);
  const at::Tensor norm = at::empty({batch, 2, channels}, moments.options());
  const SnakeKernels& kernels = SnakeKernels::Get();
  kernels.Launch(kernels.finish_norm, dim3(Parts(channels, kTransposed), Parts(batch, 1)),
                 dim3(32, 8), 0, moments.const_data_ptr(), style, ToInt(stride),
                 counts.const_data_ptr(), norm.mutable_data_ptr(), ToInt(moments.size(1)),
                 ToInt(channels));
  return norm;
}

// A convolution that keeps the length of rows [batch, time, channels].
struct Convolution {
  const at::Tensor& rows;
  const at::Tensor& weight;  // packed
  const at::Tensor& counts;
  int64_t dilation = 1;
  const void* bias = nullptr;
  std::array<const void*, 2> added = {};  // signals of the shape of the result to add
  bool with_moments = true;
};
struct Convolved {
  at::Tensor rows, moments;
};

// norm: the result of FinishNorm.
Convolved Run(const Convolution& convolution, const at::Tensor& norm) {
  const SnakeKernels& kernels = SnakeKernels::Get();
  const at::Tensor& weight = convolution.weight;
  const int64_t batch = convolution.rows.size(0), time = convolution.rows.size(1);
  const int64_t taps = weight.size(1), channels = weight.size(2);
  const int tile = kernels.TileOf(batch, time, channels, channels);
  const unsigned tiles = Parts(time, tile);
  Convolved result = {at::empty({batch, time, channels}, convolution.rows.options()), {}};
  if (convolution.with_moments) {
    result.moments =
        at::empty({batch, tiles, 2, channels}, convolution.rows.options().dtype(at::kFloat));
  }
  const RowKernels::Product product{
      .x = convolution.rows.const_data_ptr(),
      .weights = weight.const_data_ptr(),
      .bias = convolution.bias,
      .counts = convolution.counts.const_data_ptr(),
      .added = convolution.added,
      .out = result.rows.mutable_data_ptr(),
      .moments = convolution.with_moments ? result.moments.mutable_data_ptr() : nullptr,
      .in_time = ToInt(time),
      .in_channels = ToInt(convolution.rows.size(2)),
      .time = ToInt(time),
      .channels = ToInt(channels),
      .taps = ToInt(taps),
      .dilation = ToInt(convolution.dilation)};
  kernels.LaunchTiles(kernels.snake_convolution, tile,
                      dim3(tiles, Parts(channels, tile), Parts(batch, 1)),
                      (taps - 1) * convolution.dilation, product, norm.const_data_ptr());
  return result;
}

at::Tensor SnakeBlock(const at::Tensor& rows, const at::Tensor& moments, const at::Tensor& styles,
                      const at::Tensor& counts, at::TensorList weights, at::IntArrayRef dilations,
                      const std::optional<at::Tensor>& bias,
                      const std::optional<at::Tensor>& added) {
  at::Tensor sum = rows;  // adds the input and the pairs so far
  Convolved x = {rows, moments};
  const float* style = styles.const_data_ptr<float>();
  for (size_t layer = 0; layer < weights.size(); ++layer, style += 2 * rows.size(2)) {
    const at::Tensor norm = FinishNorm(x.moments, style, styles.stride(0), counts);
    const bool second = layer % 2 == 1;
    const bool last = layer + 1 == weights.size();
    x = Run({.rows = x.rows,
             .weight = weights[layer],
             .counts = counts,
             .dilation = dilations[layer],
             .bias = last ? DataOf(bias) : nullptr,
             .added = {second ? sum.const_data_ptr() : nullptr, last ? DataOf(added) : nullptr},
             .with_moments = !last},
            norm);
    if (second) sum = x.rows;
  }
  return sum;
}

// The style norm of a signal [batch, time, channels] in float32.
at::Tensor StyleNorm(const at::Tensor& x, const at::Tensor& style, const at::Tensor& counts) {
  const SnakeKernels& kernels = SnakeKernels::Get();
  const int64_t batch = x.size(0), time = x.size(1), channels = x.size(2);
  const unsigned tiles = Parts(time, kTransposedRows);
  const at::Tensor moments = at::empty({batch, tiles, 2, channels}, x.options());
  kernels.Launch(kernels.row_moments,
                 dim3(tiles, Parts(channels, RowKernels::kChunk), Parts(batch, 1)), dim3(32, 8), 0,
                 x.const_data_ptr(), counts.const_data_ptr(), moments.mutable_data_ptr(),
                 ToInt(time), ToInt(channels));
  return FinishNorm(moments, style.const_data_ptr<float>(), style.stride(0), counts);
}

at::Tensor DoubleLength(const at::Tensor& x, const at::Tensor& counts, const at::Tensor& norm,
                        double slope, const at::Tensor& weight, const at::Tensor& bias) {
  const int64_t batch = x.size(0), time = x.size(1), channels = x.size(2);
  const at::Tensor doubled = at::empty({batch, 2 * time, channels}, x.options());
  const SnakeKernels& kernels = SnakeKernels::Get();
  kernels.Launch(kernels.double_length, dim3(Parts(time * channels / 2, kDoubled), Parts(batch, 1)),
                 dim3(kDoubled), 0, x.const_data_ptr(), counts.const_data_ptr(),
                 norm.const_data_ptr(), static_cast<float>(slope), weight.const_data_ptr(),
                 bias.const_data_ptr(), doubled.mutable_data_ptr(), ToInt(time), ToInt(channels));
  return doubled;
}

TORCH_LIBRARY_FRAGMENT(millrace_kokoro, library) {
  library.def("why_not(Tensor weight) -> str");
  library.def(
      "snake_block(Tensor rows, Tensor moments, Tensor styles, Tensor counts, Tensor[] weights, "
      "int[] dilations, Tensor? bias, Tensor? added) -> Tensor");
  library.def("style_norm(Tensor x, Tensor style, Tensor counts) -> Tensor");
  library.def(
      "double_length(Tensor x, Tensor counts, Tensor norm, float slope, Tensor weight, "
      "Tensor bias) -> Tensor");
}

TORCH_LIBRARY_IMPL(millrace_kokoro, CUDA, library) {
  library.impl("why_not", WhyNot);
  library.impl("snake_block", SnakeBlock);
  library.impl("style_norm", StyleNorm);
  library.impl("double_length", DoubleLength);
}

}  // namespace
}  // namespace millrace::kokoro
