#include "models/kokoro/fused_features.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <utility>

namespace millrace::kokoro {
namespace {

// Joins [batch, time, channels], with zeros up to so many channels.
at::Tensor Join(std::vector<at::Tensor> parts, int64_t channels) {
  for (const at::Tensor& part : parts) channels -= part.size(2);
  const at::Tensor& first = parts.front();
  if (channels > 0)
    parts.push_back(at::zeros({first.size(0), first.size(1), channels}, first.options()));
  return at::cat(parts, 2);
}

}  // namespace

std::optional<FusedFeatures> FusedFeatures::Make(const std::vector<KokoroStyleBlock>& blocks,
                                                 const KokoroConv& text_again) {
  if (text_again.weight.size(2) != 1 || !text_again.bias.defined()) return std::nullopt;
  FusedFeatures features;
  for (const KokoroStyleBlock& block : blocks) {
    auto split = SplitStyleBlock::Make(block);
    if (!split) return std::nullopt;
    features.blocks_.push_back(*std::move(split));
  }
  features.again_ = speech::SplitProduct(text_again.weight, text_again.bias);
  return features;
}

at::Tensor FusedFeatures::Run(const at::Tensor& text, const at::Tensor& pitch,
                              const at::Tensor& loudness, const at::Tensor& style,
                              const KokoroExtent& extent, const KokoroExtent& after) const {
  const at::Tensor counts = extent.counts.contiguous();
  const at::Tensor counts_after = after.counts.contiguous();
  const at::Tensor curves = at::cat({pitch, loudness}, 1).transpose(1, 2);
  const at::Tensor again = again_.Finish(again_.Multiply(speech::SplitProduct::Split(text)))
                               .view({text.size(0), text.size(1), -1});
  at::Tensor x;
  for (const SplitStyleBlock& block : blocks_) {
    std::vector<at::Tensor> parts = {text, curves};
    if (&block != &blocks_.front()) parts = {x, again, curves};
    x = block.Run(Join(std::move(parts), block.in_channels()), style, counts,
                  block.doubles() ? counts_after : counts);
  }
  return x.to(at::kHalf);
}

}  // namespace millrace::kokoro
