#include "models/kokoro/cpu_snake_block.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "models/core/strings.h"
#include "models/kernels/parallel_for.h"

namespace millrace::kokoro {
namespace {

// The bytes of activated rows in a chunk, so that everything fits into the cache.
constexpr int64_t kChunkBytes = int64_t{384} * 1024;
// The products of a chunk, without Winograd's filtering: a millisecond or so, within which a helper
// is back at work of its own.
constexpr int64_t kChunkProducts = int64_t{160} * 1024 * 1024;
constexpr int64_t kChunkStep = kernels::ChannelMoments::kRowsOfSum;
static_assert(kChunkStep % kernels::PackedNarrow::kRowsOfScale == 0);

// The activated rows of a chunk, and some of them in int8.
thread_local kernels::Scratch active_rows;
thread_local kernels::Scratch narrow_rows;

const kernels::NarrowKernels& Int8Kernels() {
  static const kernels::NarrowKernels& best = *kernels::SupportedInt8Kernels().front();
  return best;
}

// A signal of rows, cut into chunks.
struct Chunks {
  int64_t rows;
  int64_t step;

  // Makes chunks of about so many rows.
  static Chunks Of(int64_t rows, int64_t about) {
    return {rows, std::max(about / kChunkStep, int64_t{1}) * kChunkStep};
  }

  int64_t count() const { return (rows + step - 1) / step; }
  int64_t Begin(int64_t chunk) const { return chunk * step; }
  int64_t End(int64_t chunk) const { return std::min(Begin(chunk) + step, rows); }
};

}  // namespace

CpuSnakeBlock::CpuSnakeBlock(speech::TensorReader& weights, const std::string& name,
                             int64_t channels, int64_t style, const std::vector<int64_t>& dilations,
                             kernels::Precision precision)
    : channels_(channels), width_(speech::PadChannels(channels)) {
  for (size_t i = 0; i < dilations.size(); ++i) {
    for (const int half : {1, 2}) {
      Layer layer;
      layer.affine = KokoroAffine::Take(weights, StrCat(name, ".adain", half, ".", i, ".fc"),
                                        2 * channels, style);
      const at::Tensor alpha = weights.Take(StrCat(name, ".alpha", half, ".", i), {channels});
      const auto conv =
          KokoroConvToPack::Take(weights, StrCat(name, ".convs", half, ".", i), channels, channels);
      if (!weights.status().ok()) return;
      layer.alpha = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
      layer.inverse_alpha = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
      for (int64_t c = 0; c < channels; ++c) {
        layer.alpha.data()[c] = alpha.const_data_ptr<float>()[c];
        layer.inverse_alpha.data()[c] = 1.0F / layer.alpha.data()[c];
      }
      PackConv(conv, half == 1 ? dilations[i] : 1, precision, layer);
      layers_.push_back(std::move(layer));
    }
  }
}

// Rows are padded, so the convolutions read the padding with weights of 0.
void CpuSnakeBlock::PackConv(const KokoroConvToPack& conv, int64_t dilation,
                             kernels::Precision precision, Layer& layer) const {
  const int64_t taps = conv.weight.size(2);
  layer.taps = taps;
  layer.margin = (taps - 1) * dilation / 2;
  if (precision == kernels::Precision::kFloat32) {
    std::vector<int64_t> inputs(static_cast<size_t>(width_), -1);
    std::iota(inputs.begin(), inputs.begin() + channels_, 0);
    layer.conv.emplace<speech::PackedConv>(
        conv.weight, conv.bias, dilation,
        speech::PackedConv::Order{.inputs = inputs, .winograd = true});
    return;
  }
  const auto rows_of = [&] {
    const at::Tensor weight = conv.weight.Floats();
    const auto from = weight.accessor<float, 3>();
    std::vector<float> rows(static_cast<size_t>(channels_ * taps * width_), 0.0F);
    for (int64_t o = 0; o < channels_; ++o) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t c = 0; c < channels_; ++c)
          rows[static_cast<size_t>((o * taps + tap) * width_ + c)] = from[o][c][tap];
      }
    }
    return rows;
  };
  std::span<const float> bias;
  if (conv.bias.defined())
    bias = {conv.bias.const_data_ptr<float>(), static_cast<size_t>(channels_)};
  layer.conv.emplace<kernels::PackedNarrow>(channels_, taps * width_, rows_of, bias, precision,
                                            Int8Kernels().clips_pairs,
                                            kernels::Taps{taps, dilation});
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
        (1.0 + static_cast<double>(scales[c])) / std::sqrt(moments.Variance(c) + kNormEpsilon);
    affine.scale.data()[c] = static_cast<float>(factor);
    affine.shift.data()[c] =
        static_cast<float>(static_cast<double>(shifts[c]) - moments.Mean(c) * factor);
  }
  return affine;
}

void CpuSnakeBlock::RunRows(const Layer& layer, const Affine& affine, const Signal& signal,
                            int64_t begin, int64_t end, const kernels::ConvTask& outputs) const {
  const kernels::ConvKernels& kernels = kernels::GetConvKernels();
  const int64_t read_begin = begin - layer.margin;
  const int64_t read_end = end + layer.margin;
  float* const active = active_rows.Take((read_end - read_begin) * width_);
  // Rows outside the signal are zero.
  const int64_t first = std::max<int64_t>(read_begin, 0);
  const int64_t last = std::min(read_end, signal.rows);
  float* const inside = active + (first - read_begin) * width_;
  std::fill(active, inside, 0.0F);
  std::fill_n(inside + (last - first) * width_, (read_end - last) * width_, 0.0F);
  kernels.snake({signal.from + first * width_, inside, last - first, width_, affine.scale.data(),
                 affine.shift.data(), layer.alpha.data(), layer.inverse_alpha.data()});
  const auto* const narrow = std::get_if<kernels::PackedNarrow>(&layer.conv);
  kernels::ConvTask task;
  if (narrow == nullptr) task = std::get<speech::PackedConv>(layer.conv).Task();
  const auto from_begin = [&](auto* rows) {
    return rows == nullptr ? nullptr : rows + begin * width_;
  };
  task.input = active;
  task.rows = end - begin;
  task.input_pitch = width_;
  task.output_pitch = width_;
  task.residual = from_begin(outputs.residual);
  task.partial = from_begin(outputs.partial);
  task.scale = outputs.scale;
  task.raw = from_begin(outputs.raw);
  task.active = from_begin(outputs.active);
  task.slope = outputs.slope;
  if (narrow != nullptr) {
    narrow->Convolve(Int8Kernels(), task, narrow_rows);
  } else {
    kernels.convolve(task);
  }
}

void CpuSnakeBlock::Run(const at::Tensor& x, const at::Tensor& style, SnakeScratch& scratch,
                        const Result& result) const {
  const int64_t rows = x.size(0);
  const float* from = x.const_data_ptr<float>();
  const float* residual = from;
  float* const sum = scratch.sum.Take(rows * width_);
  float* const middle = scratch.middle.Take(rows * width_);
  const int64_t rows_in_cache = kChunkBytes / (width_ * static_cast<int64_t>(sizeof(float)));
  kernels::ChannelMoments moments(width_);
  moments.Begin(rows, from);
  const Chunks chunks = Chunks::Of(rows, rows_in_cache);
  kernels::ParallelFor(chunks.count(), [&](int64_t chunk) {
    const int64_t begin = chunks.Begin(chunk);
    moments.Add(begin, from + begin * width_, chunks.End(chunk) - begin);
  });
  auto first_row = kernels::AlignedBuffer<float>(static_cast<size_t>(width_));
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const bool second = i % 2 == 1;
    const bool last = i + 1 == layers_.size();
    kernels::ConvTask outputs;
    if (second) outputs.residual = residual;
    moments.End();
    const Affine affine = MakeAffine(layer, style, moments);
    float* const to = second ? sum : middle;
    if (last) {
      if (result.added) outputs.partial = result.rows;
      outputs.scale = result.scale;
      outputs.active = result.rows;
      outputs.slope = result.slope;
    } else {
      outputs.raw = first_row.data();
      RunRows(layer, affine, {from, rows}, 0, 1, outputs);
      moments.Begin(rows, first_row.data());
      outputs.raw = to;
    }
    const Chunks parts =
        Chunks::Of(rows, std::min(rows_in_cache, kChunkProducts / (width_ * width_ * layer.taps)));
    kernels::ParallelFor(parts.count(), [&](int64_t part) {
      const int64_t begin = parts.Begin(part);
      const int64_t end = parts.End(part);
      RunRows(layer, affine, {from, rows}, begin, end, outputs);
      if (!last) moments.Add(begin, to + begin * width_, end - begin);
    });
    from = to;
    if (second) residual = sum;
  }
}

}  // namespace millrace::kokoro
