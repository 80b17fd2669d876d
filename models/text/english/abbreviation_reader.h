#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// Reads the ASCII word text[at, end) if it is an abbreviation, with its stop: "Dr.", "etc.", "No.
// 5", "w/o". previous: the word right before it as written, empty after a pause. last: nothing is
// spoken after the word. Thread-safe; looks a few bytes ahead.
std::optional<Reading> ReadAbbreviation(std::string_view text, size_t at, size_t end,
                                        std::string_view previous, bool last);

// Reads short runs of letters that each have a stop: "U.S.A." (as letters), "e.g.", "Ph.D.".
// Thread-safe; looks at most 20 bytes ahead.
std::optional<Reading> ReadDotted(std::string_view text, size_t at);

}  // namespace millrace::models
