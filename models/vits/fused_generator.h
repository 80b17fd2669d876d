#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/speech/row_operators.h"
#include "models/vits/vits_stage.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// The stages of the generator in half precision, by speech::RowOperators: a layer is one pass over
// memory. Stages with few channels are split, and so as exact as in float32. Stages whose channels
// are no multiple of what the operators need have zeros beside them.
// Immutable, for any thread.
class FusedGenerator {
 public:
  // Returns none if the device of the weights has no such operators or they do not support these
  // layers; `why_not` then has the reason, or is empty where the device has none.
  static std::optional<FusedGenerator> Make(const std::vector<VitsStage>& stages,
                                            const VitsConv& post, std::string& why_not);

  // Returns x [1, channels, frames] as Run wants it.
  static at::Tensor RowsOf(const at::Tensor& x);
  // rows: [1, frames, channels] in half precision, the input of the first stage before its
  // activation, and mask [frames] is 1 within a sentence and 0 in a gap, where they are 0 too.
  // Returns the samples.
  at::Tensor Run(at::Tensor rows, const at::Tensor& mask) const;

 private:
  using Conv = speech::PackedRowConv;
  struct Block {
    std::vector<Conv> convs, seconds;
  };
  struct Stage {
    Conv up;
    int64_t stride = 1;
    bool split = false;
    std::vector<Block> blocks;
  };

  static Conv Pack(const VitsConv& conv);

  std::vector<Stage> stages_;
  at::Tensor post_;  // [taps, channels]
  std::optional<at::Tensor> post_bias_;
};

}  // namespace millrace::vits
