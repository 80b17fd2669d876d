#pragma once

#include <cstddef>
#include <string>

namespace millrace::models {

// Longer words are cut between characters.
inline constexpr size_t kMaxSpokenWordBytes = 64;

// A word to be spoken and what follows it.
struct SpokenWord {
  // The word as it is written, except that numbers, symbols and abbreviations are spelled out in
  // lower case. May contain hyphens and apostrophes ("well-known", "don't"); letters with stops
  // between ("U.S.A.") must be spelled. Empty only in a first word that carries the marks before
  // it.
  std::string text;
  // The bytes of the source that it comes from. The words of one number have the same.
  size_t begin = 0;
  size_t end = 0;
  // Spaces and punctuation up to the next word: of ; : , . ! ? — … ( ) “ ” and single spaces.
  std::string after;
  // The word is, or belongs to, a number in digits.
  bool from_digits = false;
};

}  // namespace millrace::models
