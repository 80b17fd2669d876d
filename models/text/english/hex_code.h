#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// These functions read hexadecimal digits one by one. Thread-safe; they look a bounded number of
// bytes ahead.

// Reads the address of a network card, "00:1A:2B:3C:4D:5E", the identifier
// "123e4567-e89b-12d3-a456-426614174000" or the color "#ff0000" that begins at `at`.
std::optional<Reading> ReadHexCode(const NumberWords& numbers, std::string_view text, size_t at);

// Reads "0x1F".
std::optional<Reading> ReadHexNumber(const NumberWords& numbers, std::string_view text, size_t at);

// Reads "fe80::1".
std::optional<Reading> ReadIpv6Address(const NumberWords& numbers, std::string_view text,
                                       size_t at);

}  // namespace millrace::models
