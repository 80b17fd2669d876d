#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "models/text/english/number_words.h"

namespace millrace::models {

// Reads a Roman numeral of I, V and X where its context makes it one: behind "chapter" and its like
// ("Chapter IV"), a name of rulers ("Henry VIII" is "the eighth"), or any other name when it has
// two letters or more ("Rocky III"). `previous` is the word before, `follows` the byte behind.
// Empty when it is a word or letters. Thread-safe.
std::vector<std::string> ReadRomanNumeral(const NumberWords& numbers, std::string_view word,
                                          std::string_view previous, char follows);

}  // namespace millrace::models
