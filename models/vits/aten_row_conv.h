#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "models/speech/split_product.h"

namespace millrace::vits {

// A convolution that keeps the number of rows, as matrix products of ATen operators for any device:
// converts [batch, rows, in] to [batch, rows, out]. Zeros lie beyond the ends; where the number of
// taps is even, one more after it than before. Where the device has operators for it, the products
// are those of SplitProduct. Immutable, shared by all threads.
class AtenRowConv {
 public:
  AtenRowConv() = default;
  // weight: [out, in, taps]. bias: [out] or undefined.
  AtenRowConv(const at::Tensor& weight, at::Tensor bias);

  int64_t out_channels() const { return out_channels_; }
  at::Tensor RunRows(const at::Tensor& x) const;

 private:
  int64_t taps_ = 1;
  int64_t out_channels_ = 0;
  at::Tensor weight_;  // [out, in * taps]; undefined with split_
  at::Tensor bias_;
  std::optional<speech::SplitProduct> split_;
};

}  // namespace millrace::vits
