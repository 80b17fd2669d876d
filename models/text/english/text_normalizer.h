#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/text/english/dialect.h"
#include "models/text/english/number_reader.h"
#include "models/text/english/spoken_word.h"

namespace millrace::models {

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

}  // namespace millrace::models
