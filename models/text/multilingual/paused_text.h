#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// A piece of a sentence between marks of pauses, as espeak-ng is asked for it, and the marks and
// spaces behind it as Kokoro reads them. The first may have marks alone.
struct PausedText {
  std::string text;
  std::string marks;

  friend bool operator==(const PausedText&, const PausedText&) = default;
};

// Divides a text at its punctuation, quotes and brackets. White space becomes one space, guillemets
// become curly quotes, the danda a full stop, a dash between spaces an em dash. A mark within a
// number or an address ("3,14", "10:30", "www.example.com") is part of the text, the stop of an
// abbreviation ("Sr. Silva") is left out. `ends`: the end of the text is that of a sentence, so
// that a full stop there is one. Bytes that are not UTF-8 are left out. Linear time.
std::vector<PausedText> DivideAtMarks(std::string_view text, bool ends);

}  // namespace millrace::models
