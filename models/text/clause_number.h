#pragma once

#include <cstddef>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Returns the end of the number of a clause or figure with its parts, such as 5(2)(b), 12.3(a) or
// 3 (a) (ii), that begins at `at`; 0 if none does.
size_t ClauseNumberEnd(const PatternText& text, size_t at);

}  // namespace millrace::models
