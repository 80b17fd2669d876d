#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads the address of a network card that begins at `at` digit by digit: "00:1A:2B:3C:4D:5E".
// Thread-safe; looks at most 18 bytes ahead.
std::optional<Reading> ReadHardwareAddress(const NumberWords& numbers, std::string_view text,
                                           size_t at);

}  // namespace millrace::models
