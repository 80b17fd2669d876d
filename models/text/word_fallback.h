#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::models {

// Pronounces words that a lexicon does not know. Implementations are thread-safe.
class WordFallback {
 public:
  virtual ~WordFallback() = default;
  // Returns the phonemes of each word in misaki's symbols; empty for a word that cannot be spoken.
  // Called once for each sentence, with all its unknown words, each of at most kMaxSpokenWordBytes.
  virtual absl::StatusOr<std::vector<std::string>> Phonemize(
      std::span<const std::string> words) const = 0;
};

}  // namespace millrace::models
