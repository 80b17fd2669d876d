#include "models/kokoro/fused_predictor.h"

#include <ATen/TensorOperators.h>

#include <utility>

namespace millrace::kokoro {

std::optional<FusedPredictor> FusedPredictor::Make(const std::vector<KokoroStyleBlock>& blocks,
                                                   const KokoroConv& projection) {
  if (projection.weight.size(2) != 1) return std::nullopt;
  FusedPredictor predictor;
  for (const KokoroStyleBlock& block : blocks) {
    auto split = SplitStyleBlock::Make(block);
    if (!split || split->in_channels() != block.conv_1.weight().size(1)) return std::nullopt;
    predictor.blocks_.push_back(*std::move(split));
  }
  predictor.projection_ = {projection.weight.flatten(1), projection.bias};
  return predictor;
}

at::Tensor FusedPredictor::Run(const at::Tensor& prosody, const at::Tensor& style,
                               const KokoroExtent& extent, const KokoroExtent& after) const {
  const at::Tensor counts_after = after.counts.contiguous();
  at::Tensor counts = extent.counts.contiguous();
  at::Tensor x = prosody.contiguous();
  for (const SplitStyleBlock& block : blocks_) {
    const at::Tensor& then = block.doubles() ? counts_after : counts;
    x = block.Run(x, style, counts, then);
    counts = then;
  }
  return after.Cut(projection_.Run(x).transpose(1, 2));
}

}  // namespace millrace::kokoro
