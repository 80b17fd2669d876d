#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// Reads what joins two numbers, of which the first ends at `at`: "3 x 4", "1920x1080", "10 / 2", "7
// - 3 = 4", "10:00-11:30", "50%-75%". The reading ends where the second number begins. Thread-safe;
// looks at most 20 bytes ahead.
std::optional<Reading> ReadNumberJoint(std::string_view text, size_t at);

}  // namespace millrace::models
