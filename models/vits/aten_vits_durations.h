#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/vits/aten_row_conv.h"
#include "models/vits/vits_rows.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// VITS's stochastic duration predictor as VitsDurations computes it, in ATen operators over a
// padded batch of sentences, for any device. Immutable: any number of threads may call it.
class AtenVitsDurations {
 public:
  AtenVitsDurations() = default;
  // hidden: the number of input channels. speaker_channels: 0 for a voice of one speaker. Errors
  // are kept in weights.status().
  AtenVitsDurations(VitsWeights& weights, int64_t hidden, int64_t speaker_channels);

  // Returns the logarithm of each phoneme's frames, [batch, phonemes]; undefined beyond the ends.
  // hidden [batch, phonemes, hidden]; noise [batch, phonemes, 2]; speaker [batch, 1, channels],
  // undefined for one speaker; mask [batch, phonemes, 1]: 1 up to the end, then 0.
  at::Tensor LogFrames(const at::Tensor& hidden, const at::Tensor& noise, const at::Tensor& speaker,
                       const at::Tensor& mask) const;

 private:
  // A depthwise-separable convolution, see VitsDurations.
  struct SeparableLayer {
    std::vector<at::Tensor> taps;  // [channels] each
    at::Tensor bias;               // [channels], or undefined
    int64_t dilation = 1;
    AtenRowConv pointwise;
    VitsNorm norm_1, norm_2;
  };
  using Separable = std::vector<SeparableLayer>;
  struct Spline {
    AtenRowConv pre, projection;
    Separable layers;
  };

  static Separable TakeSeparable(VitsWeights& weights, const std::string& name, int64_t channels);
  static at::Tensor RunDepthwise(const SeparableLayer& layer, const at::Tensor& x);
  static at::Tensor RunSeparable(const Separable& layers, at::Tensor x, const at::Tensor& mask);

  AtenRowConv pre_, projection_, speaker_;
  Separable layers_;
  std::vector<Spline> splines_;       // in the order of inference
  at::Tensor shift_, inverse_scale_;  // scalars
};

}  // namespace millrace::vits
