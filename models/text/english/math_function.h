#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// The name of a function in a formula, and its argument.
struct MathFunction {
  Reading reading;   // "sine of", up to the first byte of an argument in brackets
  size_t close = 0;  // the bracket that closes the argument; 0 if it has none
};

// Reads the name of a function from `begin` to `end`, with the base of a logarithm, before its
// argument: "sin θ", "log2(8)", "f(x)". nullopt if it is a word. Thread-safe.
std::optional<MathFunction> ReadMathFunction(std::string_view text, size_t begin, size_t end);

// Returns the bar that closes the absolute value which opens at `at`, as in "|x|"; 0 if the bar
// there is another one. Thread-safe.
size_t AbsoluteValueEnd(std::string_view text, size_t at);

// Reads an operator of two signs or more with spaces around it: "!=", ">=". Thread-safe.
std::optional<Reading> ReadOperator(std::string_view text, size_t at);

}  // namespace millrace::models
