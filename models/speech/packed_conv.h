#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/conv_kernels.h"

namespace millrace::speech {

// Channels rounded up to whole blocks: the width of a row of them.
inline int64_t PadChannels(int64_t channels) {
  return (channels + kernels::kChannelBlock - 1) / kernels::kChannelBlock * kernels::kChannelBlock;
}

// The weights of a 1-d convolution in the order in which the kernels read them. Immutable, shared
// by all threads.
class PackedConv {
 public:
  // Which channel of the original is at each place; -1: none, weights of 0. Empty: in order.
  struct Order {
    std::vector<int64_t> inputs = {};
    std::vector<int64_t> outputs = {};
    float sign = 1.0F;   // of weights and bias
    bool exact = false;  // the kind of the tasks
  };

  PackedConv() = default;
  // weight [out, in, taps] on the CPU; bias [out] or undefined.
  PackedConv(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation,
             const Order& order);
  PackedConv(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation)
      : PackedConv(weight, bias, dilation, Order()) {}
  // A transposed convolution as a plain one that computes `stride` rows at once: weight [in, out,
  // kernel]. Output row q holds, back to back, the rows q * stride .. q * stride + stride - 1 of
  // the uncropped result; it reads the input rows q - taps + 1 .. q.
  static PackedConv Transposed(const at::Tensor& weight, const at::Tensor& bias, int64_t stride);

  // The rows, weights and bias of a task: what is left is where they lie and what to do with the
  // results.
  kernels::ConvTask Task() const;

  int64_t taps() const { return taps_; }
  int64_t dilation() const { return dilation_; }
  int64_t in_channels() const { return in_channels_; }
  int64_t out_channels() const { return out_channels_; }
  // Input rows that it reads on each side of an output row.
  int64_t margin() const { return (taps_ - 1) * dilation_ / 2; }
  const float* bias() const { return bias_.data(); }

 private:
  // Brings weights_ from [block][tap][in channel][kChannelBlock] to the order of the kernels.
  void Pack();

  int64_t taps_ = 0;
  int64_t dilation_ = 1;
  int64_t in_channels_ = 0;
  int64_t out_channels_ = 0;  // padded
  bool exact_ = false;
  kernels::AlignedBuffer<float> weights_;
  kernels::AlignedBuffer<float> bias_;
};

}  // namespace millrace::speech
