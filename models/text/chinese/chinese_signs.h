#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "models/text/unit_names.h"

namespace millrace::models {

// A label before an address or a number, and how it is said.
struct ChineseLabel {
  std::u32string_view written;
  std::u32string_view spoken;
};

// Returns the label that the text begins with, such as No. before a digit; empty if there is none.
ChineseLabel ChineseLabelAt(std::u32string_view text);

// Return the Chinese name of a sign between two numbers, of a sign right before a number, and of a
// Greek letter of formulas or a fraction in one sign; empty for others. Thread-safe.
std::u32string_view OperatorName(char32_t c);
std::u32string_view SignBeforeNumber(char32_t c);
std::u32string_view OperandName(char32_t c);

// Returns true for a digit above the line. Thread-safe.
bool IsPowerSign(char32_t c);

// Returns the words of the power that the text begins with, "²", "⁻³" or "^6", and sets its length;
// empty if there is none. Thread-safe.
std::u32string PowerWords(std::u32string_view text, size_t& length);

// Returns the currency whose sign the text begins with; null if there is none. Thread-safe.
const UnitName* ChineseCurrencyAt(std::u32string_view text);

// Returns the unit that the text begins with, unless letters follow which make it a word; null if
// there is none. Thread-safe.
const UnitName* ChineseUnitAt(std::u32string_view text);

}  // namespace millrace::models
