#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/seq2seq/float_layers.h"

namespace millrace::seq2seq {

// The encoded source that the decoder attends to. It holds the key and the value of each token for
// each decoder layer, contiguously. Immutable.
class SourceMemory {
 public:
  SourceMemory(const float* rows, int64_t tokens, int64_t stride);

  const std::vector<const float*>& tokens() const { return tokens_; }

 private:
  kernels::AlignedBuffer<float> values_;
  std::vector<const float*> tokens_;
};

// The encoder, and the part of the decoder that depends on the source alone. Immutable, so
// thread-safe.
class FloatEncoder {
 public:
  FloatEncoder(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
               const LayerSettings& settings, const FloatEmbeddings& embeddings);

  // Returns a memory for each source, which has at least one token. Sources are concatenated
  // without padding.
  std::vector<SourceMemory> Encode(std::span<const std::span<const int32_t>> sources,
                                   LayerScratch& scratch) const;

 private:
  struct Layer {
    kernels::PackedLinear inputs;  // query, key and value side by side
    kernels::PackedLinear output;
    FloatNorm norm;
    FloatFeedForward feed_forward;
  };

  void Attend(const Layer& layer, std::span<const std::span<const int32_t>> sources,
              const float* in, int64_t rows, LayerScratch& scratch, float* out) const;

  const LayerSettings& settings_;
  const FloatEmbeddings& embeddings_;
  const int64_t heads_;
  std::vector<Layer> layers_;
  std::vector<FloatNorm> last_norm_;  // none or one
  kernels::PackedLinear memory_;      // keys and values of all decoder layers side by side
};

}  // namespace millrace::seq2seq
