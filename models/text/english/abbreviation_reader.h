#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// Reads the abbreviation that the ASCII word text[at, end) is, with its stop: "Dr.", "etc.",
// "No. 5", "w/o". `previous` is the word right before it, as it is written, empty behind a pause.
// `last`: nothing is spoken behind the word. Thread-safe; looks a few bytes ahead.
std::optional<Reading> ReadAbbreviation(std::string_view text, size_t at, size_t end,
                                        std::string_view previous, bool last);

// Reads short runs of letters that each have a stop: "U.S.A." (as letters), "e.g.", "Ph.D.".
// Thread-safe; looks at most 20 bytes ahead.
std::optional<Reading> ReadDotted(std::string_view text, size_t at);

}  // namespace millrace::models
