#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/speech/packed_conv.h"

namespace millrace::speech {

// A 1-d convolution that keeps the length of a tensor, by the voices' kernels and
// kernels::ParallelFor. Immutable, shared by all threads.
class CpuConv {
 public:
  CpuConv() = default;
  // weight, bias: as PackedConv takes them. kind: of PackedConv::Order only
  // what is no order of channels; in int8 each row has a scale of its own.
  CpuConv(const StoredTensor& weight, const at::Tensor& bias, const PackedConv::Order& kind);

  // Converts x [batch, in, time] on the CPU to [batch, out, time]. Zeros lie beyond the ends; where
  // the number of taps is even, one more after it than before.
  at::Tensor Run(const at::Tensor& x) const;

  // Does the same over rows of channels: converts x [time, in] to [time, out].
  at::Tensor RunRows(const at::Tensor& x) const;

  int64_t out_channels() const { return out_; }

 private:
  int64_t out_ = 0;
  PackedConv conv_;
};

}  // namespace millrace::speech
