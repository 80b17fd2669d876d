#pragma once

#include <string_view>

namespace millrace::models {

// Returns the mark that a punctuation character becomes: one of ; : , . ! ? — … ( ) “ ”, or an
// empty string for other characters. opens: whether a straight quotation mark opens a quotation.
// Thread-safe.
std::string_view PauseMark(char32_t c, bool opens);

// Returns the name of a symbol such as &, with words separated by spaces; empty if it is silent.
// Thread-safe.
std::string_view SymbolName(char32_t c, bool before_digit);

}  // namespace millrace::models
