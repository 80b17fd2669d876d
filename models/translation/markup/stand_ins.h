#pragma once

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Replaces kept spans with stand-ins: models copy X1, X2, ... in any context. Adjacent spans share
// one. The text that a model reads in place of a span (KeptSpan::reads) is put in instead; it stays
// a kept span only if it returns. A span that touches a word, or has marks inside, becomes marks.
// Linear time.
void PutStandIns(MarkedText& marked);

}  // namespace millrace::translation
