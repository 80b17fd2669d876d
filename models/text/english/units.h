#pragma once

#include <optional>
#include <string_view>

#include "models/text/english/dialect.h"

namespace millrace::models {

// A unit of measurement or currency in words; several are divided by spaces.
struct Unit {
  std::string_view singular;
  std::string_view plural;
};

// What a symbol such as "km", "MB" or "m²" means behind a number. `spaced`: whether a space stands
// between, after which some symbols are more likely words ("5 in total"). Thread-safe.
std::optional<Unit> FindUnit(std::string_view symbol, bool spaced, EnglishDialect dialect);

// The symbol's bytes at most.
inline constexpr size_t kMaxUnitBytes = 6;

}  // namespace millrace::models
