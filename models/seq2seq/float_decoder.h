#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/seq2seq/float_encoder.h"
#include "models/seq2seq/float_layers.h"
#include "models/seq2seq/kv_cache.h"

namespace millrace::seq2seq {

// One hypothesis in a decoder step.
struct DecoderRow {
  int32_t token = 0;  // its last token
  const SourceMemory* memory = nullptr;
  // The KV slots of its tokens, the last token's at the end.
  std::span<float* const> path;
};

// The decoder's layers and the output layer. Immutable, so thread-safe.
class FloatDecoder {
 public:
  // output: the packed output layer. It, the settings and the embeddings must outlive this object.
  FloatDecoder(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
               const LayerSettings& settings, const FloatEmbeddings& embeddings,
               const kernels::PackedLinear& output);

  // Returns the size of a KvCache's slots.
  int64_t slot_floats() const { return 2 * settings_.dim * static_cast<int64_t>(layers_.size()); }
  // Returns the number of floats of a row of logits.
  int64_t logits_stride() const { return output_.width(); }

  // Writes the slot of each row's last token and the logits of its next token.
  void Step(std::span<const DecoderRow> rows, LayerScratch& scratch, float* logits) const;
  // Returns for each token of a hypothesis, the start first, the source token that the next one
  // comes from: the one that the second-to-last layer, whose attention is closest to an alignment,
  // attends to most.
  std::vector<int32_t> Align(std::span<const int32_t> tokens, const SourceMemory& memory,
                             LayerScratch& scratch) const;

 private:
  struct Layer {
    kernels::PackedLinear inputs;  // query, key and value side by side
    kernels::PackedLinear output;
    FloatNorm norm;
    kernels::PackedLinear cross_query;
    kernels::PackedLinear cross_output;
    FloatNorm cross_norm;
    FloatFeedForward feed_forward;
  };

  void Embed(std::span<const DecoderRow> rows, float* x) const;
  // peaks: null, or receives the source token that each row attends to most.
  void RunLayer(size_t index, std::span<const DecoderRow> rows, float* x, LayerScratch& scratch,
                std::vector<int32_t>* peaks) const;
  void AttendToPath(const Layer& layer, int64_t index, std::span<const DecoderRow> rows,
                    const float* in, LayerScratch& scratch, float* out) const;
  void AttendToSource(const Layer& layer, int64_t index, std::span<const DecoderRow> rows,
                      const float* in, LayerScratch& scratch, float* out,
                      std::vector<int32_t>* peaks) const;
  // Returns the attention weights of each head, PadScores(tokens) apart; valid until the scratch is
  // used again.
  const float* Attend(int64_t index, std::span<const float* const> tokens, const float* query,
                      LayerScratch& scratch, float* out) const;

  const LayerSettings& settings_;
  const FloatEmbeddings& embeddings_;
  const kernels::PackedLinear& output_;
  const int64_t heads_;
  std::vector<Layer> layers_;
  std::vector<FloatNorm> last_norm_;  // none or one
};

}  // namespace millrace::seq2seq
