#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Return the Japanese name of the sign of a currency, and of another sign; empty for others.
// Thread-safe.
std::u32string_view JapaneseCurrency(char32_t c);
std::u32string_view JapaneseSymbol(char32_t c);

// Returns the word of "No." and the like at `at`, before a number; empty for others. Thread-safe.
std::u32string_view LabelBeforeNumber(std::u32string_view text, size_t at);

// Returns the English number of 2ラン, which the text begins with; empty for others. Thread-safe.
std::u32string_view EnglishCount(std::u32string_view text);

// Returns true if the text ends with the number of a label: 問1. Thread-safe.
bool EndsLabel(std::u32string_view before);

// Returns the length of the scheme of an address, https://, that the text begins with; 0 for none.
// Thread-safe.
size_t SchemeLength(std::u32string_view text);

// Returns true if the text ends with a short form that people write with a stop: "vs", "Mr".
// Thread-safe.
bool EndsShortForm(std::u32string_view before);

}  // namespace millrace::models
