#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/conv_kernels.h"
#include "models/kernels/packed_array.h"

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
  };

  PackedConv() = default;
  // weight: [out, in, taps] on the CPU. bias: [out] or undefined.
  PackedConv(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation,
             const Order& order);
  PackedConv(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation)
      : PackedConv(weight, bias, dilation, Order()) {}
  // Makes a plain convolution of a transposed one, weight [in, out, kernel], which computes
  // `stride` rows at once. Output row q holds, contiguously, the rows q * stride .. q * stride +
  // stride - 1 of the uncropped result; it reads the input rows q - taps + 1 .. q.
  static PackedConv Transposed(const at::Tensor& weight, const at::Tensor& bias, int64_t stride);

  // Returns a task with the layer's shape, weights and bias. The caller adds where the rows lie and
  // what to do with the results.
  kernels::ConvTask Task() const;

  int64_t taps() const { return taps_; }
  int64_t dilation() const { return dilation_; }
  int64_t in_channels() const { return in_channels_; }
  int64_t out_channels() const { return out_channels_; }
  // Returns the number of input rows on each side of an output row that it reads.
  int64_t margin() const { return (taps_ - 1) * dilation_ / 2; }
  // Returns the number of input rows behind those that the last output row needs, which are read
  // too, see kernels::WinogradForm.
  int64_t extra_rows() const { return kernels::WinogradFormOf(Task()).extra * dilation_; }
  // Returns the number of rows at whose multiples a task may be cut, see kernels::WinogradForm.
  int64_t cut_step() const;
  const float* bias() const { return bias_.data(); }

 private:
  // Sets weights_, in the order of the kernels, a block at a time. The weight of an output channel
  // `place`, an input channel c and a tap is sign * row_of(place, tap)[offset_of(c)]; where the row
  // is null or the offset negative it is 0.
  template <typename RowOf, typename OffsetOf>
  void Pack(const RowOf& row_of, const OffsetOf& offset_of, float sign);

  int64_t taps_ = 0;
  int64_t dilation_ = 1;
  int64_t in_channels_ = 0;
  int64_t out_channels_ = 0;  // padded
  bool exact_ = false;
  bool winograd_ = false;
  kernels::PackedArray<float> weights_;  // possibly of the loading thread's PackStore
  kernels::AlignedBuffer<float> bias_;
};

}  // namespace millrace::speech
