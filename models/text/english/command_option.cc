#include "models/text/english/command_option.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxNameBytes = 24;

// Returns true if " flag" and the like follow at `at`, perhaps behind a closing backtick.
bool OptionFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) == '`') ++at;
  return BeginsWithOne(text.substr(at), " argument| flag| option| parameter| switch");
}

}  // namespace

bool IsCommand(std::string_view word) { return IsOfKind(word, "command"); }

bool IsCommandOption(std::string_view text, size_t at, size_t count, std::string_view previous) {
  if (count > 2) return false;
  const char before = at == 0 ? ' ' : text[at - 1];
  if (before != ' ' && before != '\n' && before != '`' && before != '[' && before != '(')
    return false;
  const size_t name = at + count;
  const size_t end = LettersEnd(text, name, kMaxNameBytes);
  const std::string_view word = text.substr(name, end - name);
  if (word.empty()) return false;
  if (OptionFollows(text, end) || IsCommand(previous)) return true;
  const bool small = std::ranges::all_of(word, IsAsciiLower);
  if (count == 2) return small && word.size() > 1 && !IsOfKind(word, "sentence-behind-dash");
  // The endings of words have hyphens, too: "the suffix -s".
  const bool ending = previous == "suffix" || previous == "ending" || previous == "endings" ||
                      previous == "suffixes" || previous == "plural";
  // "x -y" is a difference.
  return small && word.size() == 1 && previous.size() != 1 && word != "a" && word != "i" &&
         !ending && !IsAsciiAlnum(ByteAt(text, end)) && ByteAt(text, end) != '-';
}

}  // namespace millrace::models
