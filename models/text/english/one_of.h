#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace millrace::models {

// Returns true if the word is one of the others. Only those of its length are compared.
template <size_t... sizes>
bool IsOneOf(std::string_view word, const char (&... others)[sizes]) {
  return ((word.size() == sizes - 1 && std::memcmp(word.data(), others, sizes - 1) == 0) || ...);
}

// Returns true if the word is in a list with spaces between; a space is not.
inline bool IsListed(std::string_view word, std::string_view words) {
  if (word.empty() || word.front() == ' ' || word.back() == ' ') return false;
  for (size_t at = words.find(word); at < words.size(); at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

// A list of words with spaces between, most of which a look at a word's ends and length rules out.
class WordSet {
 public:
  constexpr explicit WordSet(std::string_view words) : words_(words) {
    while (!words.empty()) {
      const std::string_view word = words.substr(0, words.find(' '));
      kinds_[KindOf(word)] = true;
      words.remove_prefix(std::min(word.size() + 1, words.size()));
    }
  }

  bool Contains(std::string_view word) const {
    return !word.empty() && kinds_[KindOf(word)] && IsListed(word, words_);
  }

 private:
  static constexpr size_t kKinds = 512;

  static constexpr size_t KindOf(std::string_view word) {
    return (static_cast<unsigned char>(word.front()) * 17U +
            static_cast<unsigned char>(word.back()) * 5U + word.size() * 101U) %
           kKinds;
  }

  std::string_view words_;
  std::array<bool, kKinds> kinds_ = {};
};

}  // namespace millrace::models
