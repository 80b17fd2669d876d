#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/synthesis/vits_weights.h"

namespace millrace::models {

// The second half of VITS: the inverse flow and the HiFi-GAN generator, latent frames to samples.
// ATen operators, so it runs on any device; one sentence at a time. Immutable: any number of
// threads may call it. On the CPU NativeVitsDecoder is faster.
class VitsDecoder {
 public:
  // Errors are kept in weights.status().
  VitsDecoder(VitsWeights& weights, int64_t latent);

  // prior [1, latent, F]: the noisy latent frames. Returns samples [F * hop].
  at::Tensor Forward(const at::Tensor& prior, int64_t speaker) const;
  at::Tensor Flow(at::Tensor z, int64_t speaker) const;
  at::Tensor Generate(const at::Tensor& z, int64_t speaker) const;

 private:
  struct Coupling {
    VitsConv pre, post, speaker;
    std::vector<VitsConv> gates, outputs;
  };
  struct Block {
    std::vector<VitsConv> convs;    // dilated
    std::vector<VitsConv> seconds;  // undilated, one after each; empty in "resblock 2" voices
  };
  struct Stage {
    VitsConv up;
    std::vector<Block> blocks;
  };

  static Coupling TakeCoupling(VitsWeights& weights, int flow, int64_t latent,
                               int64_t speaker_channels);
  static Block TakeBlock(VitsWeights& weights, int64_t index, int64_t channels);
  static at::Tensor RunCoupling(const Coupling& coupling, const at::Tensor& kept,
                                const at::Tensor& speaker);
  static at::Tensor RunBlock(const Block& block, at::Tensor x);
  at::Tensor Embed(int64_t speaker) const;

  at::Tensor speakers_;              // undefined for one speaker
  std::vector<Coupling> couplings_;  // in the order of inference
  VitsConv pre_, post_, speaker_;
  std::vector<Stage> stages_;
};

}  // namespace millrace::models
