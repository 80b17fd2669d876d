#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::server {

// Text whose sentences run over several lines, as an editor of plain text breaks them.
struct WrappedLines {
  // Each line of the joined text: the characters of its longest line; 0: it was one line.
  std::vector<size_t> widths;
  std::string text;
  std::string_view line_end = "\n";  // lines are broken by it
};

// Joins a line with the next one where a sentence seems to go on: it ends with a letter or a comma,
// and a small letter follows at the very beginning of the next line.
WrappedLines JoinWrappedLines(std::string_view text);
// Breaks the lines of a translation that were joined, at about the width that they had. A
// translation with another number of lines stays as it is.
std::string WrapLines(const WrappedLines& source, std::string translation);

}  // namespace millrace::server
