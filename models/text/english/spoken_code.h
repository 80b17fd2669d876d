#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_context.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Returns true for words that a number follows which is a name, in lower case: "PIN".
bool NamesCode(std::string_view word);

// Reads a number that is a name: the status of HTTP as "four oh four"; the mode of a file, a port,
// "dial 911", "ZIP code 10001", "order 114-3941" and "0x1F" digit by digit. Thread-safe.
std::optional<Reading> ReadSpokenCode(const NumberWords& numbers, std::string_view text, size_t at,
                                      const NumberContext& context);

// Reads three digits or more right behind letters, and before no small letter, one by one:
// "BA2490", "N123AB".
std::optional<Reading> ReadCodeBehindLetters(const NumberWords& numbers, std::string_view text,
                                             size_t at);

// Reads the season and the episode of a series, "S02E05". Thread-safe; constant time.
std::optional<Reading> ReadEpisode(const NumberWords& numbers, std::string_view text, size_t at);

}  // namespace millrace::models
