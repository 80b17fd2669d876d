#pragma once

#include <cstddef>
#include <string_view>

#include "models/translation/markup/html_tag.h"

namespace millrace::translation {

// Finds where lines of Markdown end that are to be read together, because code, a tag, a comment, a
// link or an element that stays as it is begins in one and ends in another.
class MarkdownSpans {
 public:
  explicit MarkdownSpans(std::string_view text) : text_(text), tags_(text) {}

  // Returns the end, without the line break, of the line at `begin`, or of the last one that it
  // goes on in.
  size_t LineEnd(size_t begin);

 private:
  // Returns the end of what begins at `at`, in this line or in a later one.
  size_t SpanEnd(size_t at);
  size_t CodeEnd(size_t at);
  size_t TagEnd(size_t at);
  // Returns the end of a link in a later line whose [ is at `at`; 0: there is none.
  size_t LinkEnd(size_t at);
  // Returns the place behind the next `mark`; `otherwise` if there is none. The cost of searches in
  // vain is bounded.
  size_t Behind(std::string_view mark, size_t from, size_t otherwise);
  // Returns true if a place is in the paragraph of the current line.
  bool IsInParagraph(size_t at);

  const std::string_view text_;
  HtmlTagReader tags_;
  size_t line_ = 0;           // where the current line begins
  size_t line_end_ = 0;       // and where it ends
  size_t paragraph_end_ = 0;  // the end of its paragraph, where that is known
  bool is_paragraph_known_ = false;
  size_t searched_in_vain_ = 0;  // bytes
};

}  // namespace millrace::translation
