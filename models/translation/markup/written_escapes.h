#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::translation {

// A line break or tab that is written as an escape, as in the strings of programs (\n, \t) and in
// subtitles (\N), or several of them, with the spaces around them.
struct WrittenBreak {
  size_t begin = 0;
  size_t end = 0;                // begin: there is none
  bool within_sentence = false;  // the sentence goes on behind it
};

// Reads the one whose first backslash is at `at`. A command of LaTeX and a part of a path are none.
WrittenBreak FindWrittenBreak(std::string_view text, size_t at);

// Returns the bytes of the escape at the beginning of a text, which are 2, or 0 if there is none.
size_t WrittenBreakBytes(std::string_view text);

}  // namespace millrace::translation
