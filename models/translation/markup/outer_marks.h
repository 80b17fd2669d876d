#pragma once

#include <string>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Markup before and behind all words of a sentence.
struct OuterMarks {
  std::string before = {};
  std::string behind = {};
};

// Takes the markup off a sentence that has none between its words: elements around all of it,
// pictures and notes before or behind it. The mark of an accelerator key within the first word goes
// before the translation as well. Other sentences stay as they are. Without marks, a few words are
// translated like the same words alone, and no alignment is needed.
OuterMarks TakeOuterMarks(MarkedText& marked);

}  // namespace millrace::translation
