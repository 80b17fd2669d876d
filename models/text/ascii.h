#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::models {

// These functions treat ASCII only, whatever the locale. Thread-safe.
inline bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsAsciiUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool IsAsciiLower(char c) { return c >= 'a' && c <= 'z'; }
inline bool IsAsciiLetter(char c) { return IsAsciiUpper(c) || IsAsciiLower(c); }
inline bool IsAsciiAlnum(char c) { return IsAsciiLetter(c) || IsAsciiDigit(c); }

inline char AsciiLower(char c) { return IsAsciiUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
inline std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = AsciiLower(c);
  return lower;
}
inline std::string AsciiCapitalised(std::string_view text) {
  std::string word = AsciiLower(text);
  if (!word.empty() && IsAsciiLower(word[0])) word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

// Returns the byte at `at`; 0 beyond the end.
inline char ByteAt(std::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

// Return the end of the run of ASCII digits, or of letters, that begins at `at`.
inline size_t DigitsEnd(std::string_view text, size_t at) {
  while (at < text.size() && IsAsciiDigit(text[at])) ++at;
  return at;
}
inline size_t LettersEnd(std::string_view text, size_t at) {
  while (at < text.size() && IsAsciiLetter(text[at])) ++at;
  return at;
}
// Returns the letters from `at` on, at most `longest` of them; none beyond the end.
inline std::string_view LettersAt(std::string_view text, size_t at, size_t longest = 16) {
  if (at >= text.size()) return {};
  return text.substr(at, LettersEnd(text.substr(0, at + longest), at) - at);
}

}  // namespace millrace::models
