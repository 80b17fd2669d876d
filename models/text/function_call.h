#pragma once

#include <cstddef>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Returns the end of a call whose function has a name from `at` to `end`: open(), print("text"),
// list.append(x), get_name(a, b); 0 if there is none.
size_t FunctionCallEnd(const PatternText& text, size_t at, size_t end);

}  // namespace millrace::models
