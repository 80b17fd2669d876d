#pragma once

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Keeps strings that are too long for a word, as far as they are not kept already: a model would
// make twice as much nonsense of them, at the cost of a long text. They are text of more than 512
// bytes without white space, of a script that puts spaces between words. Added spans end at events,
// so that no event is inside one. Linear time.
void KeepEndlessWords(MarkedText& marked);

}  // namespace millrace::translation
