#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns true if the letters in begin..end are symbols of chemical elements in a formula, which
// goes on with a number or has a charge: the "SO" of "SO4", "Na⁺". A single symbol before a number
// counts as none, since it is a letter anyway. Thread-safe.
bool IsFormula(std::string_view text, size_t begin, size_t end);

// Returns the bracket that closes the group of elements which opens at `at`, as in "Mg(OH)2"; 0 if
// there is none. Thread-safe.
size_t FormulaGroupEnd(std::string_view text, size_t at);

}  // namespace millrace::models
