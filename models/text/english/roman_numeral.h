#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "models/text/english/number_words.h"

namespace millrace::models {

// Reads a Roman numeral of I, V and X where its context makes it one: after "chapter" and similar
// words ("Chapter IV"), after a ruler's name ("Henry VIII" is "the eighth"), or after any other
// name if it has two letters or more ("Rocky III"). previous: the word before. follows: the byte
// after it. Empty if it is a word or letters. Thread-safe.
std::vector<std::string> ReadRomanNumeral(const NumberWords& numbers, std::string_view word,
                                          std::string_view previous, char follows);

// Reads a Roman numeral as an ordinal: "the XIX century". Empty if it is none. Thread-safe.
std::vector<std::string> ReadRomanOrdinal(const NumberWords& numbers, std::string_view word);

// Returns true for words that Roman numerals follow, in lower case: "chapter". Thread-safe.
bool CountsInRoman(std::string_view word);
// Returns true for names of rulers, after which a numeral is an ordinal. Thread-safe.
bool IsRuler(std::string_view name);

// Returns the value of a numeral in small letters, such as "iii", as items of lists have them; 0 if
// it is none. Thread-safe.
unsigned LowerRomanValue(std::string_view word);

}  // namespace millrace::models
