#include "server/documents/wrapped_lines.h"

#include <algorithm>

#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"

namespace millrace::server {
namespace {

// Cuts a text behind each LF.
std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string_view LineEnd(std::string_view line) {
  return line.substr(line.size() - (line.ends_with("\r\n") ? 2 : line.ends_with('\n') ? 1 : 0));
}

// Returns true for a row of a table, whose columns are apart.
bool HasColumns(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.find('\t') != std::string_view::npos || line.find("  ") != std::string_view::npos;
}

bool GoesOn(std::string_view line, std::string_view next) {
  if (line.empty() || HasColumns(line) || HasColumns(next) ||
      !models::IsLower(models::DecodeAt(next, 0).value))
    return false;
  const char32_t last = models::DecodeBefore(line, line.size()).value;
  return models::IsLetter(last) || last == ',';
}

// Counts the columns of a text: letters and signs of Chinese and Japanese take two.
size_t ColumnsOf(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    columns += models::IsUnspaced(c.value) ? 2 : 1;
    at += c.bytes;
  }
  return columns;
}

// Returns true if a line may end between two characters of Chinese or Japanese: before no sign but
// one that opens, and behind none that opens.
bool MayBreak(char32_t before, char32_t behind) {
  constexpr std::u32string_view kOpening = U"「『（［｛〈《【〔“‘";
  const bool opens = kOpening.find(behind) != std::u32string_view::npos;
  return (models::IsUnspaced(before) || models::IsUnspaced(behind)) &&
         (opens || models::IsWordCharacter(behind) || models::IsLetter(behind)) &&
         kOpening.find(before) == std::u32string_view::npos;
}

// Returns the end of what stays together on a line from `begin` on, which is no space: a word, or a
// letter of Chinese or Japanese with the signs at it.
size_t PieceEnd(std::string_view line, size_t begin) {
  size_t at = begin;
  while (at < line.size() && line[at] != ' ') {
    const models::CodePoint c = models::DecodeAt(line, at);
    at += c.bytes;
    if (at < line.size() && MayBreak(c.value, models::DecodeAt(line, at).value)) break;
  }
  return at;
}

// Begins lines so that they have at most that many columns, if words allow it.
std::string Wrap(std::string_view line, size_t width, std::string_view line_end) {
  std::string out;
  size_t column = 0;
  while (!line.empty()) {
    const size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    const size_t end = PieceEnd(line, spaces);
    const std::string_view word = line.substr(spaces, end - spaces);
    const size_t columns = ColumnsOf(word);
    if (column > 0 && column + spaces + columns > width) {
      out += line_end;
      column = 0;
    } else {
      out.append(spaces, ' ');
      column += spaces;
    }
    out += word;
    column += columns;
    line.remove_prefix(end);
  }
  return out;
}

}  // namespace

WrappedLines JoinWrappedLines(std::string_view text) {
  WrappedLines joined;
  if (text.find("\r\n") != std::string_view::npos) joined.line_end = "\r\n";
  const std::vector<std::string_view> lines = LinesOf(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    size_t width = 0;
    size_t parts = 0;
    for (;; ++i) {
      const std::string_view end = LineEnd(lines[i]);
      const std::string_view line = lines[i].substr(0, lines[i].size() - end.size());
      width = std::max(width, models::CountCodePoints(line));
      ++parts;
      joined.text += line;
      if (i + 1 == lines.size() || !GoesOn(line, lines[i + 1])) {
        joined.text += end;
        break;
      }
      joined.text += ' ';
    }
    joined.widths.push_back(parts > 1 ? width : 0);
  }
  return joined;
}

std::string WrapLines(const WrappedLines& source, std::string translation) {
  const std::vector<std::string_view> lines = LinesOf(translation);
  if (lines.size() != source.widths.size()) return translation;
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (source.widths[i] == 0) {
      out += lines[i];
      continue;
    }
    const std::string_view end = LineEnd(lines[i]);
    out +=
        Wrap(lines[i].substr(0, lines[i].size() - end.size()), source.widths[i], source.line_end);
    out += end;
  }
  return out;
}

}  // namespace millrace::server
