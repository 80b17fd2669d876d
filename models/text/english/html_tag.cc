#include "models/text/english/html_tag.h"

#include <string>

#include "models/text/ascii.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {

size_t HtmlTagEnd(std::string_view text, size_t at) {
  constexpr size_t kMaxNameBytes = 10;
  constexpr size_t kMaxTagBytes = 256;
  if (ByteAt(text, at) != '<') return at;
  constexpr std::string_view kComment = "<!--";
  if (text.substr(at).starts_with(kComment)) {
    const size_t close = text.substr(0, at + kMaxTagBytes).find("-->", at + kComment.size());
    return close == std::string_view::npos ? at : close + 3;
  }
  const size_t name = at + (ByteAt(text, at + 1) == '/' ? 2 : 1);
  if (name >= text.size()) return at;
  size_t end = LettersEnd(text, name, kMaxNameBytes + 1);
  const std::string written = AsciiLower(text.substr(name, end - name));
  if (!IsOfKind(written, "html-tag")) return at;
  // "<h1>" has a digit.
  const bool heading = written == "h";
  if (heading != IsAsciiDigit(ByteAt(text, end))) return at;
  if (heading) ++end;
  const char next = ByteAt(text, end);
  if (next != '>' && next != '/' && next != ' ') return at;
  const size_t close = text.substr(0, at + kMaxTagBytes).find_first_of("<>", end);
  if (close == std::string_view::npos || text[close] != '>') return at;
  // "a <b and c> d" is no tag: its attributes have values.
  const std::string_view attributes = text.substr(end, close - end);
  const bool bare = attributes.find_first_not_of(" /") == std::string_view::npos;
  return bare || attributes.find('=') != std::string_view::npos ? close + 1 : at;
}

}  // namespace millrace::models
