#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"
#include "models/translation/markup/target_units.h"

namespace millrace::translation {

// A replacement of some bytes of a translation.
struct RespelledEdit {
  size_t begin = 0;
  size_t end = 0;
  std::string becomes;
};

// Returns the edits that restore punctuation which a model read in another spelling
// (KeptSpan::reads): they replace the same signs in the translation, in their order or by their
// alignment; where the model left one out, they replace the sign that it wrote instead, or insert
// between the words that the sign was between. There is one edit for each such span, in no order,
// without overlap. Time linear in the translation for each span.
std::vector<RespelledEdit> PutBackRespelled(const MarkedText& source, std::string_view target,
                                            std::span<const TargetUnit> units);

}  // namespace millrace::translation
