#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// These functions are thread-safe and look a bounded number of bytes ahead.

// Reads "3/4", "9/10 stars", "page 3/10", "120/80". previous: the word before, in lower case.
std::optional<Reading> ReadFraction(const NumberWords& numbers, std::string_view text, size_t at,
                                    std::string_view previous);
// Returns the words of ½ and similar signs at `at`, as "one half"; nullopt if there is none.
std::optional<Reading> ReadFractionSign(std::string_view text, size_t at);
// Takes the "1/2" of "3 1/2"; returns false when there is none.
bool TakeMixedFraction(const NumberWords& numbers, std::string_view text, Reading& reading);

}  // namespace millrace::models
