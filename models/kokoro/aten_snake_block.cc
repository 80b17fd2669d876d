#include "models/kokoro/aten_snake_block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/cudnn_convolution.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sin.h>

#include "models/core/strings.h"

namespace millrace::kokoro {
namespace {

// This is most of what Kokoro computes. On CUDA the factors of this call are rounded to ten bits
// for the matrix units, whatever libtorch's settings. Samples then differ by 5e-4 at most, because
// the curves that the phases depend on are computed elsewhere.
at::Tensor Convolve(const at::Tensor& x, const at::Tensor& weight, int64_t dilation) {
  const int64_t padding = (weight.size(2) - 1) * dilation / 2;
  if (!x.is_cuda()) return at::conv1d(x, weight, {}, 1, padding, dilation);
  return at::cudnn_convolution(x.unsqueeze(2), weight.unsqueeze(2), {0, padding}, {1, 1},
                               {1, dilation}, /*groups=*/1, /*benchmark=*/false,
                               /*deterministic=*/false, /*allow_tf32=*/true)
      .squeeze(2);
}

}  // namespace

AtenSnakeBlock::AtenSnakeBlock(speech::TensorReader& weights, const std::string& name,
                               int64_t channels, int64_t style,
                               const std::vector<int64_t>& dilations) {
  std::vector<at::Tensor> affine_weights, affine_biases;
  for (size_t i = 0; i < dilations.size(); ++i) {
    for (const int half : {1, 2}) {
      const KokoroAffine affine =
          KokoroStyleNorm::Take(weights, StrCat(name, ".adain", half, ".", i), channels, style)
              .affine;
      const at::Tensor alpha = weights.Take(StrCat(name, ".alpha", half, ".", i), {channels});
      const KokoroConv conv =
          KokoroConv::TakeSame(weights, StrCat(name, ".convs", half, ".", i), channels, channels);
      if (!weights.status().ok()) return;
      const at::Tensor less = affine.bias.view({2, channels});  // the scales are stored minus 1
      affine_weights.push_back(affine.weight.Floats() * at::cat({alpha, alpha}).unsqueeze(1));
      affine_biases.push_back((less[0] + 1) * alpha);
      affine_biases.push_back(less[1] * alpha);
      layers_.push_back({.weight = conv.weight / alpha.view({1, -1, 1}),
                         .dilation = half == 1 ? dilations[i] : 1});
      if (half == 2 && conv.bias.defined()) {
        const at::Tensor bias = conv.bias.view({1, -1, 1});
        bias_ = bias_.defined() ? bias_ + bias : bias;
      }
    }
  }
  affine_ = {at::cat(affine_weights), at::cat(affine_biases)};
}

at::Tensor AtenSnakeBlock::RunLayer(size_t layer, const at::Tensor& x, const at::Tensor& styles,
                                    const KokoroExtent& extent) const {
  const int64_t channels = x.size(1);
  const int64_t first = 2 * channels * static_cast<int64_t>(layer);
  const auto [scale, shift] = KokoroStyleNorm::Scale(
      x, styles.narrow(1, first, channels), styles.narrow(1, first + channels, channels), extent);
  // With alpha a, a * y + sin(a * y)^2 is a times the activation of y.
  const at::Tensor y = at::addcmul(shift, x, scale);
  const at::Tensor sine = at::sin(y);
  const at::Tensor snake = at::addcmul(y, sine, sine).mul_(extent.mask);
  const auto& [weight, dilation] = layers_[layer];
  return Convolve(snake, weight, dilation);
}

at::Tensor AtenSnakeBlock::Run(const at::Tensor& x, const at::Tensor& style,
                               const KokoroExtent& extent) const {
  const at::Tensor styles = affine_.Run(style).unsqueeze(2);
  at::Tensor sum = x;
  for (size_t i = 0; i < layers_.size(); i += 2) {
    const at::Tensor first = RunLayer(i, sum, styles, extent).mul_(extent.mask);
    sum = at::addcmul(sum, RunLayer(i + 1, first, styles, extent), extent.mask);
  }
  return bias_.defined() ? at::addcmul(sum, bias_, extent.mask) : sum;
}

}  // namespace millrace::kokoro
