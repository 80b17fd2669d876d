#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/speech/cpu_conv.h"
#include "models/vits/vits_rows.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// VITS's stochastic duration predictor, run backwards: from noise to the length of each phoneme. On
// the CPU, over rows of channels. Immutable: any number of threads may call it.
class VitsDurations {
 public:
  VitsDurations() = default;
  // hidden: the number of input channels. Errors are kept in weights.status().
  VitsDurations(VitsWeights& weights, int64_t hidden, const at::Tensor& speakers);

  // Returns the logarithm of each phoneme's frames, [phonemes]. hidden [phonemes, hidden]; noise
  // [phonemes, 2]; speaker [1, channels], undefined for one speaker.
  at::Tensor LogFrames(const at::Tensor& hidden, const at::Tensor& noise,
                       const at::Tensor& speaker) const;

 private:
  // A depthwise-separable convolution: one of each channel by itself, then one across the channels.
  struct SeparableLayer {
    at::Tensor taps;  // [taps, channels]
    at::Tensor bias;  // [channels]
    int64_t dilation = 1;
    speech::CpuConv pointwise;
    VitsNorm norm_1, norm_2;
  };
  using Separable = std::vector<SeparableLayer>;
  struct Spline {
    speech::CpuConv pre, projection;
    Separable layers;
  };

  static Separable TakeSeparable(VitsWeights& weights, const std::string& name, int64_t channels);
  static at::Tensor RunDepthwise(const SeparableLayer& layer, const at::Tensor& x);
  static at::Tensor RunSeparable(const Separable& layers, at::Tensor x);

  speech::CpuConv pre_, projection_, speaker_;
  Separable layers_;
  std::vector<Spline> splines_;       // in the order of inference
  at::Tensor shift_, inverse_scale_;  // [2]
};

}  // namespace millrace::vits
