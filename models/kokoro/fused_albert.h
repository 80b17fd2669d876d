#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "models/kokoro/kokoro_layers.h"
#include "models/speech/split_product.h"

namespace millrace::kokoro {

// ALBERT's layer, which is run several times, about as exact as in float32, by SplitProduct.
// Immutable, for any thread.
class FusedAlbert {
 public:
  struct Norm {
    at::Tensor weight, bias;
  };
  struct Weights {
    const KokoroRows &query, &key, &value, &mix, &feed_1, &feed_2;
    Norm attention_norm, layer_norm;
    double epsilon;
  };
  // Returns none if the device of the weights has no such operators.
  static std::optional<FusedAlbert> Make(const Weights& weights, int64_t heads);

  // Runs the layer `layers` times. x [batch, time, hidden]; barrier: undefined or a mask [batch, 1,
  // 1, time] that is added to the attention scores.
  at::Tensor Run(const at::Tensor& x, const at::Tensor& barrier, int64_t layers) const;

 private:
  FusedAlbert(const Weights& weights, int64_t heads);

  int64_t heads_;
  double epsilon_;
  speech::SplitProduct attention_;  // to the queries, the keys and the values
  speech::SplitProduct mix_, feed_1_, feed_2_;
  Norm attention_norm_, layer_norm_;
};

}  // namespace millrace::kokoro
