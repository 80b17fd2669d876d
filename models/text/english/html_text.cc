#include "models/text/english/html_text.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"

namespace millrace::models {

size_t HtmlTagEnd(std::string_view text, size_t at) {
  if (ByteAt(text, at) != '<') return 0;
  constexpr size_t kMaxNameBytes = 12;
  constexpr size_t kMaxTagBytes = 256;
  const size_t name = at + (ByteAt(text, at + 1) == '/' ? 2 : 1);
  size_t end = LettersEnd(text.substr(0, name + kMaxNameBytes), name);
  if (end > name && IsAsciiDigit(ByteAt(text, end))) ++end;  // "h1"
  constexpr std::array<std::string_view, 24> kTags = {
      "a", "b",  "blockquote", "br", "code", "div", "em",   "h1",     "h2",  "h3",  "h4", "hr",
      "i", "li", "ol",         "p",  "pre",  "s",   "span", "strong", "sub", "sup", "u",  "ul"};
  static_assert(std::ranges::is_sorted(kTags));
  if (!std::ranges::binary_search(kTags, text.substr(name, end - name))) return 0;
  const char behind = ByteAt(text, end);
  if (behind != '>' && behind != ' ' && behind != '/') return 0;
  const size_t close = text.substr(0, at + kMaxTagBytes).find('>', end);
  return close == std::string_view::npos ? 0 : close + 1;
}

std::optional<Reading> ReadHtmlEntity(std::string_view text, size_t at) {
  struct Entity {
    std::string_view written;
    std::string_view spoken;
  };
  constexpr std::array<Entity, 6> kEntities = {{{"&amp;", "and"},
                                                {"&gt;", "greater than"},
                                                {"&lt;", "less than"},
                                                {"&nbsp;", ""},
                                                {"&quot;", ""},
                                                {"&#39;", ""}}};
  for (const Entity& entity : kEntities) {
    if (!text.substr(std::min(at, text.size())).starts_with(entity.written)) continue;
    Reading reading{at + entity.written.size(), {}};
    reading.AppendEach(entity.spoken);
    return reading;
  }
  return std::nullopt;
}

}  // namespace millrace::models
