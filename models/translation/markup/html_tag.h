#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::translation {

// A tag in a text.
struct HtmlTag {
  std::string name;  // in lower case
  bool closes = false;
  bool is_empty = false;      // <br/>
  bool untranslated = false;  // marked as such: translate="no", class="notranslate", <xliff:g>
  size_t end = 0;             // in the text, after its >
};

// Reads the tags of one text from front to back. It remembers failed searches, so that all tags
// together take linear time.
class HtmlTagReader {
 public:
  explicit HtmlTagReader(std::string_view text) : text_(text) {}

  // Reads the tag whose < is at `at`; returns false if there is none: "a < b".
  bool Read(size_t at, HtmlTag& tag);
  // Returns the end of a tag that begins at `at` and is not closed, such as the last one of a text
  // that was cut: its name and its attributes as far as they go; `at` if none begins there.
  size_t UnfinishedEnd(size_t at) const;
  // Returns the position after the next `mark` from `at` on; npos if there is none.
  size_t Behind(std::string_view mark, size_t at) const;

 private:
  const std::string_view text_;
  // The positions from which on the text has no double, or no single, quotation mark.
  size_t no_double_quote_ = std::string_view::npos;
  size_t no_single_quote_ = std::string_view::npos;
};

}  // namespace millrace::translation
