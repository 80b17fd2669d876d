#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/seq2seq/float_decoder.h"
#include "models/seq2seq/kv_cache.h"
#include "models/translation/search/search.h"

namespace millrace::seq2seq {

// A sentence that is being decoded: its search, the encoder's output for its source, and the KV
// cache of its hypotheses. It belongs to no batch: each step takes whichever sentences are ready.
// One thread at a time.
class SentenceDecoding {
 public:
  SentenceDecoding(KvBlockPool& pool, int64_t slot_floats, SourceMemory memory,
                   std::unique_ptr<translation::Search> search)
      : cache_(pool, slot_floats),
        memory_(std::move(memory)),
        search_(std::move(search)),
        paths_(1) {}

  const translation::Search& search() const { return *search_; }
  const SourceMemory& memory() const { return memory_; }
  bool over() const { return search_->rows().empty(); }
  // Returns the number of tokens in the KV cache.
  size_t cached_tokens() const { return cache_.used(); }

  // Adds a row for each hypothesis that needs scores. The rows are valid until Advance.
  void AddRows(std::vector<DecoderRow>& rows);
  // Continues the search with the scores of the rows, which lie `stride` apart. Overwrites them.
  void Advance(float* logits, int64_t stride);

 private:
  // The tokens of a hypothesis that the decoder has read.
  struct Path {
    int32_t slot = KvCache::kNone;  // the last token's
    std::vector<float*> floats;     // the floats of all tokens' slots
  };

  KvCache cache_;
  const SourceMemory memory_;
  const std::unique_ptr<translation::Search> search_;
  std::vector<Path> paths_;  // one for each row of the search
};

}  // namespace millrace::seq2seq
