#pragma once

#include <cstddef>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Returns the end of a call, an index or a member whose name is [at, end): open(), print("text"),
// list.append(x), f(*args, y=2), items[0], user->name, Foo::bar(), and of what is called on its
// result; 0 if there is none.
size_t FunctionCallEnd(const PatternText& text, size_t at, size_t end);

}  // namespace millrace::models
