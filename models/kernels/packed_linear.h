#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <variant>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/packed_floats.h"
#include "models/kernels/packed_narrow.h"
#include "models/kernels/precision.h"
#include "models/kernels/scratch.h"

namespace millrace::kernels {

// Returns true if the best kernels of this precision multiply its numbers as they are. Others widen
// them to float32 first, which is slower than float32 itself. Thread-safe.
bool IsNative(Precision precision);

// The kernels of linear layers, which determine their precision.
struct LinearKernels {
  const FloatKernels& floats;
  Precision precision = Precision::kFloat32;
  const NarrowKernels* narrow = nullptr;  // null for float32

  // Returns the best kernels that this CPU can run.
  static LinearKernels For(Precision precision);
};

// Linear layers with the same inputs side by side, in the precision of the kernels. Owns a copy.
// Immutable, so thread-safe.
class PackedLinear {
 public:
  PackedLinear(std::span<const FloatLinear> layers, const LinearKernels& kernels);
  PackedLinear(std::initializer_list<FloatLinear> layers, const LinearKernels& kernels)
      : PackedLinear(std::span(layers.begin(), layers.size()), kernels) {}

  int64_t inputs() const;
  // The number of floats of a row of results: the outputs of all layers, padded.
  int64_t width() const;

  // Multiplies rows of `inputs` floats, which lie a_stride apart. Writes contiguous rows of width()
  // floats.
  void Multiply(const float* a, int64_t a_stride, int64_t rows, Scratch& scratch, float* out) const;
  // Copies the rounded weights of one output: `inputs` floats.
  void CopyOutput(int64_t output, float* out) const;

 private:
  LinearKernels kernels_;
  std::variant<PackedFloats, PackedNarrow> packed_;
};

}  // namespace millrace::kernels
