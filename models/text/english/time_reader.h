#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a time of day: "23:55", "5:05:30", "5pm", "11 a.m.". Thread-safe; looks at most 16 bytes
// ahead.
std::optional<Reading> ReadTime(const NumberWords& numbers, std::string_view text, size_t at,
                                std::string_view previous = {});
// Reads "14h30", a time of day, and "1h30", a duration unless a word before it tells a time.
// previous: that word, in lower case.
std::optional<Reading> ReadHourAndMinute(const NumberWords& numbers, std::string_view text,
                                         size_t at, std::string_view previous);
// Reads "0800" behind a word that a time follows, or before "hours", as "oh eight hundred".
// previous: the word before, in lower case.
std::optional<Reading> ReadMilitaryTime(const NumberWords& numbers, std::string_view text,
                                        size_t at, std::string_view previous);

}  // namespace millrace::models
