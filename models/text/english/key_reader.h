#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads keys that are pressed together: "Ctrl-C", "Cmd+Shift+4". Thread-safe; constant time.
std::optional<Reading> ReadKeys(const NumberWords& numbers, std::string_view text, size_t at);

}  // namespace millrace::models
