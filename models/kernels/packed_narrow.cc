#include "models/kernels/packed_narrow.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/pack_store.h"
#include "models/kernels/parallel_panels.h"

namespace millrace::kernels {
namespace {

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

int64_t BytesOf(Precision precision) { return precision == Precision::kInt8 ? 1 : 2; }

// Weights are rounded in the same way as rows.
const NarrowKernels& ConverterOf(Precision precision) {
  return precision == Precision::kInt8 ? kPortableInt8 : kPortableBfloat;
}

// Clips the pairs of a column and returns what it took off.
std::vector<NarrowExcess> ClipPairs(std::span<int8_t> weights, int32_t column) {
  std::vector<NarrowExcess> excess;
  bool whole = true;  // the last of them has both parts
  for (size_t at = 0; at + 1 < weights.size(); at += 2) {
    const int sum = weights[at] + weights[at + 1];
    // Products with weights of different signs do not add up.
    if ((weights[at] < 0) != (weights[at + 1] < 0) || std::abs(sum) <= kGreatestPair) continue;
    const int value = sum > 0 ? sum - kGreatestPair : sum + kGreatestPair;
    weights[at] = static_cast<int8_t>(weights[at] - value);
    if (whole) excess.push_back({.column = column});
    const size_t part = whole ? 0 : 1;
    excess.back().at[part] = static_cast<int32_t>(at);
    excess.back().value[part] = static_cast<int16_t>(value);
    whole = !whole;
  }
  return excess;
}

// Appends one of each column after another, so that additions to one sum are far apart.
void AppendInTurn(std::span<const std::vector<NarrowExcess>> columns,
                  std::vector<NarrowExcess>& excess) {
  size_t longest = 0;
  for (const auto& column : columns) longest = std::max(longest, column.size());
  for (size_t i = 0; i < longest; ++i) {
    for (const auto& column : columns)
      if (i < column.size()) excess.push_back(column[i]);
  }
}

int64_t OutputsOf(std::span<const FloatLinear> layers) {
  int64_t outputs = 0;
  for (const FloatLinear& layer : layers) outputs += layer.matrix.outputs;
  return outputs;
}

}  // namespace

PackedNarrow::PackedNarrow(int64_t outputs, int64_t inputs, Precision precision, Taps taps)
    : precision_(precision),
      taps_(taps),
      inputs_(inputs / taps.count),
      block_taps_(taps.count > 1 && 2 * inputs_ <= kBlockDepth ? 2 : 1),
      depth_(RoundUp(inputs_ * BytesOf(precision), kBlockDepth)),
      width_(RoundUp(outputs, kNarrowPanel)) {}

PackedNarrow::PackedNarrow(std::span<const FloatLinear> layers, Precision precision,
                           bool clip_pairs, Taps taps)
    : PackedNarrow(OutputsOf(layers), layers.front().matrix.inputs, precision, taps) {
  if (!Find()) Pack(layers, clip_pairs);
}

PackedNarrow::PackedNarrow(int64_t outputs, int64_t inputs,
                           const std::function<std::vector<float>()>& weights,
                           std::span<const float> bias, Precision precision, bool clip_pairs,
                           Taps taps)
    : PackedNarrow(outputs, inputs, precision, taps) {
  if (Find()) return;
  const std::vector<float> values = weights();
  const FloatLinear layer = {{values.data(), outputs, inputs}, bias};
  Pack(std::span(&layer, 1), clip_pairs);
}

void PackedNarrow::Pack(std::span<const FloatLinear> layers, bool clip_pairs) {
  auto panels = AlignedBuffer<unsigned char>::Zeros(static_cast<size_t>(width_ * ColumnBytes()));
  auto bias = AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
  auto scales = AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
  auto sums = AlignedBuffer<int32_t>::Zeros(static_cast<size_t>(width_));
  // Weights that a last block has no tap for stay zero.
  auto narrow = AlignedBuffer<unsigned char>::Zeros(static_cast<size_t>(ColumnBytes()));
  std::vector<float> tap_scales(static_cast<size_t>(taps_.count));  // all equal
  std::array<std::vector<NarrowExcess>, kNarrowHalf> clipped;
  std::vector<NarrowExcess> excess;
  std::vector<int32_t> excess_begin = {0};
  const auto end_half = [&] {
    AppendInTurn(clipped, excess);
    clipped = {};
    excess_begin.push_back(static_cast<int32_t>(excess.size()));
  };
  int64_t column = 0;
  for (const FloatLinear& layer : layers) {
    std::copy(layer.bias.begin(), layer.bias.end(), bias.data() + column);
    for (int64_t i = 0; i < layer.matrix.outputs; ++i, ++column) {
      NarrowRows row;
      row.x = layer.matrix.values + i * layer.matrix.inputs;
      row.stride = inputs_;
      row.rows = taps_.count;
      row.inputs = inputs_;
      row.depth = depth_ / block_taps_;
      row.out = narrow.data();
      row.scales = tap_scales.data();
      row.together = true;
      ConverterOf(precision_).convert(row);
      if (precision_ == Precision::kInt8) {
        scales.data()[column] = tap_scales.front();
        const std::span numbers(reinterpret_cast<int8_t*>(narrow.data()),
                                static_cast<size_t>(ColumnBytes()));
        sums.data()[column] = std::accumulate(numbers.begin(), numbers.end(), 0);
        const int64_t of_half = column % kNarrowHalf;
        if (clip_pairs)
          clipped[static_cast<size_t>(of_half)] = ClipPairs(numbers, static_cast<int32_t>(of_half));
      }
      for (int64_t at = 0; at < ColumnBytes(); at += kGroupBytes) {
        std::copy_n(narrow.data() + at, kGroupBytes,
                    panels.data() + NarrowOffset(column, at, ColumnBytes()));
      }
      if ((column + 1) % kNarrowHalf == 0) end_half();
    }
  }
  // The columns that fill the last panel have no weights.
  while (excess_begin.size() <= static_cast<size_t>(width_ / kNarrowHalf)) end_half();
  // Kernels look for an input among those of the first tap's row and the rows behind it.
  for (NarrowExcess& entry : excess) {
    for (int32_t& at : entry.at)
      at = static_cast<int32_t>(at / depth_ * block_taps_ * taps_.dilation * depth_ + at % depth_);
  }
  panels_ = KeepPacked(std::move(panels));
  bias_ = KeepPacked(std::move(bias));
  scales_ = KeepPacked(std::move(scales));
  sums_ = KeepPacked(std::move(sums));
  excess_begin_ = KeepPacked(std::move(excess_begin));
  excess_ = KeepPacked(std::move(excess));
}

bool PackedNarrow::Find() {
  const auto width = static_cast<size_t>(width_);
  const auto halves = static_cast<size_t>(width_ / kNarrowHalf);
  return FindPacked(static_cast<size_t>(width_ * ColumnBytes()), panels_) &&
         FindPacked(width, bias_) && FindPacked(width, scales_) && FindPacked(width, sums_) &&
         FindPacked(halves + 1, excess_begin_) && FindPacked(kAnySize, excess_);
}

NarrowProduct PackedNarrow::Product() const {
  NarrowProduct product;
  product.panels = panels_.data();
  product.scales = scales_.data();
  product.sums = sums_.data();
  product.bias = bias_.data();
  if (excess_.size() > 0) {
    product.excess = excess_.data();
    product.excess_begin = excess_begin_.data();
  }
  product.depth = depth_;
  product.taps = ColumnBytes() / depth_;
  product.dilation = block_taps_ * taps_.dilation;
  product.outputs = width_;
  product.out_stride = width_;
  return product;
}

void PackedNarrow::Convolve(const NarrowKernels& kernels, const ConvTask& task,
                            Scratch& scratch) const {
  constexpr auto kFloat = static_cast<int64_t>(sizeof(float));
  const int64_t most = std::min(task.rows, kRowsOfScale) + taps_.Reach();
  float* const memory = scratch.Take(most * (depth_ / kFloat + 1));
  NarrowRows narrow;
  narrow.stride = task.input_pitch;
  narrow.inputs = inputs_;
  narrow.depth = depth_;
  narrow.out = reinterpret_cast<unsigned char*>(memory);
  narrow.scales = memory + most * depth_ / kFloat;
  narrow.together = taps_.count > 1;
  NarrowProduct product = Product();
  product.a = narrow.out;
  product.a_scales = narrow.scales;
  if (task.bias != nullptr) product.bias = task.bias;
  product.out_stride = task.output_pitch;
  product.out_scale = task.scale;
  product.slope = task.slope;
  for (int64_t row = 0; row < task.rows; row += kRowsOfScale) {
    product.rows = std::min(task.rows - row, kRowsOfScale);
    narrow.x = task.input + row * task.input_pitch;
    narrow.rows = product.rows + taps_.Reach();
    kernels.convert(narrow);
    if (block_taps_ > 1) CopyNextTap(narrow);
    const auto from = [&](auto* rows) {
      return rows == nullptr ? nullptr : rows + row * task.output_pitch;
    };
    product.added = from(task.residual);
    product.partial = from(task.partial);
    product.out = from(task.raw);
    product.active = from(task.active);
    kernels.multiply(product);
  }
}

void PackedNarrow::CopyNextTap(const NarrowRows& rows) const {
  constexpr int64_t kHalf = kBlockDepth / 2;
  for (int64_t row = 0; row + taps_.dilation < rows.rows; ++row) {
    unsigned char* const to = rows.out + row * kBlockDepth;
    std::memcpy(to + kHalf, to + taps_.dilation * kBlockDepth, kHalf);
  }
}

void PackedNarrow::Multiply(const NarrowKernels& kernels, const float* a, int64_t a_stride,
                            int64_t rows, Scratch& scratch, float* out) const {
  constexpr auto kFloat = static_cast<int64_t>(sizeof(float));
  const int64_t row_floats = depth_ / kFloat;
  const bool transposes = excess_.size() > 0 && rows >= kLeastTransposed;
  const int64_t transposed_floats =
      transposes ? RoundUp(rows, kTransposedRows) * depth_ * int64_t{sizeof(int16_t)} / kFloat : 0;
  float* memory = scratch.Take(transposed_floats + rows * (row_floats + 1));
  NarrowRows narrow;
  narrow.x = a;
  narrow.stride = a_stride;
  narrow.rows = rows;
  narrow.inputs = inputs_;
  narrow.depth = depth_;
  if (transposes) narrow.transposed = reinterpret_cast<int16_t*>(memory);
  narrow.out = reinterpret_cast<unsigned char*>(memory + transposed_floats);
  narrow.scales = memory + transposed_floats + rows * row_floats;
  kernels.convert(narrow);
  NarrowProduct product = Product();
  product.a = narrow.out;
  product.a_scales = narrow.scales;
  product.transposed = narrow.transposed;
  product.rows = rows;
  ForPanels(width_ / kNarrowPanel, rows * width_ * inputs_, [&](int64_t first, int64_t last) {
    NarrowProduct part = product;
    const int64_t column = first * kNarrowPanel;
    part.panels += column * depth_;
    part.scales += column;
    part.sums += column;
    part.bias += column;
    if (part.excess != nullptr) part.excess_begin += column / kNarrowHalf;
    part.outputs = (last - first) * kNarrowPanel;
    part.out = out + column;
    kernels.multiply(part);
  });
}

void PackedNarrow::CopyOutput(int64_t output, float* out) const {
  const bool int8 = precision_ == Precision::kInt8;
  const float scale = scales_.data()[output];
  for (int64_t k = 0; k < inputs_; ++k) {
    const unsigned char* from =
        panels_.data() + NarrowOffset(output, k * BytesOf(precision_), depth_);
    if (int8) {
      out[k] = static_cast<float>(static_cast<int8_t>(*from)) * scale;
    } else {
      uint16_t half;
      std::memcpy(&half, from, sizeof(half));
      const uint32_t bits = static_cast<uint32_t>(half) << 16;
      std::memcpy(out + k, &bits, sizeof(bits));
    }
  }
  const auto half = static_cast<size_t>(output / kNarrowHalf);
  for (int32_t i = excess_begin_[half]; i < excess_begin_[half + 1]; ++i) {
    const NarrowExcess& excess = excess_[static_cast<size_t>(i)];
    if (excess.column != output % kNarrowHalf) continue;
    for (const size_t part : {0, 1})
      out[excess.at[part]] += static_cast<float>(excess.value[part]) * scale;
  }
}

}  // namespace millrace::kernels
