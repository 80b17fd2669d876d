#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/speech/cpu_conv.h"
#include "models/vits/encoder_weights.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// VITS's stochastic duration predictor, run backwards: from noise to the length of each phoneme. On
// the CPU, over rows of channels. Immutable: any number of threads may call it.
class VitsDurations {
 public:
  VitsDurations() = default;
  // See VitsDurationWeights.
  VitsDurations(VitsWeights& weights, int64_t hidden, int64_t speaker_channels)
      : weights_(weights, hidden, speaker_channels) {}

  // Returns the logarithm of each phoneme's frames, [phonemes]. hidden [phonemes, hidden]; noise
  // [phonemes, 2]; speaker [1, channels], undefined for one speaker.
  at::Tensor LogFrames(const at::Tensor& hidden, const at::Tensor& noise,
                       const at::Tensor& speaker) const;

 private:
  using Weights = VitsDurationWeights<speech::CpuConv>;
  using SeparableLayer = Weights::SeparableLayer;
  using Separable = Weights::Separable;

  static at::Tensor RunDepthwise(const SeparableLayer& layer, const at::Tensor& x);
  static at::Tensor RunSeparable(const Separable& layers, at::Tensor x);

  Weights weights_;
};

}  // namespace millrace::vits
