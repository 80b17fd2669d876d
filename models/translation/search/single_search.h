#pragma once

#include <cstdint>
#include <vector>

#include "models/translation/search/logits_rules.h"
#include "models/translation/search/search.h"
#include "models/translation/search/token_sampler.h"

namespace millrace::translation {

// Stand for a token that is not prescribed: any, or any but one.
inline constexpr int32_t kAnyToken = -1;
constexpr int32_t AnyTokenBut(int32_t token) { return -2 - token; }

// Greedy search or sampling: one hypothesis, continued with its likeliest token or with one that is
// sampled.
class SingleSearch final : public Search {
 public:
  SingleSearch(const SearchOptions& options, SearchTask task);

  std::span<const Row> rows() const override { return {&row_, done_ ? size_t{0} : size_t{1}}; }
  std::span<const int32_t> Tokens(size_t) const override { return history_; }
  void Advance(float* logits, int64_t stride) override;
  std::span<const int32_t> Decided() const override { return std::span(history_).subspan(1); }
  std::vector<Hypothesis> Found() const override;

  // Returns the `ahead`-th next token if it is prescribed, else kAnyToken or AnyTokenBut(end). For
  // engines that choose the likeliest token themselves.
  int32_t GivenToken(size_t ahead) const;
  // Continues with that token, instead of Advance. A negative token says that the scores were not
  // finite.
  void Append(int32_t token);

 private:
  const SearchOptions options_;
  const SearchTask task_;
  const LogitsRules rules_;
  TokenSampler sampler_;
  std::vector<int32_t> history_;
  Row row_;
  bool done_ = false;
  bool failed_ = false;  // no score was finite
};

}  // namespace millrace::translation
