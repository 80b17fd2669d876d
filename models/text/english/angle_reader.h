#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads the angle at `at` that has minutes, and the point of the compass behind it: "12° 30' 15"",
// "40°26'46"N". Without degrees it needs seconds that cannot be the inches of a height: "30' 15"".
// Thread-safe.
std::optional<Reading> ReadAngle(const NumberWords& numbers, std::string_view text, size_t at);

}  // namespace millrace::models
