#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "models/speech/cpu_conv.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// The layers of VITS's encoder and duration predictor over rows of channels, [phonemes, channels],
// on the CPU. Immutable, shared by all threads.

// A layer norm over the channels of each row.
class VitsNorm {
 public:
  VitsNorm() = default;
  // Errors are kept in weights.status().
  VitsNorm(VitsWeights& weights, const std::string& name, int64_t channels);

  at::Tensor Run(const at::Tensor& x) const;

 private:
  at::Tensor gamma_;
  at::Tensor beta_;
};

// Makes a convolution that keeps the number of rows of these weights; bias may be undefined.
template <typename Conv>
Conv MakeRowConv(const at::Tensor& weight, const at::Tensor& bias) {
  return Conv(weight, bias);
}
// The products are exact in float32, because they decide the length of phonemes.
template <>
inline speech::CpuConv MakeRowConv(const at::Tensor& weight, const at::Tensor& bias) {
  return speech::CpuConv(weight, bias, {.exact = true});
}

}  // namespace millrace::vits
