#include "models/synthesis/native_snake_block.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace millrace::models {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr int64_t kMomentRows = 64;  // summed as floats, and in the first-level cache
constexpr int64_t kTransposeRows = 16;

// Between [channels][time] and rows of channels; the rows' padding is left alone.
void ToRows(const float* from, int64_t channels, int64_t time, int64_t width, float* rows) {
  for (int64_t begin = 0; begin < time; begin += kTransposeRows) {
    const int64_t end = std::min(begin + kTransposeRows, time);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t t = begin; t < end; ++t) rows[t * width + c] = from[c * time + t];
    }
  }
}

void FromRows(const float* rows, int64_t channels, int64_t time, int64_t width, float* to) {
  for (int64_t begin = 0; begin < time; begin += kTransposeRows) {
    const int64_t end = std::min(begin + kTransposeRows, time);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t t = begin; t < end; ++t) to[c * time + t] = rows[t * width + c];
    }
  }
}

}  // namespace

NativeSnakeBlock::NativeSnakeBlock(TensorReader& weights, const std::string& name, int64_t channels,
                                   int64_t style, const std::vector<int64_t>& dilations)
    : channels_(channels), width_(PadChannels(channels)) {
  // Rows have their padding, so the convolutions read it, with weights of 0.
  std::vector<int64_t> inputs(static_cast<size_t>(width_), -1);
  for (int64_t c = 0; c < channels; ++c) inputs[static_cast<size_t>(c)] = c;
  for (size_t i = 0; i < dilations.size(); ++i) {
    for (const int half : {1, 2}) {
      Layer layer;
      layer.affine = KokoroLinear::Take(weights, absl::StrCat(name, ".adain", half, ".", i, ".fc"),
                                        2 * channels, style);
      const at::Tensor alpha = weights.Take(absl::StrCat(name, ".alpha", half, ".", i), {channels});
      const KokoroConv conv = KokoroConv::TakeSame(
          weights, absl::StrCat(name, ".convs", half, ".", i), channels, channels);
      if (!weights.status().ok()) return;
      layer.alpha.Reserve(static_cast<size_t>(width_));
      layer.inverse_alpha.Reserve(static_cast<size_t>(width_));
      for (int64_t c = 0; c < channels; ++c) {
        layer.alpha.data()[c] = alpha.const_data_ptr<float>()[c];
        layer.inverse_alpha.data()[c] = 1.0F / layer.alpha.data()[c];
      }
      layer.conv = PackedConv(conv.weight, conv.bias, half == 1 ? dilations[i] : 1, {inputs, {}});
      margin_ = std::max(margin_, layer.conv.margin());
      layers_.push_back(std::move(layer));
    }
  }
}

void NativeSnakeBlock::Activate(const Layer& layer, const at::Tensor& style, const float* input,
                                int64_t rows, float* output) const {
  const ConvKernels& kernels = GetConvKernels();
  const auto width = static_cast<size_t>(width_);
  // About the first row, so that a large mean does not drown the deviations.
  const float* center = input;
  AlignedFloats sums(width), squares(width);
  std::vector<double> sum(width), square(width);
  for (int64_t begin = 0; begin < rows; begin += kMomentRows) {
    kernels.moments(input + begin * width_, std::min(kMomentRows, rows - begin), width_, center,
                    sums.data(), squares.data());
    for (size_t c = 0; c < width; ++c) {
      sum[c] += static_cast<double>(sums.data()[c]);
      square[c] += static_cast<double>(squares.data()[c]);
    }
  }
  const at::Tensor affine = layer.affine.Run(style).contiguous();
  const float* scales = affine.const_data_ptr<float>();
  const float* shifts = scales + channels_;
  AlignedFloats scale(width), shift(width);
  for (int64_t c = 0; c < channels_; ++c) {
    const auto at = static_cast<size_t>(c);
    const double mean = sum[at] / static_cast<double>(rows);
    const double variance = std::max(square[at] / static_cast<double>(rows) - mean * mean, 0.0);
    const double factor = (1.0 + static_cast<double>(scales[c])) / std::sqrt(variance + kEpsilon);
    scale.data()[c] = static_cast<float>(factor);
    shift.data()[c] = static_cast<float>(static_cast<double>(shifts[c]) -
                                         (mean + static_cast<double>(center[c])) * factor);
  }
  SnakeTask task;
  task.input = input;
  task.output = output;
  task.rows = rows;
  task.channels = width_;
  task.scale = scale.data();
  task.shift = shift.data();
  task.alpha = layer.alpha.data();
  task.inverse_alpha = layer.inverse_alpha.data();
  kernels.snake(task);
}

at::Tensor NativeSnakeBlock::Run(const at::Tensor& x, const at::Tensor& style) const {
  const at::Tensor input = x.contiguous();
  const int64_t rows = input.size(2);
  const auto size = static_cast<size_t>(rows * width_);
  AlignedFloats sum(size), middle(size);
  AlignedFloats active(size + static_cast<size_t>(2 * margin_ * width_));  // zero at both ends
  float* const first = active.data() + margin_ * width_;
  ToRows(input.const_data_ptr<float>(), channels_, rows, width_, sum.data());
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const bool second = i % 2 == 1;
    Activate(layer, style, second ? middle.data() : sum.data(), rows, first);
    ConvTask task = layer.conv.Task();
    task.input = first - layer.conv.margin() * width_;
    task.rows = rows;
    task.input_pitch = width_;
    task.output_pitch = width_;
    task.raw = second ? sum.data() : middle.data();
    if (second) task.residual = sum.data();
    GetConvKernels().convolve(task);
  }
  at::Tensor output = at::empty(input.sizes(), input.options());
  FromRows(sum.data(), channels_, rows, width_, output.mutable_data_ptr<float>());
  return output;
}

}  // namespace millrace::models
