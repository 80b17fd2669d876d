#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/vits/vits_decoder.h"
#include "models/vits/vits_weights.h"
#include "mps_runtime/graph_cache.h"

namespace millrace::vits {

// The decoder in ATen operators over the whole sentence, for any device, through the graph cache.
// Sentences are padded to few lengths, and what lies beyond the end is kept at zero, so that the
// samples are those of the unpadded sentence. CpuVitsDecoder is faster on the CPU.
class AtenVitsDecoder final : public VitsDecoder {
 public:
  // The weights must be on the device. model: its name in the graph caches. Errors are kept in
  // weights.status().
  AtenVitsDecoder(VitsWeights& weights, int64_t latent, std::string model);

  // Decodings of this class return the whole rest of the sentence at once.
  std::unique_ptr<Decoding> Start(const Input& input) const override;

 private:
  class Sentence;

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
  // Below, x and z are [1, channels, frames] and zero beyond the end; mask [1, 1, frames] is 1 up
  // to the end, then 0. speaker is [1, channels, 1], or undefined for a voice with one speaker.
  static at::Tensor RunCoupling(const Coupling& coupling, const at::Tensor& kept,
                                const at::Tensor& mask, const at::Tensor& speaker);
  static at::Tensor RunBlock(const Block& block, at::Tensor x, const at::Tensor& mask);
  at::Tensor Flow(at::Tensor z, const at::Tensor& mask, const at::Tensor& speaker) const;
  // Returns samples [frames * hop]; those beyond the end are undefined.
  at::Tensor Generate(const at::Tensor& z, at::Tensor mask, const at::Tensor& speaker) const;

  const std::string model_;
  const uint64_t instance_ = runtime::NextInstance();
  const int64_t latent_;
  const int64_t hop_;                // samples of a frame
  at::Tensor speakers_;              // on the CPU; undefined for one speaker
  std::vector<Coupling> couplings_;  // in the order of inference
  VitsConv pre_, post_, speaker_;
  std::vector<Stage> stages_;
};

}  // namespace millrace::vits
