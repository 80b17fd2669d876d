#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/seq2seq/aten/kv_slot_pool.h"
#include "models/seq2seq/aten/transformer.h"
#include "mps_runtime/cached_forward.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/worker_context.h"

namespace millrace::seq2seq {

// A transformer with a cache of the tokens that it has been through, made once at its full size. A
// hypothesis is the list of its tokens' slots: to reorder or drop some copies nothing, and rows of
// any sentences go through a step together, padded to few shapes, of which each worker records a
// CUDA graph. Thread-safe; a slot is used by one call at a time. Every call waits until the device
// is done.
class CachedTransformer {
 public:
  static constexpr size_t kMaxRows = 128;  // in a step
  static constexpr size_t kMaxTokens = 4;  // of a row in one submission, unless shapes are few

  struct Source {
    std::span<const int32_t> tokens;
    std::span<const int32_t> slots;  // as many
  };
  struct Row {
    int32_t token = 0;                // the hypothesis's last
    size_t position = 0;              // its place; below longest()
    std::span<const int32_t> path;    // slots of the tokens up to there, then of those to come
    std::span<const int32_t> source;  // slots of the source's tokens
    std::span<const int32_t> forced;  // the next tokens, where they are given
  };

  // slots: as KvSlotPool. model: its name in the graph caches. few_shapes: pads further, for a
  // device that keeps each shape for ever, or caches that are frozen.
  CachedTransformer(TransformerWeights weights, size_t slots, std::string model, bool few_shapes);

  // Shared with the sentences that hold some, which may outlive this.
  const std::shared_ptr<KvSlotPool>& slots() const { return slots_; }
  // Of a row in one submission.
  size_t max_tokens() const { return few_shapes_ ? 1 : kMaxTokens; }
  // Places of the network: the longest source and translation, its start counted.
  size_t longest() const { return longest_; }

  // Writes the slots of the sources' tokens.
  void Encode(std::span<const Source> sources, runtime::WorkerContext& context) const;
  // The likeliest next tokens of each row, `tokens` (a power of two up to max_tokens()) of them,
  // what follows an end included; -1 where the scores are no numbers.
  std::vector<std::vector<int32_t>> Continue(std::span<const Row> rows, size_t tokens,
                                             runtime::WorkerContext& context) const;
  // The scores of each row's next token on the host, float32 [at least as many, tokens padded], for
  // at most kMaxRows. They hold until the next call on this thread, which may overwrite them.
  at::Tensor Score(std::span<const Row> rows, runtime::WorkerContext& context) const;
  // For each row the place in its source that the token after it comes from. The tokens of a
  // sentence are rows, one behind the other, along one path.
  std::vector<int32_t> Align(std::span<const Row> rows, runtime::WorkerContext& context) const;

 private:
  struct Shape;
  // What comes of a step.
  enum class Wanted : uint8_t { kTokens, kScores, kAlignment };

  at::Tensor Pack(std::span<const Row> rows, const Shape& shape) const;
  std::vector<at::Tensor> Run(const at::Tensor& packed, const Shape& shape, Wanted wanted) const;
  // What so many are padded to.
  int64_t WidthBucket(size_t tokens) const;
  int64_t RowsBucket(size_t rows) const;
  void EncodeTogether(std::span<const Source> sources, runtime::WorkerContext& context) const;

  const std::string model_;
  const bool few_shapes_;
  const uint64_t instance_ = runtime::NextInstance();
  const size_t longest_;
  const Transformer transformer_;
  const DeviceKvCache cache_;
  const std::shared_ptr<KvSlotPool> slots_;
};

}  // namespace millrace::seq2seq
