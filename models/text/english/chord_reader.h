#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads the symbol of a chord at `at`: "Bb7#11", "C#m7b5", "Fmaj7/A". Thread-safe.
std::optional<Reading> ReadChord(const NumberWords& numbers, std::string_view text, size_t at);

}  // namespace millrace::models
