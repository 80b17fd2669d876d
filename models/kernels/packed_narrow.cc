#include "models/kernels/packed_narrow.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "models/kernels/parallel_panels.h"

namespace millrace::kernels {
namespace {

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

int64_t BytesOf(Precision precision) { return precision == Precision::kInt8 ? 1 : 2; }

// Weights are rounded in the same way as rows.
const NarrowKernels& ConverterOf(Precision precision) {
  return precision == Precision::kInt8 ? kPortableInt8 : kPortableBfloat;
}

}  // namespace

PackedNarrow::PackedNarrow(std::span<const FloatLinear> layers, Precision precision)
    : precision_(precision),
      inputs_(layers.front().matrix.inputs),
      depth_(RoundUp(inputs_ * BytesOf(precision), kBlockDepth)) {
  int64_t outputs = 0;
  for (const FloatLinear& layer : layers) outputs += layer.matrix.outputs;
  width_ = RoundUp(outputs, kNarrowPanel);
  panels_ = AlignedBuffer<unsigned char>::Zeros(static_cast<size_t>(width_ * depth_));
  bias_ = AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
  scales_ = AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
  sums_ = AlignedBuffer<int32_t>::Zeros(static_cast<size_t>(width_));
  AlignedBuffer<unsigned char> narrow(static_cast<size_t>(depth_));
  int64_t column = 0;
  for (const FloatLinear& layer : layers) {
    std::copy(layer.bias.begin(), layer.bias.end(), bias_.data() + column);
    for (int64_t i = 0; i < layer.matrix.outputs; ++i, ++column) {
      NarrowRows row;
      row.x = layer.matrix.values + i * inputs_;
      row.rows = 1;
      row.inputs = inputs_;
      row.depth = depth_;
      row.out = narrow.data();
      row.scales = scales_.data() + column;
      ConverterOf(precision).convert(row);
      for (int64_t at = 0; at < depth_; at += kGroupBytes) {
        std::copy_n(narrow.data() + at, kGroupBytes,
                    panels_.data() + NarrowOffset(column, at, depth_));
      }
      if (precision != Precision::kInt8) continue;
      const auto* numbers = reinterpret_cast<const int8_t*>(narrow.data());
      sums_.data()[column] = std::accumulate(numbers, numbers + inputs_, 0);
    }
  }
}

void PackedNarrow::Multiply(const NarrowKernels& kernels, const float* a, int64_t a_stride,
                            int64_t rows, Scratch& scratch, float* out) const {
  const int64_t row_floats = depth_ / static_cast<int64_t>(sizeof(float));
  float* memory = scratch.Take(rows * (row_floats + 1));
  NarrowRows narrow;
  narrow.x = a;
  narrow.stride = a_stride;
  narrow.rows = rows;
  narrow.inputs = inputs_;
  narrow.depth = depth_;
  narrow.out = reinterpret_cast<unsigned char*>(memory);
  narrow.scales = memory + rows * row_floats;
  kernels.convert(narrow);
  NarrowProduct product;
  product.a = narrow.out;
  product.a_scales = narrow.scales;
  product.rows = rows;
  product.depth = depth_;
  product.out_stride = width_;
  ForPanels(width_ / kNarrowPanel, rows * width_ * inputs_, [&](int64_t first, int64_t last) {
    NarrowProduct part = product;
    const int64_t column = first * kNarrowPanel;
    part.panels = panels_.data() + column * depth_;
    part.scales = scales_.data() + column;
    part.sums = sums_.data() + column;
    part.bias = bias_.data() + column;
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
}

}  // namespace millrace::kernels
