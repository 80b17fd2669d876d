#pragma once

#include <cstdint>
#include <span>

#include "models/translation/search/search_options.h"

namespace millrace::translation {

// Adjusts the scores of a hypothesis's next token before one is chosen: first penalties for tokens
// that have occurred, then tokens that are forbidden, then tokens that are forced. The options and
// the task must outlive it. Thread-safe.
class LogitsRules {
 public:
  LogitsRules(const SearchOptions& options, const SearchTask& task)
      : options_(options), task_(task) {}

  // history: the start and the tokens since. Forbidden tokens get minus infinity, and a forced
  // token gets 0.
  void Apply(std::span<const int32_t> history, std::span<float> scores) const;

 private:
  void PenaliseRepetition(std::span<const int32_t> history, std::span<float> scores) const;
  void ForbidRepeatedNgrams(std::span<const int32_t> history, std::span<float> scores) const;

  const SearchOptions& options_;
  const SearchTask& task_;
};

}  // namespace millrace::translation
