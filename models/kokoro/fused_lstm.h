#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>

#include "models/kokoro/kokoro_extent.h"
#include "models/speech/split_product.h"

namespace millrace::kokoro {

// A bidirectional LSTM layer in one kernel for all steps, in float32, where a device's backend
// registers an operator for it in libtorch's library millrace_kokoro: CUDA's does for compute
// capability 9.0 and later. Immutable, for any thread.
class FusedLstm {
 public:
  // parameters: the input weight [4 * hidden, in], the recurrent weight and the two biases of each
  // direction. Returns none if there is no such operator for their device or their size.
  static std::optional<FusedLstm> Make(std::span<const at::Tensor> parameters);

  // Converts [batch, time, in] to [batch, time, 2 * hidden], with zeros beyond the extent.
  at::Tensor Run(const at::Tensor& x, const KokoroExtent& extent) const;

 private:
  explicit FusedLstm(std::span<const at::Tensor> parameters);

  speech::SplitProduct input_;  // both directions have 8 * hidden outputs
  at::Tensor recurrent_;        // [2, 4 * hidden, hidden]
};

}  // namespace millrace::kokoro
