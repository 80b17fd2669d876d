#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/seq2seq/aten/fused_decoder.h"
#include "models/seq2seq/aten/kv_slot_pool.h"
#include "models/seq2seq/aten/transformer.h"
#include "mps_runtime/cached_forward.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/worker_context.h"

namespace millrace::seq2seq {

// A transformer with a KV cache that is allocated once, at its full size. A hypothesis is the list
// of its tokens' slots, so that reordering or dropping hypotheses copies nothing. Rows of any
// sentences share a step, padded to few shapes, for each of which a worker captures a CUDA graph.
// Thread-safe; a slot is used by one call at a time. Every call waits until the device is done.
class CachedTransformer {
 public:
  static constexpr size_t kMaxRows = 128;  // in a step
  static constexpr size_t kMaxTokens = 4;  // the most of a row at once, unless shapes are few

  struct Source {
    std::span<const int32_t> tokens;
    std::span<const int32_t> slots;  // one for each token
  };
  struct Row {
    int32_t token = 0;                // the last token of the hypothesis
    size_t position = 0;              // its position; below longest()
    std::span<const int32_t> path;    // slots of the tokens up to there, then of later ones
    std::span<const int32_t> source;  // slots of the source's tokens
    // The next tokens where they are prescribed; -1: any, -2 - t: any but t.
    std::span<const int32_t> forced;
  };

  // slots: see KvSlotPool. model: its name in the graph caches. few_shapes: pads to fewer shapes,
  // for a device that keeps each compiled shape until the process exits, or for frozen caches.
  CachedTransformer(TransformerWeights weights, size_t slots, std::string model, bool few_shapes);

  // Shared with the sentences that hold slots, which may outlive this object.
  const std::shared_ptr<KvSlotPool>& slots() const { return slots_; }
  // Returns the most tokens that one submission can decode for a row.
  size_t max_tokens() const { return few_shapes_ ? 1 : kMaxTokens; }
  // Returns the number of positions of the network: the longest source and translation, the start
  // token included.
  size_t longest() const { return longest_; }

  // Encodes the sources and writes the slots of their tokens.
  void Encode(std::span<const Source> sources, runtime::WorkerContext& context) const;
  // Decodes the likeliest next `tokens` tokens of each row; `tokens` is a power of two up to
  // max_tokens(). Tokens after an end are included. A token is -1 where the scores are not finite.
  std::vector<std::vector<int32_t>> Continue(std::span<const Row> rows, size_t tokens,
                                             runtime::WorkerContext& context) const;
  // Returns the scores of each row's next token on the host, float32 [at least as many rows, padded
  // vocabulary], for at most kMaxRows. They are valid until the next call on this thread, and the
  // caller may overwrite them.
  at::Tensor Score(std::span<const Row> rows, runtime::WorkerContext& context) const;
  // Returns for each row the source position that the next token comes from. The tokens of a
  // sentence are consecutive rows along one path.
  std::vector<int32_t> Align(std::span<const Row> rows, runtime::WorkerContext& context) const;

 private:
  struct Shape;
  // The result of a step.
  enum class Wanted : uint8_t { kTokens, kScores, kAlignment };

  at::Tensor Pack(std::span<const Row> rows, const Shape& shape) const;
  std::vector<at::Tensor> Run(const at::Tensor& packed, const Shape& shape, Wanted wanted) const;
  // The same, unless an alignment is wanted.
  std::vector<at::Tensor> RunFused(const at::Tensor& packed, const Shape& shape,
                                   Wanted wanted) const;
  // Return the padded size.
  int64_t WidthBucket(size_t tokens, int64_t narrowest) const;
  int64_t RowsBucket(size_t rows) const;
  void EncodeTogether(std::span<const Source> sources, int64_t width,
                      runtime::WorkerContext& context) const;

  const std::string model_;
  const bool few_shapes_;
  const uint64_t instance_ = runtime::NextInstance();
  const size_t longest_;
  const Transformer transformer_;
  const std::optional<FusedDecoder> fused_;
  const DeviceKvCache cache_;
  const std::shared_ptr<KvSlotPool> slots_;
};

}  // namespace millrace::seq2seq
