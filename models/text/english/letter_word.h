#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a word of letters from `begin` to `end` that is spelled where it stands: "AT&T", "mc²",
// "(iii)", "heading NW". previous: the word before, in lower case. Thread-safe.
std::optional<Reading> ReadLetterWord(const NumberWords& numbers, std::string_view text,
                                      size_t begin, size_t end, std::string_view word,
                                      std::string_view previous);

// Returns true for a letter in the plural, which is no word: "Ps and Qs".
bool IsLetterInPlural(std::string_view word);

// Returns the letters of an abbreviation with stops, as which they are spelled.
std::string Dotted(std::string_view word);

}  // namespace millrace::models
