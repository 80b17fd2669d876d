#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::translation {

// Shorter numbers are not corrected: times and small counts may be said in another way.
inline constexpr size_t kFewestDigits = 3;

// A number as it is written: digits, with stops, commas and spaces between them.
struct WrittenNumber {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
};

// In order. Time linear in the text.
std::vector<WrittenNumber> FindNumbers(std::string_view text);

// A number of a translation that should be one of the source, or the sign of its currency.
struct NumberRepair {
  WrittenNumber target;
  std::string_view source;
};

// Numbers that a model changed: of three digits or more, in order, when as many of the
// translation's are not in the source as of the source's are not in the translation. A number that
// is only written in another way (1,000 and 1.000) is the same.
std::vector<NumberRepair> RepairNumbers(std::string_view source, std::string_view target);

// Dollars, reais and pesos that a model changed into one another: the signs ($, US$, R$, ...)
// before a number of the translation whose number has another sign in the source. $ and US$ are the
// same. In order. Time linear in the text.
std::vector<NumberRepair> RepairMoneySigns(std::string_view source, std::string_view target);

}  // namespace millrace::translation
