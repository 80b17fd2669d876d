#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/speech/packed_conv.h"

namespace millrace::speech {

// A transposed 1-d convolution that makes a tensor `stride` times as long, by the voices' kernels
// and kernels::ParallelFor. Immutable, shared by all threads.
class CpuUpsampling {
 public:
  // weight: [in, out, taps] on the CPU; taps - stride is even. bias: [out].
  // precision: float32 or int8.
  CpuUpsampling(const StoredTensor& weight, const at::Tensor& bias, int64_t stride,
                kernels::Precision precision = kernels::Precision::kFloat32);

  // Converts x [batch, in, time] on the CPU to [batch, out, stride * time]. As many values are cut
  // at both ends.
  at::Tensor Run(const at::Tensor& x) const;

  // Does the same over rows of channels: converts x [time, PadChannels(in)] to [stride * time,
  // PadChannels(out)], of which channels beyond `out` are zero. reflected: the result has its
  // second row once more in front.
  at::Tensor RunRows(const at::Tensor& x, bool reflected) const;

 private:
  int64_t stride_ = 1;
  int64_t crop_ = 0;  // values that are cut at each end
  int64_t out_ = 0;
  PackedConv conv_;
};

}  // namespace millrace::speech
