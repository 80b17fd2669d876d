#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/bergamot/int8_layers.h"

namespace millrace::bergamot {

// The transposed keys and the values of one sentence for one attention layer.
struct SentenceMemory {
  SentenceMemory(int64_t length, int64_t dim)
      : length(length),
        padded(kernels::PadLength(length)),
        keys(static_cast<size_t>(dim * padded)),
        values(static_cast<size_t>(dim * length)) {}

  int64_t length;
  int64_t padded;
  kernels::AlignedBuffer<float> keys;    // [dim][padded], zeros behind length
  kernels::AlignedBuffer<float> values;  // [length][dim]
};

// The transformer encoder, and the keys and values for the decoder's attention. Immutable, so
// thread-safe.
class Int8Encoder {
 public:
  Int8Encoder(const BergamotWeights& weights, const Embeddings& embeddings,
              const kernels::IntegerKernels& kernels);

  // Encodes sentences together. Returns one memory per decoder layer for each sentence.
  std::vector<std::vector<SentenceMemory>> Encode(
      std::span<const std::span<const int32_t>> sources) const;

 private:
  struct Layer {
    PackedMatrix query_key_value;
    PackedMatrix output;
    NormWeights norm;
    FeedForward feed_forward;
  };

  // Computes x = norm(x + attention(x)) for the rows of all sentences.
  void Attend(const Layer& layer, std::span<const std::span<const int32_t>> sources, int64_t rows,
              LayerBuffers& buffers, float* x) const;

  const kernels::IntegerKernels& kernels_;
  const Embeddings& embeddings_;
  const int64_t dim_;
  const int64_t heads_;
  const int64_t decoder_layers_;
  std::vector<Layer> layers_;
  PackedMatrix memory_;  // keys and values of each decoder layer, side by side
};

}  // namespace millrace::bergamot
