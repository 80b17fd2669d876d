#pragma once

#include <string>
#include <string_view>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Whether a text is written in capitals: it has two at least, and no small letter but in what is
// kept.
bool IsInCapitals(const MarkedText& marked);
// Its text in small letters but for what is kept; each stands at the same byte.
std::string InSmallLetters(const MarkedText& marked);
// A text in capitals; each stands at the same byte.
std::string InCapitals(std::string_view text);

}  // namespace millrace::translation
