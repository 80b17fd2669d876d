#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads groups of digits that look like a telephone number one digit at a time: "555-1234",
// "(212) 555-0123", "1-800-555-0199", "+44 20 7946 0958", "020 7946 0958". Thread-safe; looks at
// most 32 bytes ahead.
std::optional<Reading> ReadPhone(const NumberWords& numbers, std::string_view text, size_t at);

}  // namespace millrace::models
