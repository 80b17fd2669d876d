#pragma once

#include <cstddef>
#include <string_view>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// A pair of signs around some text: brackets or quotation marks.
struct Wrapping {
  size_t opening = 0;  // bytes of each sign; 0: there is none
  size_t closing = 0;
};

// Returns the pair that a few words stand in as a whole, such as (none) or "Untitled". Models copy
// such words, or lose the signs.
Wrapping FindWrapping(std::string_view text);

// Has kept spans include the brackets and quotation marks around them, of which models lose one
// now and then: ("{name}"). A pair with anything else inside, or that touches a word, is left.
// Linear time.
void KeepWrappings(MarkedText& marked);

}  // namespace millrace::translation
