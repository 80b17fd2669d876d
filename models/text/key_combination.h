#pragma once

#include <cstddef>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Returns the end of keys that are pressed together, such as Ctrl+Shift+P, Alt + F4, Ctrl-C or
// ⌘S, that begin at `at`; 0 if none do.
size_t KeyCombinationEnd(const PatternText& text, size_t at);

}  // namespace millrace::models
