#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/dialect.h"
#include "models/text/english/number_reader.h"

namespace millrace::models {

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
};

// Longer words are cut between characters.
inline constexpr size_t kMaxSpokenWordBytes = 64;

// Turns English text into the words that are spoken: numbers, dates, times, sums, units, fractions,
// ranges, Roman numerals, abbreviations, web addresses and symbols become words. Input that is not
// UTF-8 or cannot be spoken is left out. (The closest C++ library, WeTextProcessing, needs OpenFst
// and grammars compiled by Pynini; Debian has neither it nor an alternative.) Immutable, so
// thread-safe. Time and output are linear in the text, with at most about 20 words for a number.
class TextNormalizer {
 public:
  explicit TextNormalizer(EnglishDialect dialect) : dialect_(dialect), numbers_(dialect) {}

  // Normalises a sentence or a part of it. offset: added to all positions.
  std::vector<SpokenWord> Normalize(std::string_view text, size_t offset = 0) const;

  EnglishDialect dialect() const { return dialect_; }

 private:
  const EnglishDialect dialect_;
  const NumberReader numbers_;
};

// Returns true if a sentence is written in capitals.
bool IsShouted(std::span<const SpokenWord> words);

// Returns true for abbreviations that are spelled in a sentence of capitals, too.
bool IsSpelledInCapitals(std::string_view word);

}  // namespace millrace::models
