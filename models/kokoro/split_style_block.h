#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "models/kokoro/kokoro_layers.h"
#include "models/speech/split_product.h"

namespace millrace::kokoro {

// A KokoroStyleBlock for padded batches that is about as exact as one in float32, by SplitProduct.
// Signals are rows, [batch, time, channels]. Immutable, for any thread.
class SplitStyleBlock {
 public:
  // Returns none if the device of the weights has no such operators or they do not support these
  // layers.
  static std::optional<SplitStyleBlock> Make(const KokoroStyleBlock& block);

  // The channels of the input, which may be more than those of the block: the others must be zero.
  int64_t in_channels() const { return in_; }
  // Returns true if the result is twice as long as the input.
  bool doubles() const { return pool_weight_.defined(); }

  // counts: [batch] or of that many values, those of the input and of the result that count. What
  // is beyond the end of the result is finite.
  at::Tensor Run(const at::Tensor& x, const at::Tensor& style, const at::Tensor& counts,
                 const at::Tensor& counts_after) const;

 private:
  int64_t in_ = 0;
  int64_t taps_ = 0;
  KokoroLinear affine_;                 // to the scales and then the shifts of both norms
  at::Tensor pool_weight_, pool_bias_;  // [3, in] and [in]
  speech::SplitProduct conv_1_, conv_2_;
  std::optional<speech::SplitProduct> shortcut_;
};

// Returns the least number of channels of a SplitStyleBlock that is not below this one.
int64_t SplitChannels(int64_t channels);

}  // namespace millrace::kokoro
