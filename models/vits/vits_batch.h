#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/vits/aten_vits_decoder.h"
#include "models/vits/aten_vits_encoder.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/worker_context.h"

namespace millrace::vits {

// VITS for accelerators: sentences of several requests at once, through the graph cache from host
// to host. The encoder takes batches that are padded to few lengths and sizes; the decoder takes
// all sentences one behind the other, of which only the sum of frames is padded. Padding and
// company change samples by rounding only. Immutable: any number of threads may call it, each with
// its own context.
class VitsBatch {
 public:
  // The most sentences that should be spoken at once.
  static constexpr size_t kMaxSentences = 32;

  // length_scale: the voice's own. model: its name in the graph caches.
  VitsBatch(std::unique_ptr<const AtenVitsEncoder> encoder,
            std::unique_ptr<const AtenVitsDecoder> decoder, double length_scale, std::string model);

  struct Sentence {
    std::span<const int64_t> phonemes = {};
    int64_t speaker = 0;
    float noise_scale = 0;
    float noise_w = 0;
    // The seed and the streams of the noise of its durations and its latents.
    uint64_t seed = 0, duration_stream = 0, latent_stream = 0;
  };
  struct Encoded {
    at::Tensor statistics;        // [phonemes, 2 * latent], on the CPU
    std::vector<int64_t> frames;  // as VitsEncoder::Output has them
  };
  // Returns what each of the sentences becomes.
  std::vector<Encoded> Encode(std::span<const Sentence> sentences,
                              runtime::WorkerContext& context) const;

  struct Part {
    const Sentence& sentence;
    const Encoded& encoded;
    int64_t frames = 0;  // the sum of encoded.frames
  };
  // Returns the samples of each of the parts, which Group should have put together.
  std::vector<std::vector<float>> Decode(std::span<const Part> parts,
                                         runtime::WorkerContext& context) const;
  // Returns groups of indices of sentences that should be decoded together, by their numbers of
  // frames.
  std::vector<std::vector<size_t>> Group(std::span<const int64_t> frames) const;

 private:
  // Encodes the sentences with these indices in one forward.
  void EncodeTogether(std::span<const Sentence> sentences, std::span<const size_t> indices,
                      runtime::WorkerContext& context, std::vector<Encoded>& all) const;

  const std::unique_ptr<const AtenVitsEncoder> encoder_;
  const std::unique_ptr<const AtenVitsDecoder> decoder_;
  const double length_scale_;
  const std::string model_;
  const uint64_t instance_ = runtime::NextInstance();
};

}  // namespace millrace::vits
