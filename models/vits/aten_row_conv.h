#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace millrace::vits {

// A convolution that keeps the number of rows, as matrix products of ATen operators for any device:
// converts [batch, rows, in] to [batch, rows, out]. Zeros lie beyond the ends; where the number of
// taps is even, one more after it than before. Immutable, shared by all threads.
class AtenRowConv {
 public:
  AtenRowConv() = default;
  // weight: [out, in, taps]. bias: [out] or undefined.
  AtenRowConv(const at::Tensor& weight, at::Tensor bias);

  int64_t out_channels() const { return weight_.size(0); }
  at::Tensor Run(const at::Tensor& x) const;

 private:
  int64_t taps_ = 1;
  at::Tensor weight_;  // [out, in * taps]
  at::Tensor bias_;
};

}  // namespace millrace::vits
