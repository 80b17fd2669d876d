#include "server/client/text_parts.h"

#include <algorithm>
#include <array>

#include "models/text/unicode.h"

namespace millrace {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// The places where a text may be divided, the best first.
enum Break : size_t { kParagraph, kLine, kSentence, kWord, kCharacter, kBreaks };

bool EndsSentence(char c) { return c == '.' || c == '!' || c == '?'; }

// Returns true if the line begins or ends code.
bool IsFence(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(begin);
  return begin < 4 && (line.starts_with("```") || line.starts_with("~~~"));
}

// Returns the length in bytes of the next part.
size_t NextPart(std::string_view text, size_t characters, bool markdown) {
  std::array<size_t, kBreaks> last = {};
  bool fenced = markdown && IsFence(text);
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (begins && count == characters) {
      last[kCharacter] = i;
      // A part that is much shorter than it may be makes too many of them.
      return *std::ranges::find_if(last, [i](size_t place) { return place > 0 && place >= i / 4; });
    }
    if (begins) ++count;
    const bool space = kSpace.find(text[i]) != kSpace.npos;
    if (space && i > 0 && !fenced) {
      last[kWord] = i + 1;
      if (EndsSentence(text[i - 1])) last[kSentence] = i + 1;
    }
    if (text[i] != '\n') continue;
    const bool inside = fenced;
    if (markdown && IsFence(text.substr(i + 1))) fenced = !fenced;
    if (inside || fenced) continue;
    last[kLine] = i + 1;
    const size_t next = text.find_first_not_of(" \t\r", i + 1);
    if (next != text.npos && text[next] == '\n') last[kParagraph] = i + 1;
  }
  return text.size();
}

}  // namespace

std::vector<TextPart> DivideText(std::string_view text, size_t characters, bool markdown) {
  std::vector<TextPart> parts;
  while (!text.empty()) {
    size_t length = NextPart(text, characters, markdown);
    size_t end = text.find_first_not_of(kSpace, length);
    end = end == text.npos ? text.size() : end;
    // White space at the beginning of a line counts as the line's.
    if (const size_t line = text.substr(0, end).rfind('\n'); line != text.npos && line >= length)
      end = end == text.size() ? end : line + 1;
    const size_t last = text.substr(0, length).find_last_not_of(kSpace);
    const size_t begin = last == text.npos ? 0 : last + 1;
    parts.push_back({text.substr(0, begin), text.substr(begin, end - begin)});
    text.remove_prefix(end);
  }
  return parts;
}

}  // namespace millrace
