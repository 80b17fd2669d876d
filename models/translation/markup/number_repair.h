#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::translation {

// The fewest digits of a number that is corrected. Shorter ones, such as times and small counts,
// may be expressed in another way.
inline constexpr size_t kFewestDigits = 3;

// A written number: digits, with stops, commas and spaces between them.
struct WrittenNumber {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
};

// Returns the numbers of a text in order. Linear time.
std::vector<WrittenNumber> FindNumbers(std::string_view text);

// A number of a translation, or its currency sign, and the source's text that should replace it.
struct NumberRepair {
  WrittenNumber target;
  std::string_view source;
};

// Returns corrections of numbers of three digits or more that a model changed, in order. Numbers
// are only corrected if the translation lacks as many of the source's as it has of its own. Numbers
// that differ only in separators (1,000 and 1.000) are equal.
std::vector<NumberRepair> RepairNumbers(std::string_view source, std::string_view target);

// Returns corrections of dollars, reais and pesos that a model confused: signs ($, US$, R$, ...)
// before a number of the translation that has another sign in the source. $ and US$ count as the
// same. In order. Linear time.
std::vector<NumberRepair> RepairMoneySigns(std::string_view source, std::string_view target);

}  // namespace millrace::translation
