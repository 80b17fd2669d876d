#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/vits/aten_row_conv.h"
#include "models/vits/encoder_weights.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// VITS's stochastic duration predictor as VitsDurations computes it, in ATen operators over a
// padded batch of sentences, for any device. Immutable: any number of threads may call it.
class AtenVitsDurations {
 public:
  AtenVitsDurations() = default;
  // See VitsDurationWeights.
  AtenVitsDurations(VitsWeights& weights, int64_t hidden, int64_t speaker_channels)
      : weights_(weights, hidden, speaker_channels) {}

  // Returns the logarithm of each phoneme's frames, [batch, phonemes]; undefined beyond the ends.
  // hidden [batch, phonemes, hidden]; noise [batch, phonemes, 2]; speaker [batch, 1, channels],
  // undefined for one speaker; mask [batch, phonemes, 1]: 1 up to the end, then 0.
  at::Tensor LogFrames(const at::Tensor& hidden, const at::Tensor& noise, const at::Tensor& speaker,
                       const at::Tensor& mask) const;

 private:
  using Weights = VitsDurationWeights<AtenRowConv>;
  using SeparableLayer = Weights::SeparableLayer;
  using Separable = Weights::Separable;

  static at::Tensor RunDepthwise(const SeparableLayer& layer, const at::Tensor& x);
  static at::Tensor RunSeparable(const Separable& layers, at::Tensor x, const at::Tensor& mask);

  Weights weights_;
};

}  // namespace millrace::vits
