#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/conv_kernels.h"
#include "models/kernels/packed_array.h"
#include "models/kernels/packed_narrow.h"
#include "models/kernels/precision.h"
#include "models/speech/stored_tensor.h"

namespace millrace::speech {

// Returns the width of a row of channels: their number rounded up to whole blocks.
inline int64_t PadChannels(int64_t channels) {
  return (channels + kernels::kChannelBlock - 1) / kernels::kChannelBlock * kernels::kChannelBlock;
}

// The weights of a 1-d convolution in the order in which the kernels read them. Immutable, shared
// by all threads.
class PackedConv {
 public:
  // The channel of the original at each place; -1: none, with weights of 0. Empty: the original
  // order.
  struct Order {
    std::vector<int64_t> inputs = {};
    std::vector<int64_t> outputs = {};
    float sign = 1.0F;   // the sign of weights and bias
    bool exact = false;  // the kind of the tasks
    bool winograd = false;
    // float32 or int8. Rows of inputs of a task in int8 lie PadChannels(in_channels()) floats
    // apart, and those beyond the channels are finite.
    kernels::Precision precision = kernels::Precision::kFloat32;
    // In int8, each row of results has a scale of its own, for which an input is rounded once for
    // each tap. Else PackedNarrow::kRowsOfScale rows share one. Needs a dilation of 1.
    bool scales_by_row = false;
  };

  PackedConv() = default;
  // weight: [out, in, taps], or [out, in] of one tap, on the CPU. Its values are read only if the
  // loading thread's PackStore does not have what they would be packed to. bias: [out] or
  // undefined.
  PackedConv(const StoredTensor& weight, const at::Tensor& bias, int64_t dilation,
             const Order& order);
  PackedConv(const StoredTensor& weight, const at::Tensor& bias, int64_t dilation)
      : PackedConv(weight, bias, dilation, Order()) {}
  // Makes a plain convolution of a transposed one, weight [in, out, kernel], which computes
  // `stride` rows at once. Output row q holds, contiguously, the rows q * stride .. q * stride +
  // stride - 1 of the uncropped result; it reads the input rows q - taps + 1 .. q.
  // In int8 each of these rows has a scale of its own.
  static PackedConv Transposed(const StoredTensor& weight, const at::Tensor& bias, int64_t stride,
                               kernels::Precision precision = kernels::Precision::kFloat32);

  // Returns a task with the layer's shape, weights and bias. The caller adds where the rows lie and
  // what to do with the results.
  kernels::ConvTask Task() const;

  int64_t taps() const { return taps_; }
  int64_t dilation() const { return dilation_; }
  int64_t in_channels() const { return in_channels_; }
  int64_t out_channels() const { return out_channels_; }
  bool in_int8() const { return narrow_ != nullptr; }
  // Returns the number of input rows on each side of an output row that it reads.
  int64_t margin() const { return (taps_ - 1) * dilation_ / 2; }
  // Returns the number of rows at whose multiples a task may be cut, see kernels::HasWinogradForm
  // and kernels::PackedNarrow.
  int64_t cut_step() const;
  const float* bias() const { return bias_.data(); }

 private:
  // Sets weights_, in the order of the kernels, a block at a time. The weight of an output channel
  // `place`, an input channel c and a tap is sign * row_of(place, tap)[offset_of(c)]; where the row
  // is null or the offset negative it is 0.
  template <typename RowOf, typename OffsetOf>
  void Pack(const RowOf& row_of, const OffsetOf& offset_of, float sign);
  // Sets narrow_ in the same way.
  template <typename RowOf, typename OffsetOf>
  void PackNarrow(const RowOf& row_of, const OffsetOf& offset_of, float sign, bool scales_by_row);

  int64_t taps_ = 0;
  int64_t dilation_ = 1;
  int64_t in_channels_ = 0;
  int64_t out_channels_ = 0;  // padded
  bool exact_ = false;
  bool winograd_ = false;
  kernels::PackedArray<float> weights_;  // possibly of the loading thread's PackStore
  std::unique_ptr<const kernels::PackedNarrow> narrow_;  // int8 weights, instead of weights_
  kernels::AlignedBuffer<float> bias_;
};

}  // namespace millrace::speech
