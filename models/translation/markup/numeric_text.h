#pragma once

#include <string_view>

#include "models/translation/markup/marked_text.h"
#include "models/translation/markup/number_format.h"

namespace millrace::translation {

// Returns true if a text is only numbers, sums, dates or times: digits, signs (also those
// of ordinals, 4º), and letters of currencies and of times. A model would add to it. Linear time.
bool IsNumericText(std::string_view text);

// Writes the numbers of such a text as the target's format does, where their values would be
// misread otherwise. Linear time.
void ConvertNumbers(MarkedText& marked, const NumberFormats& formats);

}  // namespace millrace::translation
