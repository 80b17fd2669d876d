#pragma once

#include <string_view>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Lets a model read signs and words that it takes for others in another way: hours as the target
// language writes them, the sign of a number, units of time, short names of days, prohibitions.
// Languages are BCP 47; an unknown target is empty. Linear time.
void PutReadings(MarkedText& marked, std::string_view language, std::string_view target_language);

}  // namespace millrace::translation
