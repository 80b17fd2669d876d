#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/vits/encoder_weights.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// VITS's stochastic duration predictor, run backwards: from noise to the length of each phoneme. It
// computes over rows of channels: with speech::CpuConv on the CPU, with AtenRowConv on any device
// over a padded batch of sentences too. Immutable: any number of threads may call it.
template <typename Conv>
class VitsDurations {
 public:
  VitsDurations() = default;
  // See VitsDurationWeights.
  VitsDurations(VitsWeights& weights, int64_t hidden, int64_t speaker_channels)
      : weights_(weights, hidden, speaker_channels) {}

  // Returns the logarithm of each phoneme's frames, [phonemes]. hidden [phonemes, hidden]; noise
  // [phonemes, 2]; speaker [1, channels], undefined for one speaker. In a batch all of them have
  // one more dimension in front, and mask [batch, phonemes, 1] is 1 up to the end of a sentence,
  // then 0; lengths beyond the ends are undefined.
  at::Tensor LogFrames(const at::Tensor& hidden, const at::Tensor& noise, const at::Tensor& speaker,
                       const at::Tensor& mask = {}) const;

 private:
  using Weights = VitsDurationWeights<Conv>;
  using SeparableLayer = typename Weights::SeparableLayer;
  using Separable = typename Weights::Separable;

  static at::Tensor RunDepthwise(const SeparableLayer& layer, const at::Tensor& x);
  static at::Tensor RunSeparable(const Separable& layers, at::Tensor x, const at::Tensor& mask);

  Weights weights_;
};

}  // namespace millrace::vits
