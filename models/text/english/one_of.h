#pragma once

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

}  // namespace millrace::models
