#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// A block of a text whose sentences are independent of others: a paragraph, a heading, a cell.
struct MarkedBlock {
  std::string before;  // the text before it, which is not translated
  MarkedText marked;   // may be empty
  bool flows = false;  // line breaks in it are ordinary white space
};

// Reads plain text as one block. Tags in pairs, such as <0>...</0>, are marks there, too.
std::vector<MarkedBlock> ReadPlain(std::string_view text);
// Reads HTML, a whole page or a part. Tags within a sentence (b, a, span, ...) are marks, and
// others separate blocks. Comments, script, style, pre, textarea, svg, code and similar elements,
// and elements with translate="no" or class="notranslate", stay as they are. A tag without its
// counterpart stays at its place: nothing is rejected, and valid nesting stays valid. Entities
// become characters, except unknown ones. Linear time.
std::vector<MarkedBlock> ReadHtml(std::string_view text);
// Reads Markdown: headings, lists, quotes, tables and paragraphs are blocks; emphasis and links are
// marks; code, fences, addresses, images and HTML stay as they are. Linear time.
std::vector<MarkedBlock> ReadMarkdown(std::string_view text);

}  // namespace millrace::translation
