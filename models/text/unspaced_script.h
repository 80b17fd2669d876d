#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns true for letters and signs of Chinese and Japanese, which have no space between words or
// sentences; false for those of Korean. Thread-safe, as are the others.
bool IsUnspaced(char32_t c);
// Returns true if no space follows the last sentence of a text: its last character is such a one,
// or an end mark of ASCII behind letters that mostly are. Quotes and brackets do not count.
bool EndsUnspaced(std::string_view text);
// Counts words between spaces. Two letters of Chinese or Japanese count as one word.
size_t CountWords(std::string_view text);

}  // namespace millrace::models
