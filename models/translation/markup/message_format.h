#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::translation {

// A message of ICU that stands alone in its lines: {count, plural, one {# file} other {# files}}.
struct PlainMessage {
  // The text of a branch, between its braces.
  struct Branch {
    size_t begin = 0;
    size_t end = 0;
  };

  size_t begin = 0;
  size_t end = 0;
  bool counts = false;  // # in a branch stands for the number
  std::vector<Branch> branches = {};
};

// Returns the messages of a text in order. One that stands in a sentence is none of them. Linear
// time.
std::vector<PlainMessage> FindMessages(std::string_view text);

}  // namespace millrace::translation
