#pragma once

#include "models/text/placed_text.h"

namespace millrace::models {

// Returns the text with dates in hiragana in digits, as 12月1日 for じゅうにがつついたち, which a
// dictionary of words divides elsewhere. Thread-safe; linear time.
PlacedText WithKanaDatesInDigits(PlacedText text);

}  // namespace millrace::models
