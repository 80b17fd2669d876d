#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "models/speech/row_operators.h"
#include "models/vits/vits_stage.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// The flow of a voice of one speaker and the first convolution of the generator, by
// speech::RowOperators on split signals, which are as exact as float32. The exchanges of the two
// halves between the couplings are folded into the order of the weights.
// Immutable, for any thread.
class FusedFlow {
 public:
  // pre: that first convolution. Returns none if the device of the weights has no such operators or
  // they do not support these layers.
  static std::optional<FusedFlow> Make(const std::vector<VitsCoupling>& couplings,
                                       const VitsConv& pre);

  // z: [frames, latent] and mask [frames] is 1 within a sentence and 0 in a gap, where z is 0 too.
  // Returns rows in half precision, [1, frames, channels].
  at::Tensor Run(const at::Tensor& z, const at::Tensor& mask) const;

 private:
  struct Layer {
    speech::PackedRowConv gates, residual, skip;  // the last layer has no residual
  };
  struct Coupling {
    speech::PackedRowConv pre, post;
    std::vector<Layer> layers;
  };

  std::vector<Coupling> couplings_;  // in the order of inference
  speech::PackedRowConv pre_;
};

}  // namespace millrace::vits
