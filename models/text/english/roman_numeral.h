#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"
#include "models/text/english/spoken_word.h"

namespace millrace::models {

// Reads a Roman numeral of I, V, X and L where its context makes it one: after "chapter" and
// similar words ("Chapter IV", "page xii"), after a ruler's name ("Henry VIII" is "the eighth"),
// before "century", or after any other name if it has two letters or more ("Rocky III"). end: one
// past the numeral; words: what was read before. Empty if it is a word or letters. Thread-safe.
std::vector<std::string> ReadRomanNumeral(const NumberWords& numbers, std::string_view text,
                                          size_t end, std::string_view word,
                                          std::span<const SpokenWord> words);

// Returns the value of a numeral in small letters, such as "iii", as items of lists have them; 0 if
// it is none. Thread-safe.
unsigned LowerRomanValue(std::string_view word);

// Reads numerals with dashes between: "Vols. I–III", "a ii–V–I progression". words: what was
// read before. Thread-safe.
std::optional<Reading> ReadRomanRange(const NumberWords& numbers, std::string_view text, size_t at,
                                      std::span<const SpokenWord> words);

}  // namespace millrace::models
