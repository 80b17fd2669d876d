#include "models/text/english/letter_word.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/english/compass.h"
#include "models/text/english/one_of.h"
#include "models/text/english/powers.h"
#include "models/text/english/roman_numeral.h"
#include "models/text/english/units.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// Returns true for variables side by side behind a letter that they equal: "F = ma", "V=IR".
bool IsProduct(std::string_view text, size_t begin, std::string_view word) {
  // Not "ΔH", whose letters are no bytes.
  if (word.size() < 2 || begin < 2 || !std::ranges::all_of(word, IsAsciiLetter)) return false;
  size_t at = begin - (text[begin - 1] == ' ' ? 1 : 0);
  if (at < 2 || text[at - 1] != '=') return false;
  at -= text[at - 2] == ' ' ? 2 : 1;
  if (at == 0 || !IsAsciiLetter(text[at - 1]) || (at > 1 && IsAsciiAlnum(text[at - 2])))
    return false;
  return word.size() == 2 || word.find_first_of("aeiouAEIOU") == std::string_view::npos;
}

// Returns true if "AM" up to `end` is a band of the radio.
bool IsRadioBand(std::string_view text, size_t end, std::span<const SpokenWord> words) {
  if (BeginsWithOne(text.substr(end), " or FM| and FM|/FM| radio| station| band")) return true;
  return words.size() > 1 && IsOneOf(AsciiLower(words.back().text), "or", "and") &&
         words[words.size() - 2].text == "FM";
}

}  // namespace

bool AreLetters(std::string_view text, size_t end, std::string_view word,
                std::span<const SpokenWord> words, bool counted) {
  // "AD 500" and "500 AD" are no advertisements.
  if (word == "AD")
    return counted || (ByteAt(text, end) == ' ' && IsAsciiDigit(ByteAt(text, end + 1)));
  const bool pointed = !words.empty() && IsOneOf(words.back().text, "The", "an", "the");
  // "In the AM".
  if (word == "AM") return pointed || IsRadioBand(text, end, words);
  // A room of a hospital.
  if (word == "OR")
    return pointed ||
           IsOneOf(LettersAt(text, end + 1), "nurse", "nurses", "staff", "suite", "table");
  if (word == "IT" && IsOneOf(LettersAt(text, end + 1), "DEPARTMENT", "DEPT", "MANAGER", "SECURITY",
                              "STAFF", "SUPPORT", "TEAM"))
    return true;
  return IsOneOf(word, "IT", "US", "WHO") && !words.empty() &&
         (words.back().text == "THE" || (word == "IT" && words.back().text == "AN"));
}

std::string Dotted(std::string_view word) {
  std::string letters;
  for (const char c : word) {
    letters += AsciiUpper(c);
    letters += '.';
  }
  return letters;
}

bool IsLetterInPlural(std::string_view word, std::string_view previous) {
  if (word.size() != 2 || word[1] != 's' || !IsAsciiUpper(word[0])) return false;
  if (!IsAmong("AHIMSU", word[0])) return true;
  // "As", "Is" and "Us" are words, but not in "two As" and "dot the Is".
  return IsOfKind(previous, "counts-letters") ||
         ((word[0] == 'A' || word[0] == 'I') &&
          IsOneOf(previous, "her", "his", "my", "the", "your"));
}

std::optional<Reading> ReadLetterWord(const NumberWords& numbers, std::string_view text,
                                      size_t begin, size_t end, std::string_view word,
                                      std::string_view previous) {
  constexpr size_t kMaxLetters = 3;
  const auto is = [](bool (*test)(char)) {
    return [test](std::string_view letters) { return std::ranges::all_of(letters, test); };
  };
  const auto capitals = is(IsAsciiUpper);
  const char before = begin > 0 ? text[begin - 1] : '\0';
  if (word.size() > kMaxLetters + 1) return std::nullopt;
  // "M&Ms" are two letters, of which the second one is a plural.
  const bool joined = before == '&' && begin > 1 && IsAsciiLetter(text[begin - 2]);
  if (joined && word.size() == 2 && IsAsciiUpper(word[0]) && word[1] == 's')
    return Reading{end, {std::string(1, word[0]) + "'s"}};
  if (word.size() > kMaxLetters) return std::nullopt;
  const bool joins = ByteAt(text, end) == '&' && IsAsciiUpper(ByteAt(text, end + 1));
  if (word == "A" && (joins || joined)) return Reading{end, {Dotted(word)}};
  // "dy/dx".
  const bool derived = word.size() == 2 && word[0] == 'd' && word[1] >= 'r' &&
                       (before == '/' || ByteAt(text, end) == '/' || previous == "over" ||
                        text.substr(end).starts_with(" over ")) &&
                       IsAsciiLower(word[1]);
  if (derived) return Reading{end, {Dotted(word)}};
  if (previous == "per") {
    if (const auto unit = FindUnit(word, false, EnglishDialect::kUs); unit && word != "in") {
      return ReadAs(end, unit->singular);
    }
  }
  // "375 degrees F".
  if ((word == "C" || word == "F") && previous == "degrees" && before == ' ')
    return Reading{end, {word == "C" ? "celsius" : "fahrenheit"}};
  if (IsProduct(text, begin, word)) return Reading{end, {Dotted(word)}};
  const auto power = ReadSuperscript(numbers, text, end);
  const bool powers = word.size() > 1 && power && power->words.back() != "plus" &&
                      power->words.back() != "minus" &&
                      !FindUnit(word, true, EnglishDialect::kUs) && is(IsAsciiLetter)(word) &&
                      word != "sin" && word != "cos" && word != "tan";
  if ((word.size() > 1 && capitals(word) && (joins || joined)) || powers) {
    return Reading{end, {Dotted(word)}};
  }
  if (before == '(' && ByteAt(text, end) == ')') {
    const unsigned value = LowerRomanValue(word);
    if (value > 0) return Reading{end, numbers.Cardinal(value)};
    if (word.size() == 1 && IsAsciiLower(word[0])) return Reading{end, {Dotted(word)}};
  }
  // The items of a list: "ii) the second".
  if (begin == 0 && word.size() > 1 && ByteAt(text, end) == ')') {
    if (const unsigned value = LowerRomanValue(word); value > 0)
      return Reading{end, numbers.Cardinal(value)};
  }
  return ReadCompass(text, begin, end, previous);
}

}  // namespace millrace::models
