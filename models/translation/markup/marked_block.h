#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// A stretch of a text whose sentences stand by themselves: a paragraph, a heading, a cell.
struct MarkedBlock {
  std::string before;  // what stands before it, which is not translated
  MarkedText marked;   // may be empty
  bool flows = false;  // line breaks within it are like other white space
};

// Plain text, one block. Tags in pairs, such as <0>...</0>, are marks there, too.
std::vector<MarkedBlock> ReadPlain(std::string_view text);
// HTML, of a whole page or a piece. Tags within a sentence (b, a, span, ...) are marks, others
// divide blocks. Comments, script, style, pre, textarea, svg, code and its like, and what has
// translate="no" or class="notranslate" stay as they are. A tag without its counterpart stays at
// its place: nothing is refused, and what was well nested stays so. Entities become characters, but
// unknown ones stay. Linear time.
std::vector<MarkedBlock> ReadHtml(std::string_view text);
// Markdown: headings, lists, quotes, tables and paragraphs are blocks; emphasis and links are
// marks; code, fences, addresses, images and HTML stay as they are. Linear time.
std::vector<MarkedBlock> ReadMarkdown(std::string_view text);

}  // namespace millrace::translation
