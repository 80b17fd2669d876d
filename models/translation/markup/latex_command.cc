#include "models/translation/markup/latex_command.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

// Returns the place of the bracket that closes the one at `open`; `open` if there is none near.
size_t ClosingOf(std::string_view text, size_t open) {
  constexpr size_t kLongest = 1024;
  const char opening = text[open];
  const char closing = opening == '{' ? '}' : ']';
  const size_t limit = std::min(text.size(), open + kLongest);
  size_t depth = 0;
  for (size_t at = open; at < limit; ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == opening) {
      ++depth;
    } else if (text[at] == closing && --depth == 0) {
      return at;
    }
  }
  return open;
}

// Returns the end of a formula between \( and \), or \[ and \]; 0: there is none.
size_t FormulaEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 1024;
  const char opening = models::ByteAt(text, at + 1);
  if (opening != '(' && opening != '[') return 0;
  const std::string_view closing = opening == '(' ? "\\)" : "\\]";
  const size_t close = text.substr(0, at + kLongest).find(closing, at + 2);
  return close == std::string_view::npos ? 0 : close + closing.size();
}

}  // namespace

LatexCommand ReadLatexCommand(std::string_view text, size_t at) {
  const size_t name_end = models::LettersEnd(text, at + 1);
  const std::string_view name = text.substr(at + 1, name_end - at - 1);
  if (name.empty()) return {FormulaEnd(text, at), 0};
  size_t end = name_end + (models::ByteAt(text, name_end) == '*' ? 1 : 0);
  const auto take_options = [&] {
    if (models::ByteAt(text, end) != '[') return;
    if (const size_t close = ClosingOf(text, end); close > end) end = close + 1;
  };
  take_options();
  const bool has_braces = models::ByteAt(text, end) == '{';
  const size_t close = has_braces ? ClosingOf(text, end) : end;
  if (close > end && IsListed("commands with words", name)) return {end + 1, close};
  if (close > end && name == "href") {  // the address, then the words
    const size_t words = close + 1;
    if (models::ByteAt(text, words) != '{') return {};
    const size_t words_close = ClosingOf(text, words);
    return words_close > words ? LatexCommand{words + 1, words_close} : LatexCommand{};
  }
  if (close > end && IsListed("commands without words", name)) {
    end = close + 1;
    take_options();
    return {end, 0};
  }
  // Behind a letter or before another backslash it is part of a path.
  const bool is_part = (at > 0 && (models::IsAsciiAlnum(text[at - 1]) || text[at - 1] == ':')) ||
                       models::ByteAt(text, name_end) == '\\';
  // A name of another kind, in small letters: \name. An escape before a word is one of several.
  constexpr size_t kShortestName = 4;
  const bool is_name = at > 0 && text[at - 1] == ' ' && name.size() >= kShortestName &&
                       text.find('\\') == text.rfind('\\') &&
                       std::ranges::all_of(name, models::IsAsciiLower);
  if (is_part || (!is_name && !IsListed("commands alone", name))) return {};
  return {close > end && close == end + 1 ? close + 1 : name_end, 0};
}

}  // namespace millrace::translation
