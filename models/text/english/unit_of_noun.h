#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/units.h"

namespace millrace::models {

// Finds the unit that the letters from `at` to `end` behind a number are because of the noun behind
// them: "2 c. flour", "24 kt gold", "a 5 A fuse", "3m people". Thread-safe.
std::optional<Unit> FindUnitOfNoun(std::string_view text, size_t at, size_t end, bool spaced);

}  // namespace millrace::models
