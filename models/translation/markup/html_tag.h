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

// Returns true for the tag of an element that stays as it is, with what is in it: code, pre,
// script, and whatever is marked as such.
bool StaysAsItIs(const HtmlTag& tag);

// Reads the tags of one text from front to back. It remembers failed searches, so that all tags
// together take linear time.
class HtmlTagReader {
 public:
  explicit HtmlTagReader(std::string_view text) : text_(text) {}

  // Reads the tag whose < is at `at`; returns false if there is none: "a < b".
  bool Read(size_t at, HtmlTag& tag);
  // Returns where the element of an opening tag ends; 0: it has no end.
  size_t ElementEnd(const HtmlTag& opening);
  // Returns where a superscript ends that marks a note or is a power, such as <sup>2</sup> or
  // <sup><a href="#n">[2]</a></sup>, or a link without letters at a word, as e-books mark notes; 0:
  // the tag, which begins at `at`, opens none.
  size_t NoteMarkEnd(size_t at, const HtmlTag& opening) const;
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
  size_t searched_in_vain_ = 0;  // bytes
};

}  // namespace millrace::translation
