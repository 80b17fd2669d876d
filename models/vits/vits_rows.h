#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

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

// Takes a convolution that keeps the number of rows, exact in float32, because these sums decide
// the length of phonemes. Errors are kept in weights.status().
speech::CpuConv TakeRowConv(VitsWeights& weights, const std::string& name,
                            const std::vector<int64_t>& shape);

}  // namespace millrace::vits
