#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::translation {

// Shorter numbers are not corrected, because times and small counts may be expressed in another
// way.
inline constexpr size_t kFewestDigits = 3;

// A written number: digits, with stops, commas and spaces between them.
struct WrittenNumber {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
};

// Returns the numbers of a text in order. Linear time.
std::vector<WrittenNumber> FindNumbers(std::string_view text);

// A number of a translation that should be one of the source, or its currency sign.
struct NumberRepair {
  WrittenNumber target;
  std::string_view source;
};

// Returns corrections of numbers that a model changed: numbers of three digits or more, in order,
// if the translation has as many that the source lacks as the other way round. A number that is
// only written in another way (1,000 and 1.000) counts as the same.
std::vector<NumberRepair> RepairNumbers(std::string_view source, std::string_view target);

// Returns corrections of dollars, reais and pesos that a model confused: signs ($, US$, R$, ...)
// before a number of the translation that has another sign in the source. $ and US$ count as the
// same. In order. Linear time.
std::vector<NumberRepair> RepairMoneySigns(std::string_view source, std::string_view target);

}  // namespace millrace::translation
