#pragma once

#include <span>
#include <string_view>

#include "models/text/english/spoken_word.h"

namespace millrace::models {

// Returns true if a sentence is written in capitals, of which not all are abbreviations.
bool IsShouted(std::span<const SpokenWord> words);

// Says how a word in capitals is read where that is not left to the voice's own front end.
enum class CapitalsReading { kUnknown, kLetters, kWord };
CapitalsReading ReadingOfCapitals(std::string_view word);

// Returns true for short words that the dictionary of espeak-ng has, which it does not spell:
// "NOT".
bool IsShortWordInCapitals(std::string_view capitals);

// Returns true for abbreviations that are spelled in a sentence of capitals, too.
bool IsSpelledInCapitals(std::string_view word);

}  // namespace millrace::models
