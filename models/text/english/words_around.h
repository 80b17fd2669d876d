#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/spoken_word.h"

namespace millrace::models {

// The words around one, in lower case; empty where there is none.
class WordsAround {
 public:
  WordsAround(std::span<const SpokenWord> words, size_t at) : words_(words), at_(at) {}

  std::string Before(size_t steps = 1) const {
    return at_ >= steps ? AsciiLower(words_[at_ - steps].text) : "";
  }
  std::string After(size_t steps = 1) const {
    return at_ + steps < words_.size() ? AsciiLower(words_[at_ + steps].text) : "";
  }
  // Returns true if one of the words near it begins with one of these, which have spaces between.
  bool Near(std::string_view beginnings) const {
    constexpr size_t kFarthest = 12;
    const size_t begin = at_ > kFarthest ? at_ - kFarthest : 0;
    const std::string self = AsciiLower(words_[at_].text);
    for (size_t i = begin; i < std::min(words_.size(), at_ + kFarthest); ++i) {
      const std::string word = AsciiLower(words_[i].text);
      if (word == self) continue;
      bool found = false;
      ForEachWord(beginnings, [&](std::string_view beginning) {
        found = found || word.starts_with(beginning);
      });
      if (found) return true;
    }
    return false;
  }

 private:
  const std::span<const SpokenWord> words_;
  const size_t at_;
};

inline bool IsSubject(std::string_view word) {
  return IsOneOf(word, "i", "you", "he", "she", "it", "we", "they", "who");
}

inline bool PrecedesNoun(std::string_view word) {
  return IsOneOf(word, "a", "an", "the", "this", "that", "her", "his", "my", "our", "their", "your",
                 "its", "every", "each", "no");
}

}  // namespace millrace::models
