#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "models/text/english/dialect.h"

namespace millrace::models {

// The words of a unit of measurement, separated by spaces.
struct Unit {
  std::string singular;
  std::string plural;
};

// Returns the meaning of a symbol such as "km", "MB", "m²", "kWh/day" or "N·m" after a number.
// spaced: whether a space is between them, after which some symbols are more likely words ("5 in
// total"). Thread-safe.
std::optional<Unit> FindUnit(std::string_view symbol, bool spaced, EnglishDialect dialect);

// Returns the bytes of the dot between the units of a product, "N·m"; 0 if there is none.
size_t ProductSignBytes(std::string_view text, size_t at);

// The most bytes of a symbol without a slash.
inline constexpr size_t kMaxUnitBytes = 6;

// Finds the unit that the letters from `at` to `end` behind a number are because of the noun behind
// them: "2 c. flour", "24 kt gold", "a 5 A fuse", "3m people". Thread-safe.
std::optional<Unit> FindUnitOfNoun(std::string_view text, size_t at, size_t end, bool spaced);

}  // namespace millrace::models
