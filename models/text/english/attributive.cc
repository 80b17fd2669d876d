#include "models/text/english/attributive.h"

#include <algorithm>
#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/word_kinds.h"
#include "models/text/english/words_behind_amounts_text.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxBracketBytes = 24;
constexpr size_t kMaxNounBytes = 32;

bool IsA(std::string_view kind, std::string_view word) {
  static const WordTable<2> words(kWordsBehindAmountsText);
  return std::ranges::any_of(words.FindAll(word), [&](const auto& row) { return row[1] == kind; });
}

std::string WordBehindSpace(std::string_view text, size_t at) {
  return ByteAt(text, at) == ' ' ? std::string(LettersAt(text, at + 1, kMaxNounBytes)) : "";
}

}  // namespace

bool NounFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) == ')') ++at;
  if (ByteAt(text, at) == ' ' && ByteAt(text, at + 1) == '(') {
    const size_t close = text.substr(0, at + kMaxBracketBytes).find(')', at);
    if (close == std::string_view::npos) return false;
    at = close + 1;
  }
  // "A 12V 100Ah battery".
  if (ByteAt(text, at) == ' ' && IsAsciiDigit(ByteAt(text, at + 1))) {
    const std::string_view measure = text.substr(at + 1, text.substr(at + 1).find(' '));
    return measure.size() < kMaxNounBytes && std::ranges::any_of(measure, IsAsciiLetter) &&
           NounFollows(text, at + 1 + measure.size());
  }
  const std::string word = WordBehindSpace(text, at);
  // "A 3L V6".
  if (word.size() == 1 && IsAsciiUpper(word[0]) && IsAsciiDigit(ByteAt(text, at + 2))) return true;
  if (word.size() == 2 && IsAsciiUpper(word[0]) && IsAsciiUpper(word[1])) return true;  // "TV"
  return (word.size() >= 3 && !IsA("apart", word)) || word == "ad";
}

bool MeasuredFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) == ')') ++at;  // "1 (14 oz) can"
  std::string word = WordBehindSpace(text, at);
  for (char& c : word) c = AsciiLower(c);
  const bool plural = word.size() > 3 && word.ends_with('s') && !word.ends_with("ss");
  if (plural && word != "lens") return !IsA("no-plural", word);
  return IsA("measured", word);
}

bool PluralFollows(std::string_view text, size_t at) {
  const std::string word = WordBehindSpace(text, at);
  if (word.size() < 4 || !IsAsciiLower(word[0])) return false;
  if (word == "people" || word == "children") return true;
  return word.ends_with('s') && !word.ends_with("ss") && !IsOfKind(word, "no-plural-of-year");
}

bool PrecedesYear(std::string_view word) { return IsOfKind(word, "before-year"); }

bool RatesBehind(std::string_view text, size_t at) {
  const std::string word = WordBehindSpace(text, at);
  return IsOfKind(word, "rated");
}

}  // namespace millrace::models
