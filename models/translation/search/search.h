#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/translation/search/search_options.h"

namespace millrace::translation {

// A translation that was found.
struct Hypothesis {
  std::vector<int32_t> tokens;  // without start and end
  float score = 0;              // higher is better, among those of one beam search; else 0
};

// Looks for the translation of one sentence. It knows nothing of the network: in turns it says
// which hypotheses it wants to go on with, and is given the scores of their next tokens. One thread
// at a time; needs little more than the tokens of its hypotheses.
class Search {
 public:
  struct Row {
    int32_t token = 0;   // the hypothesis's last
    int32_t parent = 0;  // the row before that it continues; of the first row meaningless
  };

  virtual ~Search() = default;

  // The hypotheses that need scores; none: the search is over. At first one, with the start.
  virtual std::span<const Row> rows() const = 0;
  // The start and the tokens of the hypothesis of that row.
  virtual std::span<const int32_t> Tokens(size_t row) const = 0;
  // logits: task.tokens scores for each of the rows, which lie `stride` apart. Overwrites them.
  virtual void Advance(float* logits, int64_t stride) = 0;
  // The tokens, without the start, that whatever will be found begins with; until the search is
  // over.
  virtual std::span<const int32_t> Decided() const = 0;
  // What was found, the best first; once the search is over. Nothing when scores were no numbers.
  virtual std::vector<Hypothesis> Found() const = 0;
};

// The options must have been checked, the tokens of the task be of the vocabulary.
std::unique_ptr<Search> MakeSearch(const SearchOptions& options, SearchTask task);

}  // namespace millrace::translation
