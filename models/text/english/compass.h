#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// These functions are thread-safe and look a bounded number of bytes ahead.

// Returns "north" for 'N'; empty for a letter that names no point of the compass.
std::string_view CompassName(char letter);
// Returns true if a letter from `at` to `end` behind a number is such a point: "42 W 23rd St", "I-5
// N", "Hwy. 101 N".
bool IsCompassBehindNumber(std::string_view text, size_t at, size_t end);
// Reads the word from `begin` to `end` where it is such a point: "winds NNE". previous:
// the word before, in lower case.
std::optional<Reading> ReadCompass(std::string_view text, size_t begin, size_t end,
                                   std::string_view previous);
// Takes such a point, or a scale of temperatures, behind degrees: "45° N", "20°C".
void TakeLetterBehindDegrees(std::string_view text, bool scales, Reading& reading);

}  // namespace millrace::models
