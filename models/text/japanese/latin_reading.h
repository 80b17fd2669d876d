#pragma once

#include <string>
#include <string_view>

namespace millrace::models {

// Returns the katakana for a word in ASCII letters that the dictionary does not have: Hepburn
// romaji as it is read, other words by the names of their letters. Thread-safe.
std::u32string LatinReading(std::string_view word);

// Returns the katakana of a word in small letters that Japanese texts often write in Latin letters,
// such as "google"; empty for other words. Thread-safe.
std::u32string LoanWordReading(std::string_view word);

}  // namespace millrace::models
