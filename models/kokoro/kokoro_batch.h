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

// Both halves of Kokoro for accelerators: sentences are padded to few lengths and spoken several at
// once, each half through the graph cache from the host to the host, so that a batch is two
// submissions. Batches are of few sizes too; padding changes samples by rounding alone.
// Immutable: any number of threads may call it, each with its own context.
class KokoroBatch {
 public:
  // Sentences that are spoken at once.
  static constexpr size_t kMaxSentences = 8;

  // Both were made for padded batches, and outlive it. `model` is its name in the graph caches.
  KokoroBatch(const KokoroEncoder& encoder, const KokoroDecoder& decoder, int64_t samples_per_frame,
              std::string model);

  struct Sentence {
    std::span<const int64_t> phonemes;  // with the marks of both ends
    at::Tensor style;                   // [1, 2 * style channels], on the CPU
    double speed = 1;
    uint64_t seed = 0, stream = 0;  // of its noise
  };
  struct Encoded {
    at::Tensor features;          // [phonemes, channels], on the CPU
    std::vector<int64_t> frames;  // as KokoroEncoder::Output has them
  };
  // 1..kMaxSentences of them.
  std::vector<Encoded> Encode(std::span<const Sentence> sentences,
                              runtime::WorkerContext& context) const;

  // The length to which so many phonemes are padded.
  int64_t PhonemesBucket(size_t phonemes) const;

  struct Part {
    const Sentence& sentence;
    const Encoded& encoded;
    int64_t frames = 0;  // the sum of the encoded ones
  };
  // The samples of each; 1..kMaxSentences, best as Group puts them together.
  std::vector<std::vector<float>> Decode(std::span<const Part> parts,
                                         runtime::WorkerContext& context) const;
  // Which sentences, by the number of their frames, are best decoded together: indices.
  static std::vector<std::vector<size_t>> Group(std::span<const int64_t> frames);

 private:
  const KokoroEncoder& encoder_;
  const KokoroDecoder& decoder_;
  const int64_t samples_per_frame_;
  const std::string model_;
  const uint64_t instance_ = runtime::NextInstance();
};

}  // namespace millrace::kokoro
