#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/translation/search/search_options.h"

namespace millrace::translation {

// A translation that a search has found.
struct Hypothesis {
  std::vector<int32_t> tokens;  // without start and end
  float score = 0;              // higher is better within one beam search; 0 from other searches
};

// The search for the translation of one sentence. It knows nothing of the network: in each step it
// names the hypotheses that it wants to continue and receives the scores of their next tokens. One
// thread at a time; its memory is little more than the tokens of its hypotheses.
class Search {
 public:
  struct Row {
    int32_t token = 0;  // the last token of the hypothesis
    // The row of the previous step that it continues; meaningless in the first step.
    int32_t parent = 0;
  };

  virtual ~Search() = default;

  // Returns the hypotheses that need scores; empty when the search is over. The first step has one,
  // with only the start.
  virtual std::span<const Row> rows() const = 0;
  // Returns the start and the tokens of the row's hypothesis.
  virtual std::span<const int32_t> Tokens(size_t row) const = 0;
  // Continues the search. logits: task.tokens scores for each row, which lie `stride` apart.
  // Overwrites them.
  virtual void Advance(float* logits, int64_t stride) = 0;
  // Returns the tokens, without the start, with which every possible result begins. Only while the
  // search is not over.
  virtual std::span<const int32_t> Decided() const = 0;
  // Returns the results once the search is over, the best first; empty when scores were not finite.
  virtual std::vector<Hypothesis> Found() const = 0;
};

// The options must be valid, and the tokens of the task must be in the vocabulary.
std::unique_ptr<Search> MakeSearch(const SearchOptions& options, SearchTask task);

}  // namespace millrace::translation
