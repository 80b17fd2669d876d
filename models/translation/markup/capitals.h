#pragma once

#include <string>
#include <string_view>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Returns true if a text is written in capitals: it has at least two, and no lower-case letter
// outside kept spans.
bool IsInCapitals(const MarkedText& marked);
// Returns the text in lower case, except kept spans and signs of money, such as R$; each character
// stays at its byte.
std::string InSmallLetters(const MarkedText& marked);
// Returns a text with all its letters in lower case.
std::string LowerText(std::string_view text);
// Returns a text in capitals; each character stays at its byte.
std::string InCapitals(std::string_view text);

}  // namespace millrace::translation
