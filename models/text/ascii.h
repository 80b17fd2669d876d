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
inline char AsciiUpper(char c) { return IsAsciiLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
inline std::string AsciiUpper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = AsciiUpper(c);
  return upper;
}
inline std::string AsciiCapitalised(std::string_view text) {
  std::string word = AsciiLower(text);
  if (!word.empty()) word[0] = AsciiUpper(word[0]);
  return word;
}

// Returns the byte at `at`; 0 beyond the end.
inline char ByteAt(std::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

// Returns true if the byte is one of these; false for 0.
inline bool IsAmong(std::string_view bytes, char c) { return bytes.find(c) != bytes.npos; }

// Return the end of the run of ASCII digits, or of letters, that begins at `at`, of which at most
// `longest` count.
inline size_t DigitsEnd(std::string_view text, size_t at, size_t longest = std::string_view::npos) {
  const size_t begin = at;
  while (at < text.size() && at - begin < longest && IsAsciiDigit(text[at])) ++at;
  return at;
}
inline size_t LettersEnd(std::string_view text, size_t at,
                         size_t longest = std::string_view::npos) {
  const size_t begin = at;
  while (at < text.size() && at - begin < longest && IsAsciiLetter(text[at])) ++at;
  return at;
}
// Return the beginning of the run that ends at `end`, of which at most `longest` count.
inline size_t DigitsBegin(std::string_view text, size_t end,
                          size_t longest = std::string_view::npos) {
  size_t at = end;
  while (at > 0 && end - at < longest && IsAsciiDigit(text[at - 1])) --at;
  return at;
}
inline size_t LettersBegin(std::string_view text, size_t end,
                           size_t longest = std::string_view::npos) {
  size_t at = end;
  while (at > 0 && end - at < longest && IsAsciiLetter(text[at - 1])) --at;
  return at;
}
// Returns the letters right before `end`.
inline std::string_view LettersBefore(std::string_view text, size_t end,
                                      size_t longest = std::string_view::npos) {
  const size_t begin = LettersBegin(text, end, longest);
  return text.substr(begin, end - begin);
}
// Returns the letters from `at` on, at most `longest` of them; none beyond the end.
inline std::string_view LettersAt(std::string_view text, size_t at, size_t longest = 16) {
  return at >= text.size() ? std::string_view()
                           : text.substr(at, LettersEnd(text, at, longest) - at);
}

}  // namespace millrace::models
