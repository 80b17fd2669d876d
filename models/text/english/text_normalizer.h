#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/dialect.h"
#include "models/text/english/number_reader.h"

namespace millrace::models {

// A word to be spoken and what comes behind it.
struct SpokenWord {
  // As it is written but for numbers, symbols and abbreviations, which are spelled out in small
  // letters. May hold hyphens and apostrophes ("well-known", "don't"); letters with stops between
  // ("U.S.A.") are to be spelled. Empty only in a first word that carries the marks before it.
  std::string text;
  // Bytes of the source that it comes from. Words of one number share theirs.
  size_t begin = 0;
  size_t end = 0;
  // Spaces and punctuation up to the next word: of ; : , . ! ? — … ( ) “ ” and single spaces.
  std::string after;
};

// Longer words are cut, within no character.
inline constexpr size_t kMaxSpokenWordBytes = 64;

// English text to the words that are spoken: numbers, dates, times, sums, units, fractions, ranges,
// Roman numerals, abbreviations, web addresses and symbols become words. Input that is no UTF-8 or
// cannot be spoken is left out. (The nearest C++ library, WeTextProcessing, brings OpenFst and
// grammars that Pynini compiles; Debian has neither it nor another.) Immutable, so thread-safe.
// Time and output are linear in the text, at most some 20 words a number.
class TextNormalizer {
 public:
  explicit TextNormalizer(EnglishDialect dialect) : numbers_(dialect) {}

  // One sentence or a part of it. `offset` is added to every span.
  std::vector<SpokenWord> Normalize(std::string_view text, size_t offset = 0) const;

 private:
  const NumberReader numbers_;
};

}  // namespace millrace::models
