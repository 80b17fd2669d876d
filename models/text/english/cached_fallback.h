#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/word_fallback.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::models {

// Caches the results of another fallback, because names recur. Keeps the most recently used words,
// at most `capacity` of them (about 200 bytes each). Thread-safe; no lock is held while the other
// fallback works.
class CachedFallback final : public WordFallback {
 public:
  explicit CachedFallback(std::shared_ptr<const WordFallback> fallback, size_t capacity = 4096)
      : fallback_(std::move(fallback)), capacity_(capacity) {}

  // Errors are not cached.
  absl::StatusOr<std::vector<std::string>> Phonemize(
      std::span<const std::string> words) const override MILLRACE_EXCLUDES(mu_);

 private:
  struct Entry {
    std::string word;
    std::string phonemes;
  };

  void Remember(const std::string& word, const std::string& phonemes) const MILLRACE_REQUIRES(mu_);

  const std::shared_ptr<const WordFallback> fallback_;
  const size_t capacity_;
  mutable Mutex mu_;
  mutable std::list<Entry> entries_ MILLRACE_GUARDED_BY(mu_);  // the most recently used first
  // Keys are views of the entries' words, which never move.
  mutable std::unordered_map<std::string_view, std::list<Entry>::iterator> index_
      MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::models
