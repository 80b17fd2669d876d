#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/packed_array.h"
#include "models/kernels/packed_floats.h"
#include "models/kernels/precision.h"
#include "models/kernels/scratch.h"

namespace millrace::kernels {

// Like PackedFloats, but rounded to bfloat16 or int8. With int8, an output whose weights are not
// all finite has no finite results. Immutable, so thread-safe.
class PackedNarrow {
 public:
  // The number of inputs must be a multiple of 16. clip_pairs: as the kernels that will multiply
  // say; of int8 alone.
  PackedNarrow(std::span<const FloatLinear> layers, Precision precision, bool clip_pairs = false);

  int64_t inputs() const { return inputs_; }
  int64_t width() const { return width_; }

  // The kernels must have the precision of the weights, and clip pairs if those are clipped.
  void Multiply(const NarrowKernels& kernels, const float* a, int64_t a_stride, int64_t rows,
                Scratch& scratch, float* out) const;
  void CopyOutput(int64_t output, float* out) const;

 private:
  const Precision precision_;
  int64_t inputs_ = 0;
  int64_t depth_ = 0;  // bytes of a column
  int64_t width_ = 0;
  // Returns true if the loading thread's PackStore has all arrays.
  bool Find();

  PackedArray<unsigned char> panels_;
  PackedArray<float> bias_;
  PackedArray<float> scales_;  // for int8 only
  PackedArray<int32_t> sums_;  // for int8: the sums of the columns' weights
  // The excess of clipped pairs, and the index at which that of each half of a panel begins. The
  // first is empty if there is none.
  PackedArray<NarrowExcess> excess_;
  PackedArray<int32_t> excess_begin_;
};

}  // namespace millrace::kernels
