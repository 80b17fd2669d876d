#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/seq2seq/float_decoder.h"
#include "models/seq2seq/token_cache.h"
#include "models/translation/search/search.h"

namespace millrace::seq2seq {

// A sentence that is being decoded: its search, what is known of its source, and the cached tokens
// of its hypotheses. It belongs to no batch: a step takes whichever are at hand. One thread at a
// time.
class SentenceDecoding {
 public:
  SentenceDecoding(CacheBlocks& blocks, int64_t slot_floats, SourceMemory memory,
                   std::unique_ptr<translation::Search> search)
      : cache_(blocks, slot_floats),
        memory_(std::move(memory)),
        search_(std::move(search)),
        paths_(1) {}

  const translation::Search& search() const { return *search_; }
  const SourceMemory& memory() const { return memory_; }
  bool over() const { return search_->rows().empty(); }
  // Tokens whose keys and values are held.
  size_t cached_tokens() const { return cache_.used(); }

  // Adds a row for each hypothesis that wants scores; they hold until Advance.
  void AddRows(std::vector<DecoderRow>& rows);
  // Gives it the scores of its rows, which lie `stride` apart, and overwrites them.
  void Advance(float* logits, int64_t stride);

 private:
  // The tokens of a hypothesis that have been through the decoder.
  struct Path {
    int32_t slot = TokenCache::kNone;  // of the last
    std::vector<float*> floats;        // of the slots of all
  };

  TokenCache cache_;
  const SourceMemory memory_;
  const std::unique_ptr<translation::Search> search_;
  std::vector<Path> paths_;  // one a row of the search
};

}  // namespace millrace::seq2seq
