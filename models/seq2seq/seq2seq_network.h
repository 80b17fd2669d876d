#pragma once

#include <cstdint>
#include <optional>

#include "models/seq2seq/float_decoder.h"
#include "models/seq2seq/float_encoder.h"
#include "models/seq2seq/float_layers.h"

namespace millrace::seq2seq {

// An encoder-decoder transformer on the CPU. It holds a copy of the weights in the precision of the
// kernels, and shared embeddings only once. The result of a row does not depend on the other rows,
// bit for bit. Immutable, so thread-safe.
class Seq2SeqNetwork {
 public:
  // The weights may be destroyed afterwards.
  Seq2SeqNetwork(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
                 const kernels::LinearKernels& kernels);
  Seq2SeqNetwork(const Seq2SeqNetwork&) = delete;
  Seq2SeqNetwork& operator=(const Seq2SeqNetwork&) = delete;

  int64_t tokens() const { return tokens_; }
  const FloatEncoder& encoder() const { return encoder_; }
  const FloatDecoder& decoder() const { return decoder_; }

 private:
  const LayerSettings settings_;
  const int64_t tokens_;
  const kernels::PackedLinear output_;
  const std::optional<kernels::PackedLinear> target_tokens_;  // null if same as output_
  const std::optional<kernels::PackedLinear> source_tokens_;  // null if same as the target's
  const FloatEmbeddings target_embeddings_;
  const FloatEmbeddings source_embeddings_;
  const FloatEncoder encoder_;
  const FloatDecoder decoder_;
};

}  // namespace millrace::seq2seq
