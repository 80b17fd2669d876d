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

// Calls meets(word) for the words of a list with | between them until one does.
template <typename Meets>
bool AnyOf(std::string_view words, const Meets& meets) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find('|'));
    if (meets(word)) return true;
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return false;
}

// Return true if the text begins with, ends with or has one of the words that have | between them.
inline bool BeginsWithOne(std::string_view text, std::string_view words) {
  return AnyOf(words, [text](std::string_view word) { return text.starts_with(word); });
}
inline bool EndsWithOne(std::string_view text, std::string_view words) {
  return AnyOf(words, [text](std::string_view word) { return text.ends_with(word); });
}
inline bool HasOne(std::string_view text, std::string_view words) {
  return AnyOf(words, [text](std::string_view word) { return text.find(word) != text.npos; });
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
