#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::translation {

// Finds the blocks of lines in Markdown that stay as they are, whatever words are in them: fenced
// code, formulas, code between the tags of a template, tags of templates in a line of their own,
// and imports and exports of MDX. What is not closed is none, but a fence, as readers show it.
class MarkdownBlocks {
 public:
  explicit MarkdownBlocks(std::string_view text) : text_(text) {}

  // Returns the end of the block that begins with the line at `at`, which may be within a line;
  // `at`: the line begins none.
  size_t EndOf(size_t at, bool after_blank);

 private:
  size_t FenceEnd(size_t at, size_t content) const;
  size_t FormulaEnd(size_t content);
  size_t TemplateEnd(size_t content);
  size_t ModuleEnd(size_t at) const;
  // Returns the place behind the next `mark`, or 0. The cost of searches in vain is bounded.
  size_t Behind(std::string_view mark, size_t from);
  // Returns `end`, or 0 if a blank line is before it.
  size_t WithoutBlankLine(size_t from, size_t end);

  const std::string_view text_;
  size_t searched_in_vain_ = 0;  // bytes
};

}  // namespace millrace::translation
