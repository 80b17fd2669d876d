#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// The part of a sentence between marks of pauses, as espeak-ng reads it, and the marks and spaces
// after it, as Kokoro reads them. The first part may have marks only.
struct PausedText {
  std::string text;
  std::string marks;

  friend bool operator==(const PausedText&, const PausedText&) = default;
};

// Splits a text at its punctuation, quotes and brackets. White space becomes one space, guillemets
// become curly quotes, the danda a full stop, a dash between spaces an em dash. A mark within a
// number or an address ("3,14", "10:30", "www.example.com") is part of the text; the stop of an
// abbreviation ("Sr. Silva") is left out. ends: the end of the text ends a sentence, so that a full
// stop there is one. Bytes that are not UTF-8 are left out. Linear time.
std::vector<PausedText> DivideAtMarks(std::string_view text, bool ends);

}  // namespace millrace::models
