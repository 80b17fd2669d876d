#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::models {

// Returns the katakana for a word in ASCII letters that the dictionary does not have: Hepburn
// romaji as it is read, other words by the names of their letters. Thread-safe.
std::u32string LatinReading(std::string_view word);

// Returns the katakana of a word in small letters that Japanese texts often write in Latin letters,
// such as "google"; empty for other words. Thread-safe.
std::u32string LoanWordReading(std::string_view word);

// Returns the katakana of a name of letters and digits, "PS5" or "M-1", that the text begins with,
// and sets its length; empty if it begins with none that is known. Thread-safe.
std::u32string NameWithDigits(std::u32string_view text, size_t& length);

}  // namespace millrace::models
