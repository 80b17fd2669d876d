#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/synthesis/native_conv.h"
#include "models/synthesis/vits_weights.h"

namespace millrace::models {

// The first half of VITS: phonemes to the statistics of their latents, and how many frames each one
// lasts. On the CPU, where the weights must be; one sentence at a time. Immutable:
// any number of threads may call it.
class VitsEncoder {
 public:
  struct Output {
    at::Tensor statistics;  // [1, 2 * latent, phonemes]: means, then log deviations
    // Of each phoneme, 1..kMaxFrames; another number where the network gave no number at all.
    std::vector<int64_t> frames;
  };
  static constexpr int64_t kMaxFrames = 1000;  // keeps a wild draw of the noise finite

  // Errors are kept in weights.status().
  explicit VitsEncoder(VitsWeights& weights);

  int64_t symbols() const { return embedding_.size(0); }
  int64_t latent() const { return projection_.out_channels() / 2; }
  int64_t speakers() const { return speakers_.defined() ? speakers_.size(0) : 1; }

  // noise [2][phonemes]; noise_w scales it, length_scale the durations.
  Output Forward(std::span<const int64_t> phonemes, std::span<const float> noise, double noise_w,
                 double length_scale, int64_t speaker) const;

 private:
  struct Norm {
    at::Tensor gamma;
    at::Tensor beta;
  };
  struct Layer {
    NativeConv query, key, value, output;
    at::Tensor relative_keys, relative_values;  // [1, 2 * window + 1, head channels]
    Norm norm_1, norm_2;
    NativeConv feed_1, feed_2;
  };
  struct SeparableLayer {
    VitsConv depthwise;
    NativeConv pointwise;
    Norm norm_1, norm_2;
  };
  using Separable = std::vector<SeparableLayer>;
  struct Spline {
    NativeConv pre, projection;
    Separable layers;
  };

  static Norm TakeNorm(VitsWeights& weights, const std::string& name, int64_t channels);
  static Layer TakeLayer(VitsWeights& weights, int64_t index, int64_t hidden);
  static Separable TakeSeparable(VitsWeights& weights, const std::string& name, int64_t channels);
  static at::Tensor Normalize(const Norm& norm, const at::Tensor& x);
  static at::Tensor Attend(const Layer& layer, const at::Tensor& x);
  static at::Tensor RunSeparable(const Separable& layers, at::Tensor x);
  at::Tensor LogFrames(const at::Tensor& hidden, at::Tensor z, int64_t speaker) const;

  at::Tensor embedding_;  // [symbols, hidden]
  at::Tensor speakers_;   // [speakers, channels]; undefined for one speaker
  std::vector<Layer> layers_;
  NativeConv projection_;
  NativeConv duration_pre_, duration_projection_, duration_speaker_;
  Separable duration_layers_;
  std::vector<Spline> splines_;  // in the order of inference
  at::Tensor shift_, inverse_scale_;
};

}  // namespace millrace::models
