#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// Returns true for words that bound a stretch of time: "noon", "present".
bool BoundsTime(std::string_view word);
// Reads the word or letter at `at` and the dash behind it that leads to the end of a range:
// "noon–1pm", "A–Z". The end itself is left to be read. Thread-safe.
std::optional<Reading> ReadWordRange(std::string_view text, size_t at);

}  // namespace millrace::models
