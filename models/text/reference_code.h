#pragma once

#include <cstddef>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Returns the end of a code that people copy as it is, and that begins at `at`: a telephone number
// (+55 11 91234-5678, (11) 1234-5678), the number of an account (IBAN), a language tag (en-US), a
// time such as 12h30; 0 if there is none.
size_t ReferenceCodeEnd(const PatternText& text, size_t at);

}  // namespace millrace::models
