#pragma once

#include <vector>

#include "models/translation/search/logits_rules.h"
#include "models/translation/search/search.h"
#include "models/translation/search/word_sampler.h"

namespace millrace::models {

// One hypothesis, continued with its likeliest word, or with one that is drawn.
class SingleSearch final : public Search {
 public:
  SingleSearch(const SearchOptions& options, SearchTask task);

  std::span<const Row> rows() const override { return {&row_, done_ ? size_t{0} : size_t{1}}; }
  void Advance(float* logits, int64_t stride) override;
  std::span<const int32_t> Decided() const override { return std::span(history_).subspan(1); }
  std::vector<Hypothesis> Found() const override;

 private:
  const SearchOptions options_;
  const SearchTask task_;
  const LogitsRules rules_;
  WordSampler sampler_;
  std::vector<int32_t> history_;
  Row row_;
  bool done_ = false;
  bool failed_ = false;  // there was no number among the scores
};

}  // namespace millrace::models
