#include "models/speech/row_operators.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros_like.h>

#include <vector>

namespace millrace::speech {
namespace {

std::optional<RowOperators> Find() {
  if (!runtime::FindDeviceOperator<RowOperators::WhyNot>("millrace_speech::why_not_rows"))
    return std::nullopt;
  return RowOperators{
      .why_not =
          *runtime::FindDeviceOperator<RowOperators::WhyNot>("millrace_speech::why_not_rows"),
      .rows_of_channels = *runtime::FindDeviceOperator<RowOperators::RowsOfChannels>(
          "millrace_speech::rows_of_channels"),
      .upsample = *runtime::FindDeviceOperator<RowOperators::Upsample>("millrace_speech::upsample"),
      .masked_upsample = *runtime::FindDeviceOperator<RowOperators::MaskedUpsample>(
          "millrace_speech::masked_upsample"),
      .masked_convolve = *runtime::FindDeviceOperator<RowOperators::MaskedConvolve>(
          "millrace_speech::masked_convolve"),
      .gate_rows =
          *runtime::FindDeviceOperator<RowOperators::GateRows>("millrace_speech::gate_rows"),
      .channels_of_rows = *runtime::FindDeviceOperator<RowOperators::ChannelsOfRows>(
          "millrace_speech::channels_of_rows"),
      .samples_of_rows = *runtime::FindDeviceOperator<RowOperators::SamplesOfRows>(
          "millrace_speech::samples_of_rows")};
}

}  // namespace

const std::optional<RowOperators>& RowOperators::Get() {
  static const std::optional<RowOperators>& operators = *new std::optional<RowOperators>(Find());
  return operators;
}

at::Tensor PackForRows(const at::Tensor& weight) {
  return weight.to(at::kHalf)
      .view({weight.size(0), weight.size(1) / kRowChunk, kRowChunk, weight.size(2)})
      .permute({1, 3, 0, 2})
      .contiguous();
}

at::Tensor PackTransposedForRows(const at::Tensor& weight, int64_t stride) {
  const int64_t in = weight.size(0);
  const int64_t out = weight.size(1);
  // The first tap reads the value before, to which the later half of the weight belongs.
  return at::flip(weight.to(at::kHalf).view({in / kRowChunk, kRowChunk, out, 2, stride}), {3})
      .permute({0, 3, 4, 2, 1})
      .contiguous()
      .view({in / kRowChunk, 2, stride * out, kRowChunk});
}

namespace {

// Puts two tensors of one shape together, kSplitChannels of one and of the other in turn.
at::Tensor Interleave(const at::Tensor& high, const at::Tensor& low, int64_t side) {
  std::vector<int64_t> parted = high.sizes().vec();
  parted[static_cast<size_t>(side)] = kSplitChannels;
  parted.insert(parted.begin() + side, high.size(side) / kSplitChannels);
  std::vector<int64_t> joined = high.sizes().vec();
  joined[static_cast<size_t>(side)] *= 2;
  return at::cat({high.reshape(parted), low.reshape(parted)}, side + 1).reshape(joined);
}

}  // namespace

at::Tensor SplitInputs(const at::Tensor& weight, int64_t side) {
  return Interleave(weight, weight, side);
}

at::Tensor SplitOutputs(const at::Tensor& weight, int64_t side) {
  const at::Tensor high = weight.to(at::kHalf).to(at::kFloat);
  return Interleave(high, weight - high, side);
}

at::Tensor SplitRows(const at::Tensor& values) {
  const at::Tensor high = values.to(at::kHalf);
  return Interleave(high, (values - high.to(at::kFloat)).to(at::kHalf), 1).unsqueeze(0);
}

at::Tensor SplitBias(const at::Tensor& bias) {
  return Interleave(bias, at::zeros_like(bias), 0).contiguous();
}

PackedRowConv PackSplitConv(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation) {
  return {.weight = PackForRows(SplitInputs(SplitOutputs(weight, 0), 1)),
          .bias = bias.defined() ? std::optional(SplitBias(bias)) : std::nullopt,
          .dilation = dilation};
}

std::string WhyNotPacked(const at::Tensor& weight, int64_t dilation) {
  if (!at::isfinite(weight).all().item<bool>()) return "a weight is too large for half precision";
  return RowOperators::Get()->why_not.call(weight, dilation);
}

}  // namespace millrace::speech
