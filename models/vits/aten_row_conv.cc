#include "models/vits/aten_row_conv.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/linear.h>

#include <utility>

namespace millrace::vits {

AtenRowConv::AtenRowConv(const at::Tensor& weight, at::Tensor bias)
    : taps_(weight.size(2)), weight_(weight.flatten(1)), bias_(std::move(bias)) {}

at::Tensor AtenRowConv::Run(const at::Tensor& x) const {
  if (taps_ == 1) return at::linear(x, weight_, bias_);
  const int64_t before = (taps_ - 1) / 2;
  const at::Tensor padded = at::constant_pad_nd(x, {0, 0, before, taps_ - 1 - before});
  return at::linear(padded.unfold(1, taps_, 1).flatten(2), weight_, bias_);
}

}  // namespace millrace::vits
