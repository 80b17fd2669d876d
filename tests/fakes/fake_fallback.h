#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/text/word_fallback.h"

namespace millrace::testing {

// Says "<word>", and remembers what it was asked.
class FakeFallback final : public models::WordFallback {
 public:
  absl::StatusOr<std::vector<std::string>> Phonemize(
      std::span<const std::string> words) const override {
    calls.emplace_back(words.begin(), words.end());
    if (fails) return absl::UnavailableError("no fallback today");
    std::vector<std::string> answers;
    for (const std::string& word : words) answers.push_back("<" + word + ">");
    return answers;
  }

  mutable std::vector<std::vector<std::string>> calls;
  bool fails = false;
};

}  // namespace millrace::testing
