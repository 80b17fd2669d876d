#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/narrow_kernels.h"
#include "models/kernels/packed_floats.h"
#include "models/kernels/precision.h"
#include "models/kernels/scratch.h"

namespace millrace::kernels {

// As PackedFloats, but rounded to bfloat16 or int8. An output's weights that are no finite numbers
// make of int8 all its results none. Immutable, so thread-safe.
class PackedNarrow {
 public:
  // The inputs are a multiple of 16.
  PackedNarrow(std::span<const FloatLinear> layers, Precision precision);

  int64_t inputs() const { return inputs_; }
  int64_t width() const { return width_; }

  // The kernels must be of the precision.
  void Multiply(const NarrowKernels& kernels, const float* a, int64_t a_stride, int64_t rows,
                Scratch& scratch, float* out) const;
  void CopyOutput(int64_t output, float* out) const;

 private:
  const Precision precision_;
  int64_t inputs_ = 0;
  int64_t depth_ = 0;  // bytes of a column
  int64_t width_ = 0;
  AlignedBuffer<unsigned char> panels_;
  AlignedBuffer<float> bias_;
  AlignedBuffer<float> scales_;  // of int8
  AlignedBuffer<int32_t> sums_;  // of int8, of the columns' weights
};

}  // namespace millrace::kernels
