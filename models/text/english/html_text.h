#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// Returns one past the tag of HTML at `at`, such as "<b>" or "</p>"; 0 if there is none.
// Thread-safe.
size_t HtmlTagEnd(std::string_view text, size_t at);

// Reads an entity of HTML at `at`: "&amp;" is "and". Thread-safe.
std::optional<Reading> ReadHtmlEntity(std::string_view text, size_t at);

}  // namespace millrace::models
