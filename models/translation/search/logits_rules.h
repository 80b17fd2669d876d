#pragma once

#include <cstdint>
#include <span>

#include "models/translation/search/search_options.h"

namespace millrace::translation {

// What is changed in the scores of a hypothesis's next token before one is chosen. In this order:
// penalties for tokens that were there, then tokens that may not come, then tokens that must. The
// options and the task must outlive it. Thread-safe.
class LogitsRules {
 public:
  LogitsRules(const SearchOptions& options, const SearchTask& task)
      : options_(options), task_(task) {}

  // history: the start and the tokens since. Scores of tokens that may not come become minus
  // infinity; of a token that must come, 0.
  void Apply(std::span<const int32_t> history, std::span<float> scores) const;

 private:
  void PenaliseRepetition(std::span<const int32_t> history, std::span<float> scores) const;
  void ForbidRepeatedNgrams(std::span<const int32_t> history, std::span<float> scores) const;

  const SearchOptions& options_;
  const SearchTask& task_;
};

}  // namespace millrace::translation
