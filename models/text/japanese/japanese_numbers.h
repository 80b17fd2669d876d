#pragma once

#include <string>
#include <string_view>

namespace millrace::models {

// Returns the reading in hiragana of a number as it stands before a counter: "3" before "ほん" is
// "さん" and the counter "ぼん". `behind` is the text after the number, in hiragana; `taken`
// becomes the number of its characters that the reading has already. `day_of_month`: a month is
// before it. `number` has digits, commas between thousands and one point. Thread-safe.
std::u32string JapaneseNumber(std::string_view number, std::u32string_view behind,
                              bool day_of_month, size_t& taken);

// Returns the names of the digits one by one; hyphens between groups are "の", as in a telephone
// number. Thread-safe.
std::u32string JapaneseDigits(std::string_view digits);

}  // namespace millrace::models
