#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"
#include "models/translation/markup/target_units.h"

namespace millrace::translation {

// Some bytes of a translation and what is put out in place of them.
struct RespelledEdit {
  size_t begin = 0;
  size_t end = 0;
  std::string becomes;
};

// Where the punctuation that a model read in another spelling (KeptSpan::reads) goes in a
// translation: in place of the same signs there, in their order or by their alignment; where the
// model left one out, in place of the sign that it wrote instead or between the words that it stood
// between. One edit for each such span, in no order; they do not overlap. Time linear in the
// translation for each span.
std::vector<RespelledEdit> PutBackRespelled(const MarkedText& source, std::string_view target,
                                            std::span<const TargetUnit> units);

}  // namespace millrace::translation
