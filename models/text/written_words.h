#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::models {

// A word of a text: bytes [begin, end).
struct WrittenWord {
  size_t begin = 0;
  size_t end = 0;

  friend bool operator==(const WrittenWord&, const WrittenWord&) = default;
};

// Splits text at white space into words without the quotes, brackets and punctuation around them.
// Signs that are spoken, as in "$5" and "50%", stay. Thread-safe; linear time.
std::vector<WrittenWord> SplitWrittenWords(std::string_view text);

}  // namespace millrace::models
