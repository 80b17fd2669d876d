#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "models/kokoro/kokoro_extent.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/kokoro/split_style_block.h"
#include "models/speech/split_product.h"

namespace millrace::kokoro {

// The decoder's blocks before the generator, by SplitStyleBlock. Immutable, for any thread. Extents
// must not be whole.
class FusedFeatures {
 public:
  // text_again: the convolution, with one tap, whose result each block but the first one gets once
  // more. Returns none if the device of the weights does not support it.
  static std::optional<FusedFeatures> Make(const std::vector<KokoroStyleBlock>& blocks,
                                           const KokoroConv& text_again);

  // text: [batch, frames, channels]; pitch, loudness: [batch, 1, frames]. Returns rows of halves,
  // [batch, 2 * frames, channels]; what is beyond the extent `after` is undefined.
  at::Tensor Run(const at::Tensor& text, const at::Tensor& pitch, const at::Tensor& loudness,
                 const at::Tensor& style, const KokoroExtent& extent,
                 const KokoroExtent& after) const;

 private:
  std::vector<SplitStyleBlock> blocks_;
  speech::SplitProduct again_;
};

}  // namespace millrace::kokoro
