#include "models/vits/aten_row_conv.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/linear.h>

#include <utility>

namespace millrace::vits {

AtenRowConv::AtenRowConv(const at::Tensor& weight, at::Tensor bias)
    : taps_(weight.size(2)), out_channels_(weight.size(0)), bias_(std::move(bias)) {
  if (bias_.defined() && taps_ % 2 == 1 && weight.size(1) % 2 == 0 && out_channels_ % 2 == 0 &&
      speech::SplitProduct::SupportedFor(weight)) {
    split_.emplace(weight, bias_);
  } else {
    weight_ = weight.flatten(1);
  }
}

at::Tensor AtenRowConv::RunRows(const at::Tensor& x) const {
  if (split_) {
    const at::Tensor split =
        taps_ == 1 ? speech::SplitProduct::Split(x)
                   : speech::SplitProduct::Unfold(x.contiguous(), std::nullopt, std::nullopt,
                                                  /*slope=*/1, taps_);
    return split_->Finish(split_->Multiply(split)).view({x.size(0), x.size(1), out_channels_});
  }
  if (taps_ == 1) return at::linear(x, weight_, bias_);
  const int64_t before = (taps_ - 1) / 2;
  const at::Tensor padded = at::constant_pad_nd(x, {0, 0, before, taps_ - 1 - before});
  return at::linear(padded.unfold(1, taps_, 1).flatten(2), weight_, bias_);
}

}  // namespace millrace::vits
