#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::translation {

// A tag as it stands in a text.
struct HtmlTag {
  std::string name;  // in lower case
  bool closes = false;
  bool is_empty = false;      // <br/>
  bool untranslated = false;  // it says so: translate="no", class="notranslate"
  size_t end = 0;             // in the text, behind its >
};

// Reads tags of one text from its front. Remembers what it looked for in vain, so that all tags
// together take linear time.
class HtmlTagReader {
 public:
  explicit HtmlTagReader(std::string_view text) : text_(text) {}

  // The tag whose < stands at `at`; false when none does: "a < b".
  bool Read(size_t at, HtmlTag& tag);
  // Behind a tag that begins at `at` and has no end, such as the last one of a text that was cut:
  // its name, and its attributes as far as they go; `at` when none begins there.
  size_t UnfinishedEnd(size_t at) const;
  // Behind the next `mark` from `at` on; npos: there is none.
  size_t Behind(std::string_view mark, size_t at) const;

 private:
  const std::string_view text_;
  // From there on no such quote comes.
  size_t no_double_quote_ = std::string_view::npos;
  size_t no_single_quote_ = std::string_view::npos;
};

}  // namespace millrace::translation
