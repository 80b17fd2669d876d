#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

inline constexpr std::string_view kAsciiSpace = " \t\n\v\f\r";

// Return the view without ASCII white space at its start, its end, or both.
inline std::string_view TrimLeft(std::string_view text) {
  const size_t begin = text.find_first_not_of(kAsciiSpace);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}
inline std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kAsciiSpace) + 1);
}
inline std::string_view Trim(std::string_view text) { return TrimLeft(TrimRight(text)); }

// Returns true if a word is one of those with white space between them.
inline bool HasWord(std::string_view words, std::string_view word) {
  if (word.empty()) return false;
  for (size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || kAsciiSpace.find(words[at - 1]) != words.npos) &&
        (end == words.size() || kAsciiSpace.find(words[end]) != words.npos))
      return true;
  }
  return false;
}

}  // namespace millrace::models
