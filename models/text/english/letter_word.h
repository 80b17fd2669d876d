#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"
#include "models/text/english/spoken_word.h"

namespace millrace::models {

// Reads a word of letters from `begin` to `end` that is spelled where it stands: "AT&T", "mc²",
// "(iii)", "heading NW". previous: the word before, in lower case. Thread-safe.
std::optional<Reading> ReadLetterWord(const NumberWords& numbers, std::string_view text,
                                      size_t begin, size_t end, std::string_view word,
                                      std::string_view previous);

// Returns true for a letter in the plural, which is no word: "Ps and Qs".
bool IsLetterInPlural(std::string_view word, std::string_view previous);

// Returns true for capitals up to `end` that are letters though they look like a word: "AD 500",
// "AM radio", "THE US ARMY". words: those before; counted: the last of them is a number.
bool AreLetters(std::string_view text, size_t end, std::string_view word,
                std::span<const SpokenWord> words, bool counted);

// Returns the letters of an abbreviation with stops, as which they are spelled.
std::string Dotted(std::string_view word);

}  // namespace millrace::models
