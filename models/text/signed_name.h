#pragma once

#include <cstddef>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Returns the end of a name that stands between equal or mirrored signs, or behind one that no
// prose has before a word, as placeholders of whatever program do: --name--, §name§, ++name++,
// 【name】, [(name)], «name» (where those are no quotation marks), §name, &anchor, !!str. 0 if none
// begins at `at`.
size_t SignedNameEnd(const PatternText& text, size_t at);

}  // namespace millrace::models
