#include "models/kokoro/cpu_snake_block.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "models/kernels/channel_rows.h"

namespace millrace::kokoro {
namespace {

constexpr double kEpsilon = 1e-5;
// The bytes of activated rows in a chunk, so that everything fits into the cache.
constexpr int64_t kChunkBytes = 384 * 1024;
constexpr int64_t kChunkStep = 64;  // keeps the bits of the moments

}  // namespace

CpuSnakeBlock::CpuSnakeBlock(speech::TensorReader& weights, const std::string& name,
                             int64_t channels, int64_t style, const std::vector<int64_t>& dilations)
    : channels_(channels), width_(speech::PadChannels(channels)) {
  // Rows are padded, so the convolutions read the padding with weights of 0.
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
      layer.alpha = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
      layer.inverse_alpha = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
      for (int64_t c = 0; c < channels; ++c) {
        layer.alpha.data()[c] = alpha.const_data_ptr<float>()[c];
        layer.inverse_alpha.data()[c] = 1.0F / layer.alpha.data()[c];
      }
      layer.conv =
          speech::PackedConv(conv.weight, conv.bias, half == 1 ? dilations[i] : 1, {inputs, {}});
      margin_ = std::max(margin_, layer.conv.margin());
      layers_.push_back(std::move(layer));
    }
  }
}

CpuSnakeBlock::Affine CpuSnakeBlock::MakeAffine(const Layer& layer, const at::Tensor& style,
                                                const kernels::ChannelMoments& moments) const {
  const at::Tensor both = layer.affine.Run(style).contiguous();
  const float* scales = both.const_data_ptr<float>();
  const float* shifts = scales + channels_;
  const auto width = static_cast<size_t>(width_);
  Affine affine{kernels::AlignedBuffer<float>::Zeros(width),
                kernels::AlignedBuffer<float>::Zeros(width)};
  for (int64_t c = 0; c < channels_; ++c) {
    const double factor =
        (1.0 + static_cast<double>(scales[c])) / std::sqrt(moments.Variance(c) + kEpsilon);
    affine.scale.data()[c] = static_cast<float>(factor);
    affine.shift.data()[c] =
        static_cast<float>(static_cast<double>(shifts[c]) - moments.Mean(c) * factor);
  }
  return affine;
}

void CpuSnakeBlock::AddTo(const at::Tensor& total, const at::Tensor& x, const at::Tensor& style,
                          SnakeScratch& scratch) const {
  const kernels::ConvKernels& kernels = kernels::GetConvKernels();
  const at::Tensor input = x.contiguous();
  const int64_t rows = input.size(2);
  float* const sum = scratch.sum.Take(rows * width_);
  float* const middle = scratch.middle.Take(rows * width_);
  if (width_ > channels_) std::fill_n(sum, rows * width_, 0.0F);
  kernels::ToRows(input.const_data_ptr<float>(), channels_, rows, width_, sum);
  const int64_t chunk =
      std::max(kChunkBytes / (width_ * static_cast<int64_t>(sizeof(float))) / kChunkStep,
               int64_t{1}) *
      kChunkStep;
  float* const active = scratch.active.Take((chunk + 2 * margin_) * width_);
  kernels::ChannelMoments moments(width_);
  moments.Add(sum, rows);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const bool second = i % 2 == 1;
    const float* const from = second ? middle : sum;
    float* const to = second ? sum : middle;
    const Affine affine = MakeAffine(layer, style, moments);
    moments.Clear();
    const int64_t margin = layer.conv.margin();
    for (int64_t begin = 0; begin < rows; begin += chunk) {
      const int64_t end = std::min(begin + chunk, rows);
      // Rows outside the signal are zero.
      const int64_t first = std::max<int64_t>(begin - margin, 0);
      const int64_t last = std::min(end + margin, rows);
      float* const inside = active + (first - (begin - margin)) * width_;
      std::fill(active, inside, 0.0F);
      std::fill_n(inside + (last - first) * width_, (end + margin - last) * width_, 0.0F);
      kernels.snake({from + first * width_, inside, last - first, width_, affine.scale.data(),
                     affine.shift.data(), layer.alpha.data(), layer.inverse_alpha.data()});
      kernels::ConvTask task = layer.conv.Task();
      task.input = active;
      task.rows = end - begin;
      task.input_pitch = width_;
      task.output_pitch = width_;
      task.raw = to + begin * width_;
      if (second) task.residual = task.raw;
      kernels.convolve(task);
      moments.Add(task.raw, end - begin);
    }
  }
  kernels::AddFromRows(sum, channels_, rows, width_, total.mutable_data_ptr<float>());
}

}  // namespace millrace::kokoro
