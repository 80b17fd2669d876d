#include "models/speech/split_product.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>

#include <cmath>
#include <string>
#include <tuple>

#include "mps_runtime/device_operator.h"

namespace millrace::speech {
namespace {

// Weights are scaled by a power of two so that their rests are not too small for half precision.
constexpr int kLargestExponent = 10;

using WhyNoSplit = std::string(const at::Tensor& tensor);
using SplitOneFactor = at::Tensor(const at::Tensor& x);
using FinishProduct = at::Tensor(const at::Tensor& product, double scale, const at::Tensor& bias,
                                 const std::optional<at::Tensor>& kept, int64_t repeat,
                                 double factor);
using AddNormSplit = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& product, double scale,
                                                        const at::Tensor& bias,
                                                        const at::Tensor& residual,
                                                        const at::Tensor& weight,
                                                        const at::Tensor& shift, double epsilon);
using GeluSplit = at::Tensor(const at::Tensor& product, double scale, const at::Tensor& bias);
using UnfoldSplit = at::Tensor(const at::Tensor& x, const std::optional<at::Tensor>& counts,
                               const std::optional<at::Tensor>& norm, double slope, int64_t taps);

template <typename Signature>
c10::TypedOperatorHandle<Signature> Find(const char* name) {
  return *runtime::FindDeviceOperator<Signature>(name);
}

}  // namespace

bool SplitProduct::SupportedFor(const at::Tensor& tensor) {
  static const auto why_not =
      runtime::FindDeviceOperator<WhyNoSplit>("millrace_speech::why_no_split");
  return tensor.is_cuda() && why_not && why_not->call(tensor).empty();
}

SplitProduct::SplitProduct(const at::Tensor& weight, const at::Tensor& bias) : bias_(bias) {
  const double largest = weight.abs().max().item<double>();
  const int exponent =
      std::isfinite(largest) && largest > 0 ? kLargestExponent - std::ilogb(largest) : 0;
  scale_ = std::ldexp(1.0, -exponent);
  // The channels that a tap reads lie together.
  const at::Tensor rows =
      (weight.dim() == 3 ? weight.transpose(1, 2).flatten(1) : weight) * std::ldexp(1.0, exponent);
  const at::Tensor rounded = rows.to(at::kHalf);
  const at::Tensor rest = (rows - rounded.to(at::kFloat)).to(at::kHalf);
  weight_ = at::cat({rounded, rest, rounded}, 1);
}

at::Tensor SplitProduct::Multiply(const at::Tensor& split) const {
  return at::mm(split, weight_.t(), at::kFloat);
}

at::Tensor SplitProduct::Finish(const at::Tensor& product, const std::optional<at::Tensor>& kept,
                                int64_t repeat, double factor) const {
  static const auto finish = Find<FinishProduct>("millrace_speech::finish_product");
  return finish.call(product, scale_, bias_, kept, repeat, factor);
}

std::pair<at::Tensor, at::Tensor> SplitProduct::FinishNorm(const at::Tensor& product,
                                                           const at::Tensor& residual,
                                                           const at::Tensor& weight,
                                                           const at::Tensor& shift,
                                                           double epsilon) const {
  static const auto finish = Find<AddNormSplit>("millrace_speech::add_norm_split");
  auto [x, split] = finish.call(product, scale_, bias_, residual, weight, shift, epsilon);
  return {std::move(x), std::move(split)};
}

at::Tensor SplitProduct::FinishGelu(const at::Tensor& product) const {
  static const auto finish = Find<GeluSplit>("millrace_speech::gelu_split");
  return finish.call(product, scale_, bias_);
}

at::Tensor SplitProduct::Split(const at::Tensor& x) {
  static const auto split = Find<SplitOneFactor>("millrace_speech::split");
  return split.call(x);
}

at::Tensor SplitProduct::Unfold(const at::Tensor& x, const std::optional<at::Tensor>& counts,
                                const std::optional<at::Tensor>& norm, double slope, int64_t taps) {
  static const auto unfold = Find<UnfoldSplit>("millrace_speech::unfold_split");
  return unfold.call(x, counts, norm, slope, taps);
}

}  // namespace millrace::speech
