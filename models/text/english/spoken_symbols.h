#pragma once

#include <string_view>

namespace millrace::models {

// How a mark of punctuation is kept: one of ; : , . ! ? — … ( ) “ ”. Empty if it is none. `opens`:
// how a straight quotation mark is meant. Thread-safe.
std::string_view PauseMark(char32_t c, bool opens);

// What a symbol such as & is called on its own; words divided by spaces. Empty if it is silent.
// Thread-safe.
std::string_view SymbolName(char32_t c, bool before_digit);

}  // namespace millrace::models
