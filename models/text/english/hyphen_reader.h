#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "models/text/english/reading.h"
#include "models/text/english/spoken_word.h"

namespace millrace::models {

// Reads the `count` hyphens from `at` to `run`, which are no sign of a number, as the words of
// grades, options of commands and ranges of seats; nullopt if they only join or part words. words:
// what was read before. Thread-safe.
std::optional<Reading> ReadHyphens(std::string_view text, size_t at, size_t run, size_t count,
                                   std::span<const SpokenWord> words);

// Returns true if hyphens that are no words stand for a dash: alone or doubled.
bool StandForDash(std::string_view text, size_t at, size_t run, size_t count);

}  // namespace millrace::models
