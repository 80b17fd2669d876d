#include "models/text/english/cached_fallback.h"

#include "models/core/errors.h"

namespace millrace::models {

absl::StatusOr<std::vector<std::string>> CachedFallback::Phonemize(
    std::span<const std::string> words) const {
  std::vector<std::string> phonemes(words.size());
  std::vector<std::string> missing;
  std::vector<size_t> places;
  {
    MutexLock lock(mu_);
    for (size_t i = 0; i < words.size(); ++i) {
      const auto found = index_.find(words[i]);
      if (found == index_.end()) {
        missing.push_back(words[i]);
        places.push_back(i);
      } else {
        entries_.splice(entries_.begin(), entries_, found->second);
        phonemes[i] = found->second->phonemes;
      }
    }
  }
  if (missing.empty()) return phonemes;
  MILLRACE_ASSIGN_OR_RETURN(auto answers, fallback_->Phonemize(missing));
  if (answers.size() != missing.size()) {
    return Internal("a fallback answered another number of words than it was asked");
  }
  MutexLock lock(mu_);
  for (size_t i = 0; i < missing.size(); ++i) {
    Remember(missing[i], answers[i]);
    phonemes[places[i]] = std::move(answers[i]);
  }
  return phonemes;
}

void CachedFallback::Remember(const std::string& word, const std::string& phonemes) const {
  if (capacity_ == 0 || index_.contains(word)) return;
  if (entries_.size() >= capacity_) {
    index_.erase(entries_.back().word);
    entries_.pop_back();
  }
  entries_.push_front({word, phonemes});
  index_.emplace(entries_.front().word, entries_.begin());
}

}  // namespace millrace::models
