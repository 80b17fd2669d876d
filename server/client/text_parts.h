#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace {

// A part of a text, and the white space behind it.
struct TextPart {
  std::string_view text;
  std::string_view space;
};

// Divides a text into parts of about `characters` at most, between paragraphs: behind blank lines,
// else, in a paragraph that is longer, behind lines, sentences or words. All parts together are the
// text. markdown: true if what is fenced as code stays in one part where it fits.
std::vector<TextPart> DivideText(std::string_view text, size_t characters, bool markdown);

}  // namespace millrace
