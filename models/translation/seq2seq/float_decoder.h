#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/translation/seq2seq/float_encoder.h"
#include "models/translation/seq2seq/float_layers.h"
#include "models/translation/seq2seq/token_cache.h"

namespace millrace::models {

// One hypothesis in a decoder step.
struct DecoderRow {
  int32_t word = 0;  // its last one
  const SourceMemory* memory = nullptr;
  // The floats of its words' slots, the last word's at the end.
  std::span<float* const> path;
};

// The decoder's layers and the output layer. Immutable, so thread-safe.
class FloatDecoder {
 public:
  // `output`: the packed output layer; it, the settings and embeddings must outlive this.
  FloatDecoder(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
               const LayerSettings& settings, const FloatEmbeddings& embeddings,
               const PackedLinear& output);

  // What a TokenCache must keep of a word.
  int64_t slot_floats() const { return 2 * settings_.dim * static_cast<int64_t>(layers_.size()); }
  // Of a row of logits.
  int64_t logits_stride() const { return output_.width(); }

  // Writes the slot of each row's last word, and the logits of each row's next word.
  void Step(std::span<const DecoderRow> rows, LayerScratch& scratch, float* logits) const;

 private:
  struct Layer {
    PackedLinear inputs;  // query, key and value side by side
    PackedLinear output;
    FloatNorm norm;
    PackedLinear cross_query;
    PackedLinear cross_output;
    FloatNorm cross_norm;
    FloatFeedForward feed_forward;
  };

  void AttendToPath(const Layer& layer, int64_t index, std::span<const DecoderRow> rows,
                    const float* in, LayerScratch& scratch, float* out) const;
  void AttendToSource(const Layer& layer, int64_t index, std::span<const DecoderRow> rows,
                      const float* in, LayerScratch& scratch, float* out) const;
  void Attend(int64_t index, std::span<const float* const> tokens, const float* query,
              LayerScratch& scratch, float* out) const;

  const LayerSettings& settings_;
  const FloatEmbeddings& embeddings_;
  const PackedLinear& output_;
  const int64_t heads_;
  std::vector<Layer> layers_;
  std::vector<FloatNorm> last_norm_;  // none or one
};

}  // namespace millrace::models
