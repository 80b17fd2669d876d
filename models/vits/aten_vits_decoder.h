#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/vits/fused_flow.h"
#include "models/vits/fused_generator.h"
#include "models/vits/vits_decoder.h"
#include "models/vits/vits_stage.h"
#include "models/vits/vits_weights.h"
#include "mps_runtime/graph_cache.h"

namespace millrace::vits {

// The decoder in ATen operators over whole sentences, for any device. As a VitsDecoder it runs one
// sentence through the graph cache, padded to few lengths. What lies beyond the end of a sentence
// is kept at zero, so that the samples are those of the unpadded sentence. CpuVitsDecoder is faster
// on the CPU.
class AtenVitsDecoder final : public VitsDecoder {
 public:
  // The weights must be on the device. model: its name in the graph caches. Errors are kept in
  // weights.status().
  AtenVitsDecoder(VitsWeights& weights, int64_t latent, std::string model);

  // Decodings of this class return the whole rest of the sentence at once.
  std::unique_ptr<Decoding> Start(const Input& input) const override;

  // Sentences one behind the other on one axis of frames, with gap() or more frames between them
  // and none before the first. All on the device; what a gap has is left out.
  struct Packed {
    at::Tensor statistics;   // [frames, 2 * latent]: those of the frame's phoneme
    at::Tensor noise_keys;   // [frames, 4]: see speech::DrawNoise
    at::Tensor places;       // [frames], long: the number of the frame in its sentence
    at::Tensor noise_scale;  // [frames, 1]
    at::Tensor mask;         // [frames]: 1 within a sentence, 0 in a gap
    at::Tensor speakers;     // [frames], long
  };
  // Returns samples [frames * hop]; those of gaps are undefined.
  at::Tensor DecodePacked(const Packed& packed) const;
  // The number of frames beyond its ends that a layer reads of a sentence.
  int64_t gap() const { return gap_; }
  int64_t hop() const { return hop_; }
  int64_t latent() const { return latent_; }

 private:
  class Sentence;

  static VitsCoupling TakeCoupling(VitsWeights& weights, int flow, int64_t latent,
                                   int64_t speaker_channels);
  static VitsBlock TakeBlock(VitsWeights& weights, int64_t index, int64_t channels);
  // Below, x and z are [1, channels, frames] and zero where the mask [1, 1, frames] is, which is 1
  // within a sentence. speaker is [1, channels, 1 or frames], or undefined for a voice with one
  // speaker.
  static at::Tensor RunCoupling(const VitsCoupling& coupling, const at::Tensor& kept,
                                const at::Tensor& mask, const at::Tensor& speaker);
  static at::Tensor RunBlock(const VitsBlock& block, at::Tensor x, const at::Tensor& mask);
  at::Tensor Flow(at::Tensor z, const at::Tensor& mask, const at::Tensor& speaker) const;
  // Returns the greatest number of frames that a layer reads beyond the ends of what it computes.
  int64_t LongestReach() const;
  // These return samples [frames * hop]; those beyond the end are undefined. Decode takes rows
  // [frames, latent] and the mask [frames], and does all.
  at::Tensor Decode(const at::Tensor& rows, const at::Tensor& mask,
                    const at::Tensor& speaker) const;
  at::Tensor Generate(const at::Tensor& z, at::Tensor mask, const at::Tensor& speaker) const;

  const std::string model_;
  const uint64_t instance_ = runtime::NextInstance();
  const int64_t latent_;
  const int64_t hop_;                    // samples of a frame
  int64_t gap_ = 0;                      // frames
  at::Tensor speakers_;                  // undefined for one speaker
  at::Tensor host_speakers_;             // the same on the CPU
  std::vector<VitsCoupling> couplings_;  // in the order of inference
  VitsConv pre_, post_, speaker_;
  std::vector<VitsStage> stages_;
  std::optional<FusedGenerator> fused_;  // runs in place of stages_ and post_
  std::optional<FusedFlow> fused_flow_;  // runs in place of couplings_ and pre_ before fused_
};

}  // namespace millrace::vits
