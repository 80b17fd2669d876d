#pragma once

#include <cstddef>
#include <vector>

#include "models/translation/search/logits_rules.h"
#include "models/translation/search/search.h"

namespace millrace::translation {

// Beam search, which continues the beam_size likeliest hypotheses together. The algorithm is that
// of transformers, including the order of ties: each step considers the 2 * beam_size best
// continuations; those among the first beam_size that end are kept with their scores, at most
// beam_size in all; the best that do not end continue.
class BeamSearch final : public Search {
 public:
  BeamSearch(const SearchOptions& options, SearchTask task);

  std::span<const Row> rows() const override { return rows_; }
  std::span<const int32_t> Tokens(size_t row) const override { return live_[row].history; }
  void Advance(float* logits, int64_t stride) override;
  std::span<const int32_t> Decided() const override;
  std::vector<Hypothesis> Found() const override;

 private:
  struct Live {
    std::vector<int32_t> history;  // the start and the tokens since
    float score = 0;               // log probability
  };
  struct Candidate {
    float score;
    int32_t row;
    int32_t token;
  };

  // Returns the best continuations of all rows, the best first.
  std::vector<Candidate> BestCandidates(float* logits, int64_t stride) const;
  bool Ends(const Candidate& candidate) const;
  void Keep(const Candidate& candidate);
  void Continue(const std::vector<Candidate>& candidates);
  bool IsOver() const;
  size_t beam() const { return static_cast<size_t>(options_.beam_size); }
  size_t written() const { return live_.front().history.size() - 1; }
  float Score(float log_probability, size_t tokens) const;

  const SearchOptions options_;
  const SearchTask task_;
  const LogitsRules rules_;
  std::vector<Live> live_;  // in the order of rows_
  std::vector<Row> rows_;
  std::vector<Hypothesis> found_;  // the best first, at most beam_size
};

}  // namespace millrace::translation
