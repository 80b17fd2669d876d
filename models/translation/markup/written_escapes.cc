#include "models/translation/markup/written_escapes.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

constexpr size_t kLongestName = 256;

// Returns true for an escape in a quotation that is one of a program: '\n', printf("%d\n", x)
bool IsQuotedCode(std::string_view text, size_t at) {
  const size_t earliest = at - std::min(at, kLongestName);
  const size_t opening = text.substr(earliest, at - earliest).find_last_of("\"'\n");
  if (opening == std::string_view::npos) return false;
  const size_t quote = earliest + opening;
  if (text[quote] == '\n') return false;
  const bool is_argument =
      quote > 1 && text[quote - 1] == '(' && models::IsAsciiAlnum(text[quote - 2]);
  return is_argument || (quote + 1 == at && models::ByteAt(text, at + 2) == text[quote]);
}

// Returns true for C:\new, folder\new.txt and \textbf{, where a backslash is not that of an escape.
bool IsNameOrCommand(std::string_view text, size_t at) {
  size_t letters = at + 1;
  while (letters < text.size() && models::IsAsciiLetter(text[letters]) &&
         letters - at < kLongestName)
    ++letters;
  if (models::ByteAt(text, letters) == '{') return true;
  const size_t earliest = at - std::min(at, kLongestName);
  const size_t space = text.substr(earliest, at - earliest).find_last_of(" \t\r\n\"'(");
  const size_t begin = space == std::string_view::npos ? earliest : earliest + space + 1;
  const std::string_view word =
      text.substr(begin, text.substr(0, at + kLongestName).find_first_of(" \t\r\n\"'", at) - begin);
  if (word.starts_with("\\\\") || word.substr(0, 3).find(":\\") == 1) return true;
  // A name in small letters that goes on: folder\notes.txt, a\nice\path
  const size_t behind = at + 2;
  const bool joins = at > begin && models::IsAsciiAlnum(text[at - 1]) &&
                     models::IsAsciiLower(models::ByteAt(text, behind));
  if (!joins) return false;
  const std::string_view rest = word.substr(std::min(behind - begin, word.size()));
  const size_t dot = rest.find('.');
  const bool has_ending =
      dot != std::string_view::npos && models::IsAsciiAlnum(models::ByteAt(rest, dot + 1));
  return has_ending || rest.find_first_of("\\/") != std::string_view::npos;
}

}  // namespace

size_t WrittenBreakBytes(std::string_view text) {
  constexpr std::string_view kBreaks = "nrtNh";
  if (text.size() < 2 || text[0] != '\\') return 0;
  return kBreaks.find(text[1]) == std::string_view::npos ? 0 : 2;
}

WrittenBreak FindWrittenBreak(std::string_view text, size_t at) {
  if (WrittenBreakBytes(text.substr(at)) == 0 || IsNameOrCommand(text, at) ||
      IsQuotedCode(text, at))
    return {at, at};
  size_t lines = 0;
  bool tab = false;
  size_t end = at;
  for (size_t next = at; WrittenBreakBytes(text.substr(next)) > 0;) {
    tab = tab || text[next + 1] == 't';
    if (text[next + 1] != 'r') ++lines;
    end = next + 2;
    next = std::min(text.find_first_not_of(' ', end), text.size());
  }
  size_t begin = at;
  while (begin > 0 && text[begin - 1] == ' ') --begin;
  while (end < text.size() && text[end] == ' ') ++end;
  bool goes_on = begin > 0 && end < text.size() && lines == 1 && !tab;
  if (goes_on) {
    const char32_t before = models::DecodeBefore(text, begin).value;
    goes_on = (models::IsLetter(before) || before == ',') &&
              models::IsLower(models::DecodeAt(text, end).value);
  }
  return {begin, end, goes_on};
}

}  // namespace millrace::translation
