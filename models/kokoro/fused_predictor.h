#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "models/kokoro/kokoro_extent.h"
#include "models/kokoro/kokoro_layers.h"
#include "models/kokoro/split_style_block.h"

namespace millrace::kokoro {

// The blocks that predict a curve of the voice, by SplitStyleBlock. Immutable, for any thread.
// Extents must not be whole.
class FusedPredictor {
 public:
  // projection: from the last block's channels to the curve, with one tap. Returns none if the
  // device of the weights does not support it.
  static std::optional<FusedPredictor> Make(const std::vector<KokoroStyleBlock>& blocks,
                                            const KokoroConv& projection);

  // prosody: [batch, frames, channels]. Returns [batch, 1, 2 * frames], zero beyond `after`.
  at::Tensor Run(const at::Tensor& prosody, const at::Tensor& style, const KokoroExtent& extent,
                 const KokoroExtent& after) const;

 private:
  std::vector<SplitStyleBlock> blocks_;
  KokoroLinear projection_;
};

}  // namespace millrace::kokoro
