#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/kokoro/kokoro_decoder.h"
#include "models/kokoro/kokoro_encoder.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/worker_context.h"

namespace millrace::kokoro {

// Kokoro's encoder and decoder for accelerators. Sentences are padded to few lengths and spoken
// several at once. Each of the two runs through the graph cache from host to host, so that a batch
// is two submissions. Batches have few sizes too; padding changes samples by rounding only.
// Immutable: any number of threads may call it, each with its own context.
class KokoroBatch {
 public:
  // The most sentences that are spoken at once.
  static constexpr size_t kMaxSentences = 16;

  // Encoder and decoder must have been made for padded batches and must outlive it. model: its name
  // in the graph caches.
  KokoroBatch(const KokoroEncoder& encoder, const KokoroDecoder& decoder, int64_t samples_per_frame,
              std::string model);

  struct Sentence {
    std::span<const int64_t> phonemes;  // with the marks of both ends
    at::Tensor style;                   // [1, 2 * style channels], on the CPU
    uint64_t seed = 0, stream = 0;      // the seed and stream of its noise
  };
  struct Encoded {
    at::Tensor features;          // [phonemes, channels], on the CPU
    std::vector<int64_t> frames;  // as KokoroEncoder::Output has them
  };
  // Takes 1..kMaxSentences sentences.
  std::vector<Encoded> Encode(std::span<const Sentence> sentences,
                              runtime::WorkerContext& context) const;

  // Returns the length to which this many phonemes are padded.
  int64_t PhonemesBucket(size_t phonemes) const;

  struct Part {
    const Sentence& sentence;
    const Encoded& encoded;
    int64_t frames = 0;  // the sum of encoded.frames
  };
  // Returns the samples of each of 1..kMaxSentences parts, which Group should have put together.
  std::vector<std::vector<float>> Decode(std::span<const Part> parts,
                                         runtime::WorkerContext& context) const;
  // Returns groups of indices of sentences that should be decoded together, by their numbers of
  // frames: the longest first.
  static std::vector<std::vector<size_t>> Group(std::span<const int64_t> frames);

 private:
  const KokoroEncoder& encoder_;
  const KokoroDecoder& decoder_;
  const int64_t samples_per_frame_;
  const std::string model_;
  const uint64_t instance_ = runtime::NextInstance();
};

}  // namespace millrace::kokoro
