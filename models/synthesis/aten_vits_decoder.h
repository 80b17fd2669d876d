#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/synthesis/vits_decoder.h"
#include "models/synthesis/vits_weights.h"

namespace millrace::models {

// ATen operators, one after the other over the whole sentence: runs on any device.
// NativeVitsDecoder is faster on the CPU.
class AtenVitsDecoder final : public VitsDecoder {
 public:
  // Errors are kept in weights.status().
  AtenVitsDecoder(VitsWeights& weights, int64_t latent, at::Device device);

  std::optional<std::vector<float>> Decode(const Input& input,
                                           const std::function<bool()>& should_stop) const override;

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
  // z [1, latent, frames].
  at::Tensor Flow(at::Tensor z, int64_t speaker) const;
  at::Tensor Generate(const at::Tensor& z, int64_t speaker) const;
  at::Tensor Embed(int64_t speaker) const;

  const at::Device device_;
  const int64_t latent_;
  at::Tensor speakers_;              // undefined for one speaker
  std::vector<Coupling> couplings_;  // in the order of inference
  VitsConv pre_, post_, speaker_;
  std::vector<Stage> stages_;
};

}  // namespace millrace::models
