#include "models/translation/markup/boundaries.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/translation/markup/marked_text.h"

namespace millrace::translation {
namespace {

bool IsNote(char32_t c) { return c >= U'♩' && c <= U'♬'; }
// Returns true for marks of the direction of writing and of the order of a file's bytes, for a word
// joiner, and for a zero width space where it ends no word: between small letters it marks where a
// line may break.
bool IsInvisibleMark(std::string_view text, size_t at, const models::CodePoint& c) {
  if (c.value == kZeroWidthSpace)
    return at > 0 && models::IsLower(models::DecodeBefore(text, at).value) &&
           models::IsLower(models::DecodeAt(text, at + c.bytes).value);
  return c.value == 0xFEFF || c.value == 0x200E || c.value == 0x200F || c.value == 0x2060 ||
         (c.value >= 0x202A && c.value <= 0x202E) || (c.value >= 0x2066 && c.value <= 0x2069);
}

// Returns the end of emoji that touch words on both sides, as in chats: "good😀thanks"; 0: there are
// none.
size_t EmojiEnd(std::string_view text, size_t at) {
  const auto is_emoji = [](char32_t c) { return c >= 0x1F000 && c < 0x1FB00; };
  const auto joins = [](char32_t c) { return c == 0x200D || c == 0xFE0F; };
  size_t end = at;
  for (models::CodePoint c = models::DecodeAt(text, end);
       is_emoji(c.value) || (end > at && joins(c.value)); c = models::DecodeAt(text, end))
    end += c.bytes;
  const bool touches = end > at && at > 0 &&
                       models::IsLetter(models::DecodeBefore(text, at).value) &&
                       models::IsLetter(models::DecodeAt(text, end).value);
  return touches ? end : 0;
}

// Returns true if the text without spaces that goes on to `at` has a sign of an address.
bool IsInAddress(std::string_view text, size_t at) {
  constexpr size_t kLongest = 256;
  const size_t from = at - std::min(at, kLongest);
  const std::string_view before = text.substr(from, at - from);
  const size_t space = before.find_last_of(" \t\r\n");
  return before.substr(space + 1).find_first_of("/@\\") != std::string_view::npos;
}

// Returns the end of a run of equal signs, as in a form or a table of contents; 0: there is none.
size_t RunEnd(std::string_view text, size_t at) {
  constexpr std::string_view kSigns = "_.-=*~#";
  constexpr size_t kShortest = 4;
  const char c = text[at];
  if (kSigns.find(c) == std::string_view::npos) return 0;
  const size_t end = std::min(text.find_first_not_of(c, at), text.size());
  if (end - at < kShortest || (at > 0 && text[at - 1] == c)) return 0;
  // Within a name or an address it is none.
  const char before = at > 0 ? text[at - 1] : ' ';
  const bool within = (c == '_' || IsInAddress(text, at)) && c != '.' &&
                      (models::IsAsciiAlnum(before) || before == '/') &&
                      models::IsAsciiAlnum(models::ByteAt(text, end));
  return within ? 0 : end;
}

// Returns the end of a tag of a template, such as {% if x %} or <% end %>, that a sentence touches;
// 0: there is none.
size_t TemplateEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 1024;
  const std::string_view mark = text.substr(at, 2);
  if (mark != "{%" && mark != "<%" && mark != "<?") return 0;
  if (text.substr(at, 3) == "<%=") return 0;
  const std::string_view closing = mark == "{%" ? "%}" : mark == "<%" ? "%>" : "?>";
  const size_t found = text.substr(0, at + kLongest).find(closing, at + 2);
  if (found == std::string_view::npos) return 0;
  const size_t end = found + closing.size();
  constexpr std::string_view kOpening = " \t\n\r([\"'";
  const bool before = at > 0 && kOpening.find(text[at - 1]) == std::string_view::npos;
  return before || models::IsWordCharacter(models::DecodeAt(text, end).value) ? end : 0;
}

}  // namespace

Boundary FindBoundary(std::string_view text, size_t from) {
  constexpr std::string_view kFirst = "_.-=*~#{<\xE2\xEF\xF0";
  for (size_t at = text.find_first_of(kFirst, from); at < text.size();
       at = text.find_first_of(kFirst, at)) {
    const models::CodePoint c = models::DecodeAt(text, at);
    if (IsInvisibleMark(text, at, c)) return {at, at + c.bytes, /*is_sign=*/true};
    size_t end = std::max({RunEnd(text, at), TemplateEnd(text, at), EmojiEnd(text, at)});
    if (IsNote(c.value)) end = at + c.bytes;
    if (end == 0) {
      // A run that is no boundary is passed over as a whole.
      at = std::max(at + c.bytes, std::min(text.find_first_not_of(text[at], at), text.size()));
      continue;
    }
    while (at > from && text[at - 1] == ' ') --at;
    while (end < text.size() && text[end] == ' ') ++end;
    return {at, end};
  }
  return {text.size(), text.size()};
}

}  // namespace millrace::translation
