#pragma once

#include <vector>

#include "models/translation/search/logits_rules.h"
#include "models/translation/search/search.h"
#include "models/translation/search/token_sampler.h"

namespace millrace::translation {

// One hypothesis, continued with its likeliest token, or with one that is drawn.
class SingleSearch final : public Search {
 public:
  SingleSearch(const SearchOptions& options, SearchTask task);

  std::span<const Row> rows() const override { return {&row_, done_ ? size_t{0} : size_t{1}}; }
  std::span<const int32_t> Tokens(size_t) const override { return history_; }
  void Advance(float* logits, int64_t stride) override;
  std::span<const int32_t> Decided() const override { return std::span(history_).subspan(1); }
  std::vector<Hypothesis> Found() const override;

  // For who chooses the likeliest tokens itself. The `ahead`-th next token, when it is given and
  // not chosen; else -1.
  int32_t GivenToken(size_t ahead) const;
  // In place of Advance: goes on with that token; a negative one: the scores were no numbers.
  void Append(int32_t token);

 private:
  const SearchOptions options_;
  const SearchTask task_;
  const LogitsRules rules_;
  TokenSampler sampler_;
  std::vector<int32_t> history_;
  Row row_;
  bool done_ = false;
  bool failed_ = false;  // there was no number among the scores
};

}  // namespace millrace::translation
