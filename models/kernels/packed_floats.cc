#include "models/kernels/packed_floats.h"

#include <algorithm>
#include <utility>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/pack_store.h"
#include "models/kernels/parallel_panels.h"

namespace millrace::kernels {

PackedFloats::PackedFloats(std::span<const FloatLinear> layers)
    : inputs_(layers.front().matrix.inputs) {
  int64_t outputs = 0;
  for (const FloatLinear& layer : layers) outputs += layer.matrix.outputs;
  width_ = (outputs + kFloatPanel - 1) / kFloatPanel * kFloatPanel;
  const auto weights = static_cast<size_t>(width_ * inputs_);
  if (FindPacked(weights, panels_) && FindPacked(static_cast<size_t>(width_), bias_)) return;
  AlignedBuffer<float> panels(weights);
  auto bias = AlignedBuffer<float>::Zeros(static_cast<size_t>(width_));
  // Only the last panel has empty columns.
  if (width_ > outputs) {
    std::fill_n(panels.data() + (width_ - kFloatPanel) * inputs_, kFloatPanel * inputs_, 0.0F);
  }
  int64_t column = 0;
  for (const FloatLinear& layer : layers) {
    std::copy(layer.bias.begin(), layer.bias.end(), bias.data() + column);
    for (int64_t i = 0; i < layer.matrix.outputs; ++i, ++column) {
      const float* from = layer.matrix.values + i * inputs_;
      float* to =
          panels.data() + column / kFloatPanel * kFloatPanel * inputs_ + column % kFloatPanel;
      // The analyzer takes the panels for empty. NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDelete)
      for (int64_t k = 0; k < inputs_; ++k) to[k * kFloatPanel] = from[k];
    }
  }
  panels_ = KeepPacked(std::move(panels));
  bias_ = KeepPacked(std::move(bias));
}

void PackedFloats::Multiply(const FloatKernels& kernels, const float* a, int64_t a_stride,
                            int64_t rows, float* out) const {
  FloatProduct product;
  product.a = a;
  product.a_stride = a_stride;
  product.rows = rows;
  product.inputs = inputs_;
  product.out_stride = width_;
  ForPanels(width_ / kFloatPanel, rows * width_ * inputs_, [&](int64_t first, int64_t last) {
    FloatProduct part = product;
    const int64_t column = first * kFloatPanel;
    part.panels = panels_.data() + column * inputs_;
    part.bias = bias_.data() + column;
    part.outputs = (last - first) * kFloatPanel;
    part.out = out + column;
    kernels.multiply(part);
  });
}

void PackedFloats::CopyOutput(int64_t output, float* out) const {
  const float* from =
      panels_.data() + output / kFloatPanel * kFloatPanel * inputs_ + output % kFloatPanel;
  for (int64_t k = 0; k < inputs_; ++k) out[k] = from[k * kFloatPanel];
}

}  // namespace millrace::kernels
