#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/bergamot/int8_encoder.h"
#include "models/bergamot/int8_layers.h"

namespace millrace::bergamot {

// The shortlist of a sentence with the output layer's values for each token. Padded to whole panels
// by tokens that never win.
struct OutputTokens {
  OutputTokens(std::span<const int32_t> candidates, std::span<const int32_t> all_corrections,
               std::span<const float> all_bias);

  std::vector<int32_t> tokens;
  std::vector<int32_t> corrections;
  std::vector<float> bias;
};

// The state of a sentence between two steps of the decoder.
struct DecodedSentence {
  std::vector<SentenceMemory> memory;  // for each decoder layer
  OutputTokens output;
  std::vector<float> cells = {};  // the SSRU's, [layers][dim]; empty: all zero
  int32_t last_token = -1;        // none yet
  int64_t position = 0;           // how many tokens were decoded
  bool align = false;
  std::vector<int32_t> alignment = {};  // with `align`: the source position of each token
};

// Sentences that are decoded together for some steps. Meanwhile their SSRU cells lie row by row, so
// that a step multiplies all of them at once. One thread at a time.
class DecoderBatch {
 public:
  struct Row {
    size_t job;  // an index of the caller
    DecodedSentence* sentence;
  };

  DecoderBatch(std::vector<Row> rows, size_t layers, int64_t dim);

  const std::vector<Row>& rows() const { return rows_; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  float* cells(size_t layer) { return cells_[layer].data(); }

  // Keeps the rows for which keep(row) is true, in their order. The cells of the other rows are
  // lost.
  template <typename Keep>
  void KeepIf(Keep keep) {
    size_t kept = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!keep(rows_[i])) continue;
      if (kept < i) Move(i, kept);
      ++kept;
    }
    rows_.resize(kept);
  }
  // Copies the cells back to the sentences.
  void StoreCells() const;

 private:
  void Move(size_t from, size_t to);

  const int64_t dim_;
  std::vector<Row> rows_;
  std::vector<kernels::AlignedBuffer<float>> cells_;
};

// The SSRU decoder with greedy search. Immutable, so thread-safe.
class Int8Decoder {
 public:
  Int8Decoder(const BergamotWeights& weights, const Embeddings& embeddings,
              const kernels::IntegerKernels& kernels);

  size_t layers() const { return layers_.size(); }
  OutputTokens TokensFor(std::span<const int32_t> candidates) const;
  // Makes buffers for steps of batches of up to `rows` rows.
  LayerBuffers MakeBuffers(int64_t rows) const;
  // Sets last_token of every row's sentence to its next token.
  void Step(DecoderBatch& batch, LayerBuffers& buffers) const;

 private:
  struct Layer {
    PackedMatrix gates;  // forget gate and candidate side by side
    NormWeights norm;
    PackedMatrix query;
    PackedMatrix output;
    NormWeights cross_norm;
    FeedForward feed_forward;
  };

  void Attend(const Layer& layer, size_t index, DecoderBatch& batch, LayerBuffers& buffers,
              float* x) const;
  void Choose(DecoderBatch& batch, LayerBuffers& buffers, const float* x) const;

  const kernels::IntegerKernels& kernels_;
  const Embeddings& embeddings_;
  const BergamotWeights& weights_;
  std::vector<int32_t> corrections_;  // for the embeddings when used as the output matrix
  std::vector<Layer> layers_;
};

}  // namespace millrace::bergamot
