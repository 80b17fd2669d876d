#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads "fe80::1" digit by digit. Thread-safe; looks at most 40 bytes ahead.
std::optional<Reading> ReadIpv6Address(const NumberWords& numbers, std::string_view text,
                                       size_t at);

// Appends a hexadecimal digit: the name of the digit or of the letter.
void AppendHexDigit(const NumberWords& numbers, char digit, Reading& reading);
bool IsHexDigit(char c);

}  // namespace millrace::models
