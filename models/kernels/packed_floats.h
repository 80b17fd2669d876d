#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/float_kernels.h"

namespace millrace::kernels {

// A matrix as a file has it: rows lie one after another, one row an output (of embeddings: a
// token).
struct FloatMatrix {
  const float* values = nullptr;
  int64_t outputs = 0;
  int64_t inputs = 0;
};

struct FloatLinear {
  FloatMatrix matrix;
  std::span<const float> bias;  // empty: none
};

// Linear layers of the same inputs side by side, in the order that the kernels read. Owns a copy.
// Immutable, so thread-safe.
class PackedFloats {
 public:
  explicit PackedFloats(std::span<const FloatLinear> layers);
  PackedFloats(std::initializer_list<FloatLinear> layers)
      : PackedFloats(std::span(layers.begin(), layers.size())) {}

  int64_t inputs() const { return inputs_; }
  // Floats of a row of results: the outputs of all layers, padded to whole panels.
  int64_t width() const { return width_; }

  // Rows of `inputs` floats, which lie a_stride apart, to rows of width() floats, back to back.
  void Multiply(const FloatKernels& kernels, const float* a, int64_t a_stride, int64_t rows,
                float* out) const;
  // The weights of one output: `inputs` floats.
  void CopyOutput(int64_t output, float* out) const;

 private:
  int64_t inputs_ = 0;
  int64_t width_ = 0;
  AlignedBuffer<float> panels_;
  AlignedBuffer<float> bias_;
};

}  // namespace millrace::kernels
