#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "models/speech/cpu_conv.h"
#include "models/vits/encoder_weights.h"
#include "models/vits/vits_durations.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// The first half of VITS: turns phonemes into the statistics of their latents and the number of
// frames of each. On the CPU, where the weights must be; one sentence at a time. Immutable: any
// number of threads may call it.
class VitsEncoder {
 public:
  struct Output {
    at::Tensor statistics;  // [phonemes, 2 * latent]: means, then log deviations
    // For each phoneme, 1..kMaxFrames; any other number where the network's output was not finite.
    std::vector<int64_t> frames;
  };
  static constexpr int64_t kMaxFrames = 1000;  // bounds the length for extreme noise

  // Errors are kept in weights.status().
  explicit VitsEncoder(VitsWeights& weights);

  int64_t symbols() const { return weights_.embedding.size(0); }
  int64_t latent() const { return weights_.latent(); }
  int64_t speakers() const { return weights_.speaker_count(); }

  // noise [2][phonemes]; noise_w scales the noise, length_scale the durations.
  Output Forward(std::span<const int64_t> phonemes, std::span<const float> noise, double noise_w,
                 double length_scale, int64_t speaker) const;

 private:
  using Weights = VitsEncoderWeights<speech::CpuConv>;
  using Layer = Weights::Layer;

  static at::Tensor Attend(const Layer& layer, const at::Tensor& x);

  Weights weights_;
  VitsDurations<speech::CpuConv> durations_;
};

}  // namespace millrace::vits
