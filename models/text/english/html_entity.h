#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// Reads an entity of HTML at `at`: "&amp;" is "and". Thread-safe.
std::optional<Reading> ReadHtmlEntity(std::string_view text, size_t at);

}  // namespace millrace::models
