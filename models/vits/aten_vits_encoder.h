#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "models/vits/aten_row_conv.h"
#include "models/vits/encoder_weights.h"
#include "models/vits/vits_durations.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// The first half of VITS as VitsEncoder computes it, in ATen operators over a padded batch of
// sentences, on the device of the weights. Values beyond the end of a sentence change nothing.
// Immutable: any number of threads may call it.
class AtenVitsEncoder {
 public:
  // Errors are kept in weights.status().
  explicit AtenVitsEncoder(VitsWeights& weights);

  int64_t symbols() const { return weights_.embedding.size(0); }
  int64_t latent() const { return weights_.latent(); }
  int64_t speakers() const { return weights_.speaker_count(); }

  // All on the device.
  struct Input {
    at::Tensor phonemes;    // [batch, phonemes], long
    at::Tensor counts;      // [batch, 1], long: the number of phonemes, >= 1
    at::Tensor noise_keys;  // [batch, 4]: see speech::DrawNoise
    at::Tensor noise_w;     // [batch, 1, 1]: scales the noise
    at::Tensor speakers;    // [batch], long
  };
  // Values beyond an end are undefined.
  struct Output {
    at::Tensor statistics;  // [batch, phonemes, 2 * latent], see VitsEncoder::Output
    at::Tensor lengths;     // [batch, phonemes]: the input of FramesOf
  };
  Output Forward(const Input& input, double length_scale) const;
  // Returns VitsEncoder::Output::frames for the lengths of a sentence; 0: not finite.
  static std::vector<int64_t> FramesOf(std::span<const float> lengths);

 private:
  using Weights = VitsEncoderWeights<AtenRowConv>;
  using Layer = Weights::Layer;

  // The places of the distances -window..window in the attention of each phoneme.
  struct Band {
    int64_t distances = 0;
    // [1, 1, phonemes, phonemes]: the distance of each pair, and 1 where it is within the window.
    at::Tensor distance, near;
    // [1, 1, phonemes, distances]: the phoneme at each distance, and 1 where there is one.
    at::Tensor phoneme, exists;
  };

  static Band MakeBand(int64_t length, int64_t distances, const at::TensorOptions& options);
  // barrier: [batch, 1, 1, phonemes], 0 up to the end and far below beyond it.
  static at::Tensor Attend(const Layer& layer, const at::Tensor& x, const at::Tensor& barrier,
                           const Band& band);

  Weights weights_;
  VitsDurations<AtenRowConv> durations_;
};

}  // namespace millrace::vits
