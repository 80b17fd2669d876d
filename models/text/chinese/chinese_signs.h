#pragma once

#include <string_view>

namespace millrace::models {

// Return the Chinese name of the sign of a currency, of a sign between two numbers, and of a Greek
// letter of formulas; empty for others. Thread-safe.
std::u32string_view ChineseCurrency(char32_t c);
std::u32string_view OperatorName(char32_t c);
std::u32string_view GreekName(char32_t c);

}  // namespace millrace::models
