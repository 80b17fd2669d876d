#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// A mark of a text: a pair with the marks inside it, or markup that stands alone.
struct MarkNode {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
  bool from_before = false;       // it opened in the preceding text
  bool goes_on = false;           // it closes in the following text
  bool is_pair = true;            // false: it stands alone, and `opening` is its markup
  std::string_view opening = {};  // views into the text's events
  std::string_view closing = {};
  std::vector<MarkNode> inner = {};  // in reading order
};

// Returns the outermost marks of a text, which must outlive them.
std::vector<MarkNode> MarksOf(const MarkedText& marked);

}  // namespace millrace::translation
