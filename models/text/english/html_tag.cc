#include "models/text/english/html_tag.h"

#include <algorithm>
#include <array>
#include <string>

#include "models/text/ascii.h"

namespace millrace::models {

size_t HtmlTagEnd(std::string_view text, size_t at) {
  constexpr size_t kMaxNameBytes = 10;
  constexpr size_t kMaxTagBytes = 256;
  constexpr std::array<std::string_view, 40> kNames = {
      "a",    "b",   "big",   "blockquote", "body", "br", "center", "code", "div",    "em",
      "font", "h",   "head",  "hr",         "html", "i",  "img",    "ins",  "kbd",    "li",
      "mark", "ol",  "p",     "pre",        "q",    "s",  "small",  "span", "strike", "strong",
      "sub",  "sup", "table", "tbody",      "td",   "th", "thead",  "tr",   "u",      "ul"};
  static_assert(std::ranges::is_sorted(kNames));
  if (ByteAt(text, at) != '<') return at;
  constexpr std::string_view kComment = "<!--";
  if (text.substr(at).starts_with(kComment)) {
    const size_t close = text.substr(0, at + kMaxTagBytes).find("-->", at + kComment.size());
    return close == std::string_view::npos ? at : close + 3;
  }
  const size_t name = at + (ByteAt(text, at + 1) == '/' ? 2 : 1);
  if (name >= text.size()) return at;
  size_t end = LettersEnd(text.substr(0, name + kMaxNameBytes + 1), name);
  const std::string written = AsciiLower(text.substr(name, end - name));
  if (!std::ranges::binary_search(kNames, std::string_view(written))) return at;
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
