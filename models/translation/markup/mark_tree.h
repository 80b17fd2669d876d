#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// A mark of a text, or a pair of them, and those within it.
struct MarkNode {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
  bool from_before = false;       // it opened in the text before
  bool goes_on = false;           // it closes in the text behind
  bool is_pair = true;            // else it stands alone, and is its opening
  std::string_view opening = {};  // views into the text's events
  std::string_view closing = {};
  std::vector<MarkNode> inner = {};  // in reading order
};

// The outermost marks of a text, which must outlive them.
std::vector<MarkNode> MarksOf(const MarkedText& marked);

}  // namespace millrace::translation
