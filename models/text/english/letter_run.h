#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::models {

inline bool IsGreek(char32_t c) { return c >= 0x370 && c < 0x400; }
inline bool IsApostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

// A word as it is written: letters, with apostrophes and hyphens between them.
struct LetterRun {
  size_t end = 0;
  bool plain = true;  // it has letters only
  std::string text;   // with typographic apostrophes and hyphens made plain
};

// Returns the word whose first letter is at `at`, of at most kMaxSpokenWordBytes. Thread-safe.
LetterRun FindLetterRun(std::string_view text, size_t at);

// Returns true for an initial, "J. Smith", and for the catalogue of "K. 545". end: one past the
// word.
bool IsInitial(std::string_view text, size_t end, std::string_view word);

}  // namespace millrace::models
