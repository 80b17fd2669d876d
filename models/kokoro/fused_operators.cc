#include "models/kokoro/fused_operators.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>

namespace millrace::kokoro {
namespace {

std::optional<FusedOperators> Find() {
  if (!runtime::FindDeviceOperator<FusedOperators::WhyNot>("millrace_kokoro::why_not"))
    return std::nullopt;
  return FusedOperators{
      .why_not = *runtime::FindDeviceOperator<FusedOperators::WhyNot>("millrace_kokoro::why_not"),
      .rows_of_channels = *runtime::FindDeviceOperator<FusedOperators::RowsOfChannels>(
          "millrace_kokoro::rows_of_channels"),
      .upsample =
          *runtime::FindDeviceOperator<FusedOperators::Upsample>("millrace_kokoro::upsample"),
      .snake_block =
          *runtime::FindDeviceOperator<FusedOperators::SnakeBlock>("millrace_kokoro::snake_block"),
      .channels_of_rows = *runtime::FindDeviceOperator<FusedOperators::ChannelsOfRows>(
          "millrace_kokoro::channels_of_rows")};
}

}  // namespace

const std::optional<FusedOperators>& FusedOperators::Get() {
  static const std::optional<FusedOperators>& operators =
      *new std::optional<FusedOperators>(Find());
  return operators;
}

at::Tensor PackForRows(const at::Tensor& weight) {
  return weight.to(at::kHalf)
      .view({weight.size(0), weight.size(1) / kRowChunk, kRowChunk, weight.size(2)})
      .permute({1, 3, 0, 2})
      .contiguous();
}

std::string WhyNotPacked(const at::Tensor& weight, int64_t dilation) {
  // The kernels copy the next rows during all taps but the last.
  if (weight.size(1) < 2) return "a convolution has one tap";
  if (!at::isfinite(weight).all().item<bool>()) return "a weight is too large for half precision";
  return FusedOperators::Get()->why_not.call(weight, dilation);
}

}  // namespace millrace::kokoro
