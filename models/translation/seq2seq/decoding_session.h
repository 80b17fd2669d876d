#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/translation/search/search.h"
#include "models/translation/seq2seq/seq2seq_network.h"
#include "models/translation/seq2seq/token_cache.h"

namespace millrace::models {

// Sentences that are being decoded together, a word of each hypothesis a step. Sentences join and
// leave between steps; what is found for one does not depend on the others. The network must
// outlive it. One thread at a time.
class DecodingSession {
 public:
  // A sentence that joins.
  struct Entry {
    size_t id = 0;                    // the caller's
    std::span<const int32_t> source;  // with its end; not empty, no longer than there are places
    std::unique_ptr<Search> search;
  };
  struct Result {
    size_t id = 0;
    std::vector<Hypothesis> found;  // the best first
  };

  explicit DecodingSession(const Seq2SeqNetwork& network);

  // Encodes the sources; the sentences take part from the next step on.
  void Join(std::vector<Entry> entries);
  // Drops the sentences for which leaves(id) holds.
  template <typename Leaves>
  void Remove(const Leaves& leaves) {
    std::erase_if(sentences_, [&](const Sentence& sentence) {
      if (!leaves(sentence.id)) return false;
      Forget(sentence);
      return true;
    });
  }
  // One word more for each. Returns the sentences whose search is over; they have left.
  std::vector<Result> Step();

  size_t size() const { return sentences_.size(); }
  // Words whose keys and values are held.
  size_t cached_words() const { return cache_.used(); }

 private:
  // The words of a hypothesis that have been through the decoder.
  struct Path {
    int32_t slot = TokenCache::kNone;  // of the last
    std::vector<float*> floats;        // of the slots of all
  };
  struct Sentence {
    size_t id;
    std::unique_ptr<Search> search;
    SourceMemory memory;
    std::vector<Path> paths;  // one a row of the search
  };

  // Lets the row's word follow its path.
  void Extend(Path& path);
  // Gives each row of the search, after it advanced, the path that it continues.
  void Follow(Sentence& sentence);
  void Forget(const Sentence& sentence);

  const Seq2SeqNetwork& network_;
  TokenCache cache_;
  LayerScratch scratch_;
  Scratch logits_;
  std::vector<Sentence> sentences_;
};

}  // namespace millrace::models
