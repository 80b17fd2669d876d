#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/translation/quantised_encoder.h"
#include "models/translation/quantised_layers.h"

namespace millrace::models {

// The words that a sentence may use, with what the output layer needs of each. Padded to whole
// panels by words that never win.
struct OutputWords {
  OutputWords(std::span<const int32_t> candidates, std::span<const int32_t> all_corrections,
              std::span<const float> all_bias);

  std::vector<int32_t> words;
  std::vector<int32_t> corrections;
  std::vector<float> bias;
};

// The sentences that are being decoded, in step; their SSRU cells lie row by row, so that a step
// multiplies all of them at once. One thread at a time.
class DecoderBatch {
 public:
  struct Row {
    size_t job;
    std::vector<SentenceMemory> memory;  // of each decoder layer
    OutputWords output;
    int32_t last_word = -1;  // none yet
  };

  DecoderBatch(std::vector<Row> rows, size_t layers, int64_t dim);

  std::vector<Row>& rows() { return rows_; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }
  float* cells(size_t layer) { return cells_[layer].data(); }
  int64_t step() const { return step_; }
  void CountStep() { ++step_; }

  // Keeps the rows for which keep(row) holds, in their order.
  template <typename Keep>
  void KeepIf(Keep keep) {
    size_t kept = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!keep(rows_[i])) continue;
      if (kept < i) Move(i, kept);
      ++kept;
    }
    Truncate(kept);
  }

 private:
  void Move(size_t from, size_t to);
  void Truncate(size_t size);

  const int64_t dim_;
  std::vector<Row> rows_;
  std::vector<AlignedBuffer<float>> cells_;
  int64_t step_ = 0;
};

// The SSRU decoder with greedy choice. Immutable, so thread-safe.
class QuantisedDecoder {
 public:
  QuantisedDecoder(const BergamotWeights& weights, const Embeddings& embeddings,
                   const kernels::Kernels& kernels);

  size_t layers() const { return layers_.size(); }
  OutputWords WordsFor(std::span<const int32_t> candidates) const;
  // Buffers for steps of a batch of that many rows.
  LayerBuffers MakeBuffers(int64_t rows) const;
  // Sets last_word of every row to its next word.
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

  const kernels::Kernels& kernels_;
  const Embeddings& embeddings_;
  const BergamotWeights& weights_;
  std::vector<int32_t> corrections_;  // of the embeddings as output matrix
  std::vector<Layer> layers_;
};

}  // namespace millrace::models
