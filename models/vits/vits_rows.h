#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/speech/cpu_conv.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// The layers that the first half of VITS is made of, over rows of channels: [phonemes, channels],
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

// A convolution that keeps the number of rows, exact in float32: from these sums it is decided how
// long a phoneme lasts. Errors are kept in weights.status().
speech::CpuConv TakeRowConv(VitsWeights& weights, const std::string& name,
                            const std::vector<int64_t>& shape);

}  // namespace millrace::vits
