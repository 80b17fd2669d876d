#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/float_kernels.h"
#include "models/kernels/packed_array.h"

namespace millrace::kernels {

// A matrix in the order of a file: rows are contiguous, and each row is an output (in embeddings: a
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

// Linear layers with the same inputs side by side, in the order that the kernels read. Has a copy
// of its own, or that of the loading thread's PackStore. Immutable, so thread-safe.
class PackedFloats {
 public:
  explicit PackedFloats(std::span<const FloatLinear> layers);
  PackedFloats(std::initializer_list<FloatLinear> layers)
      : PackedFloats(std::span(layers.begin(), layers.size())) {}

  int64_t inputs() const { return inputs_; }
  // The number of floats of a row of results: the outputs of all layers, padded to whole panels.
  int64_t width() const { return width_; }

  // Multiplies rows of `inputs` floats, which lie a_stride apart. Writes contiguous rows of width()
  // floats.
  void Multiply(const FloatKernels& kernels, const float* a, int64_t a_stride, int64_t rows,
                float* out) const;
  // Copies the weights of one output: `inputs` floats.
  void CopyOutput(int64_t output, float* out) const;

 private:
  int64_t inputs_ = 0;
  int64_t width_ = 0;
  PackedArray<float> panels_;
  PackedArray<float> bias_;
};

}  // namespace millrace::kernels
