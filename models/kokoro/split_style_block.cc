#include "models/kokoro/split_style_block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

#include <numbers>

#include "mps_runtime/device_operator.h"

namespace millrace::kokoro {
namespace {

constexpr int64_t kChannels = 64;  // the operators take a multiple of so many channels

// Returns the scales and shifts of the norm of x [batch, time, channels]: [batch, 2, channels].
using StyleNorm = at::Tensor(const at::Tensor& x, const at::Tensor& style,
                             const at::Tensor& counts);
// Returns the leaky ReLU of x with the norm, doubled by a transposed convolution of each channel by
// itself: [batch, 2 * time, channels].
using DoubleLength = at::Tensor(const at::Tensor& x, const at::Tensor& counts,
                                const at::Tensor& norm, double slope, const at::Tensor& weight,
                                const at::Tensor& bias);

at::Tensor NormOf(const at::Tensor& x, const at::Tensor& style, const at::Tensor& counts) {
  static const auto run = *runtime::FindDeviceOperator<StyleNorm>("millrace_kokoro::style_norm");
  return run.call(x, style, counts);
}

// Returns x with zeros behind the end of a dimension.
at::Tensor PadTo(const at::Tensor& x, int64_t dimension, int64_t size) {
  std::vector<int64_t> padding(2 * static_cast<size_t>(x.dim()), 0);
  padding[2 * static_cast<size_t>(x.dim() - 1 - dimension) + 1] = size - x.size(dimension);
  return at::constant_pad_nd(x, padding);
}

// Joins the layers that make the scales and shifts of two norms from a style. The first norm has
// `channels`, of which those that it lacks stay zero.
KokoroLinear JoinNorms(const KokoroStyleNorm& first, const KokoroStyleNorm& second,
                       int64_t channels) {
  std::vector<at::Tensor> weights, biases;
  for (const KokoroStyleNorm* const norm : {&first, &second}) {
    const at::Tensor weight = norm->affine.weight.Floats();
    const int64_t own = weight.size(0) / 2;
    const int64_t padded = norm == &first ? channels : own;
    for (const int64_t begin : {int64_t{0}, own}) {
      const at::Tensor bias = norm->affine.bias.narrow(0, begin, own);
      weights.push_back(PadTo(weight.narrow(0, begin, own), 0, padded));
      biases.push_back(PadTo(begin == 0 ? bias + 1 : bias, 0, padded));  // scales lack 1
    }
  }
  return {at::cat(weights), at::cat(biases)};
}

speech::SplitProduct ProductOf(const KokoroSameConv& conv, int64_t in) {
  const at::Tensor& weight = conv.weight();
  return {PadTo(weight, 1, in),
          conv.bias().defined() ? conv.bias() : at::zeros({weight.size(0)}, weight.options())};
}

}  // namespace

int64_t SplitChannels(int64_t channels) {
  return (channels + kChannels - 1) / kChannels * kChannels;
}

std::optional<SplitStyleBlock> SplitStyleBlock::Make(const KokoroStyleBlock& block) {
  const at::Tensor& first = block.conv_1.weight();
  if (!first.defined() || !speech::SplitProduct::SupportedFor(first) ||
      first.size(0) % kChannels != 0 || first.size(2) != block.conv_2.weight().size(2))
    return std::nullopt;
  SplitStyleBlock split;
  split.in_ = SplitChannels(first.size(1));
  split.taps_ = first.size(2);
  split.affine_ = JoinNorms(block.norm_1, block.norm_2, split.in_);
  if (block.pool.weight.defined()) {
    split.pool_weight_ = PadTo(block.pool.weight.flatten(1), 0, split.in_).t().contiguous();
    split.pool_bias_ = PadTo(block.pool.bias, 0, split.in_).contiguous();
  }
  split.conv_1_ = ProductOf(block.conv_1, split.in_);
  split.conv_2_ = ProductOf(block.conv_2, block.conv_2.weight().size(1));
  if (block.shortcut.defined()) split.shortcut_ = ProductOf(block.shortcut, split.in_);
  return split;
}

at::Tensor SplitStyleBlock::Run(const at::Tensor& x, const at::Tensor& style,
                                const at::Tensor& counts, const at::Tensor& counts_after) const {
  constexpr double kSlope = KokoroStyleBlock::kSlope;
  const int64_t out = conv_1_.out();
  const at::Tensor styles = affine_.Run(style).contiguous();
  const at::Tensor norm = NormOf(x, styles.narrow(1, 0, 2 * in_), counts);
  at::Tensor unfolded;
  if (doubles()) {
    static const auto double_length =
        *runtime::FindDeviceOperator<DoubleLength>("millrace_kokoro::double_length");
    unfolded = speech::SplitProduct::Unfold(
        double_length.call(x, counts, norm, kSlope, pool_weight_, pool_bias_), counts_after,
        std::nullopt, 0, taps_);
  } else {
    unfolded = speech::SplitProduct::Unfold(x, counts, norm, kSlope, taps_);
  }
  const at::Tensor y = conv_1_.Finish(conv_1_.Multiply(unfolded)).view({x.size(0), -1, out});
  const at::Tensor last_norm = NormOf(y, styles.narrow(1, 2 * in_, 2 * out), counts_after);
  const at::Tensor product =
      conv_2_.Multiply(speech::SplitProduct::Unfold(y, counts_after, last_norm, kSlope, taps_));
  const at::Tensor kept =
      shortcut_ ? shortcut_->Finish(shortcut_->Multiply(speech::SplitProduct::Split(x))) : x;
  return conv_2_.Finish(product, kept, doubles() ? 2 : 1, 1 / std::numbers::sqrt2).view_as(y);
}

}  // namespace millrace::kokoro
