#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a state's two letters at `at` by its name, where a ZIP code follows: the "CA" of
// "CA 90210". Thread-safe; looks at most 14 bytes ahead.
std::optional<Reading> ReadStateBeforeZip(std::string_view text, size_t at);

// Reads a ZIP code whose five digits begin at `at` digit by digit, with the four that may follow a
// hyphen, where a state's two letters stand before it. Thread-safe.
std::optional<Reading> ReadZip(const NumberWords& numbers, std::string_view text, size_t at);

}  // namespace millrace::models
