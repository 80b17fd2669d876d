#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::translation {

// A written number: digits, with stops, commas and spaces between them.
struct WrittenNumber {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
};

// Returns the number as the text writes it, and its digits alone.
std::string_view In(std::string_view text, const WrittenNumber& number);
std::string DigitsOf(std::string_view number);

// Returns the numbers of a text in order. joins_spaces: a space may stand before three digits, as
// French writes 1 234. Linear time.
std::vector<WrittenNumber> FindNumbers(std::string_view text, bool joins_spaces = false);

// Returns the codes of a text in order: dates, times with seconds, numbers of telephones, books and
// identity cards, whose parts '/', ':' or '-' join: 05/03/2024, 123.456.789-09. A range or a score,
// such as 3-1, is none.
std::vector<WrittenNumber> FindCodes(std::string_view text);

}  // namespace millrace::translation
