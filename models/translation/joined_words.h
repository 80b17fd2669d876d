#pragma once

#include "models/translation/markup/marked_text.h"
#include "models/translation/vocabulary.h"

namespace millrace::translation {

// Puts a space between two words that only markup divides, as in "**bold**text", because a model
// would read one word that it does not know. A word of which markup encloses a part, such as
// "un**believ**able", stays one. Returns true if the text changed. Linear time.
bool DivideJoinedWords(const Vocabulary& vocabulary, MarkedText& marked);

}  // namespace millrace::translation
