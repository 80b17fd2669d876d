#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/kernels/conv_kernels.h"
#include "models/kernels/narrow_kernels.h"
#include "models/kernels/packed_array.h"
#include "models/kernels/packed_floats.h"
#include "models/kernels/precision.h"
#include "models/kernels/scratch.h"

namespace millrace::kernels {

// The rows that an output of a convolution reads: `count` of them, `dilation` rows apart.
struct Taps {
  int64_t count = 1;
  int64_t dilation = 1;

  // Returns the number of rows beyond an output's first one that it reads.
  int64_t Reach() const { return (count - 1) * dilation; }
};

// Like PackedFloats, but rounded to bfloat16 or int8. With int8, an output whose weights are not
// all finite has no finite results. Immutable, so thread-safe.
class PackedNarrow {
 public:
  // The rows of results of a convolution with several taps whose inputs share a scale, beginning
  // with the first.
  static constexpr int64_t kRowsOfScale = 64;

  // The number of inputs must be a multiple of 16. clip_pairs: as the kernels that will multiply
  // say; of int8 alone. taps: of a convolution, which is of int8 alone; an output's weights are
  // then those of its taps one after another.
  PackedNarrow(std::span<const FloatLinear> layers, Precision precision, bool clip_pairs = false,
               Taps taps = {});
  // Does the same for one layer. weights: makes [outputs, inputs]; it is called only if the loading
  // thread's PackStore does not have what it would be packed to. bias: empty, or of all outputs.
  PackedNarrow(int64_t outputs, int64_t inputs, const std::function<std::vector<float>()>& weights,
               std::span<const float> bias, Precision precision, bool clip_pairs, Taps taps);

  int64_t inputs() const { return inputs_; }
  int64_t width() const { return width_; }
  int64_t taps() const { return taps_.count; }

  // The kernels must have the precision of the weights, and clip pairs if those are clipped.
  void Multiply(const NarrowKernels& kernels, const float* a, int64_t a_stride, int64_t rows,
                Scratch& scratch, float* out) const;
  // Computes a task, which must have no gate, on the calling thread, with these weights in place of
  // its own; its shape but the rows and pitches is that of the weights. A task without a bias gets
  // that of the weights. With several taps a value depends on the inputs of all of the kRowsOfScale
  // rows of results around it, so a task may be cut at multiples of these. With one tap each row
  // has a scale of its own.
  void Convolve(const NarrowKernels& kernels, const ConvTask& task, Scratch& scratch) const;
  // Copies the rounded weights of one output; not of a convolution.
  void CopyOutput(int64_t output, float* out) const;

 private:
  PackedNarrow(int64_t outputs, int64_t inputs, Precision precision, Taps taps);
  void Pack(std::span<const FloatLinear> layers, bool clip_pairs);

  const Precision precision_;
  const Taps taps_;
  int64_t inputs_ = 0;  // the inputs of a tap
  // The taps that share a block of a column's inputs: two where the inputs of each fill at most
  // half of it. A converted row then has the inputs of the row of the next tap in its second half.
  int64_t block_taps_ = 1;
  int64_t depth_ = 0;  // the bytes of a column's inputs of so many taps
  int64_t width_ = 0;
  // Returns true if the loading thread's PackStore has all arrays.
  bool Find();
  int64_t ColumnBytes() const { return (taps_.count + block_taps_ - 1) / block_taps_ * depth_; }
  // Copies the first half of each row that is `dilation` behind another to that one's second half.
  void CopyNextTap(const NarrowRows& rows) const;
  // Returns the product with all columns, without rows.
  NarrowProduct Product() const;

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
