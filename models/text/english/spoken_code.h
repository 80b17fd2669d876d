#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads the number at `at` as programmers say it: the status of HTTP as "four oh four", the mode of
// a file and a port digit by digit. previous: the word before, in lower case. Thread-safe.
std::optional<Reading> ReadSpokenCode(const NumberWords& numbers, std::string_view text, size_t at,
                                      std::string_view previous);

}  // namespace millrace::models
