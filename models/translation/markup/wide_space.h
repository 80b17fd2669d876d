#pragma once

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Turns white space that a model reads as a space, but that the output has as it was written, into
// a space and marks: line breaks and spaces that are not ASCII's, with the white space around them.
// A space that only keeps a sign of French with its word stays. No kept span may have such white
// space inside. Linear time.
void MarkWideSpaces(MarkedText& marked);

}  // namespace millrace::translation
