#include "models/translation/markup/ordinals.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kDegree = "°";

bool GoesOnWithLetter(std::string_view text, size_t at) {
  return at < text.size() && models::IsLetter(models::DecodeAt(text, at).value);
}

// Returns the end of the English letters of an ordinal behind a number: 21st; `at` if there are
// none. Only `behind` may be a letter that touches them.
size_t EnglishEnd(std::string_view text, size_t at, char behind = '\0') {
  constexpr size_t kLetters = 2;
  const std::string letters = models::AsciiLower(text.substr(at, kLetters));
  return letters.size() == kLetters && IsListed("ordinal endings", letters) &&
                 (!GoesOnWithLetter(text, at + kLetters) ||
                  (behind != '\0' && models::ByteAt(text, at + kLetters) == behind))
             ? at + kLetters
             : at;
}

std::string_view EnglishEnding(std::string_view number) {
  constexpr std::array<std::string_view, 4> kEndings = {"th", "st", "nd", "rd"};
  const char last = number.back();
  const bool is_teen = number.size() > 1 && number[number.size() - 2] == '1';
  return last >= '1' && last <= '3' && !is_teen ? kEndings[static_cast<size_t>(last - '0')]
                                                : kEndings[0];
}

std::string_view WordBefore(std::string_view text, size_t at) {
  const std::string_view before = models::TrimRight(text.substr(0, at));
  return before.size() == at ? std::string_view() : before.substr(before.rfind(' ') + 1);
}

std::string_view WordBehind(std::string_view text, size_t at) {
  if (models::ByteAt(text, at) != ' ') return {};
  const size_t begin = at + 1;
  size_t end = begin;
  while (GoesOnWithLetter(text, end)) end += models::DecodeAt(text, end).bytes;
  return text.substr(begin, end - begin);
}

// Returns true if a number without a mark is the day of a month: "May 1", "dia 21", "1 de maio".
bool IsDay(std::string_view text, const WrittenNumber& number, OrdinalStyle style) {
  const std::string_view before = WordBefore(text, number.begin);
  const std::string_view behind = WordBehind(text, number.end);
  if (style == OrdinalStyle::kEnglish)
    return IsListed("months", before) || IsListed("months", behind);
  return before == "dia" || before == "día" || behind == "de" || behind == "di";
}

// Returns the sign of an ordinal, which agrees with the word before it.
std::string_view SignOf(std::string_view text, const WrittenNumber& number) {
  const std::string before = models::AsciiLower(WordBefore(text, number.begin));
  return IsListed("feminine", before) || WordBehind(text, number.end) == "vez" ? "ª" : "º";
}

// Returns the correction of a number of the translation that is an ordinal in the source.
std::optional<NumberRepair> RepairMark(std::string_view target, const WrittenNumber& number,
                                       OrdinalStyle style) {
  const size_t english = EnglishEnd(target, number.end);
  const size_t sign = OrdinalSignEnd(target, number.end);
  if (style == OrdinalStyle::kEnglish) {
    if (english > number.end || (sign == number.end && IsDay(target, number, style)))
      return std::nullopt;
    if (sign == number.end && GoesOnWithLetter(target, number.end)) return std::nullopt;
    const std::string_view digits = target.substr(number.begin, number.end - number.begin);
    return NumberRepair{{number.end, sign}, std::string(EnglishEnding(digits))};
  }
  // "40 anos" is an age, as in "aniversário de 40 anos" for "40th birthday".
  if (IsListed("years", WordBehind(target, number.end))) return std::nullopt;
  // The name of a street may keep its English letters.
  if (sign > number.end || english > number.end || GoesOnWithLetter(target, number.end) ||
      OrdinalEnd(target, number.end) > number.end || IsDay(target, number, style))
    return std::nullopt;
  return NumberRepair{{number.end, number.end}, std::string(SignOf(target, number))};
}

// Returns the correction of the day of a date that the model translated word by word: "5 of May"
// for "5 de maio" becomes "5th of May", and "May 5 of 2024" becomes "May 5, 2024".
std::optional<NumberRepair> RepairEnglishDay(std::string_view target, const WrittenNumber& number) {
  constexpr std::string_view kOf = " of";
  constexpr size_t kMostDigits = 2;
  constexpr size_t kYearDigits = 4;
  const size_t end = number.end;
  if (end - number.begin > kMostDigits || !target.substr(end).starts_with(" of ")) return {};
  const size_t behind = end + kOf.size();
  if (IsListed("months", WordBehind(target, behind))) {
    const std::string_view digits = target.substr(number.begin, end - number.begin);
    return NumberRepair{{end, end}, std::string(EnglishEnding(digits))};
  }
  const size_t year = behind + 1;
  if (IsListed("months", WordBefore(target, number.begin)) &&
      models::DigitsEnd(target, year) == year + kYearDigits)
    return NumberRepair{{end, behind}, ","};
  return {};
}

// Returns the letter of a scale of temperatures, as in °F, at a place of a text; 0: there is none.
char ScaleAt(std::string_view text, size_t at) {
  const char letter = models::ByteAt(text, at);
  return (letter == 'C' || letter == 'F') && !GoesOnWithLetter(text, at + 1) ? letter : '\0';
}

// Returns the correction of a number of the translation that has a degree sign in the source,
// before `scale` if that is not 0.
std::optional<NumberRepair> RepairDegree(std::string_view target, const WrittenNumber& number,
                                         char scale) {
  const size_t marked =
      std::max(EnglishEnd(target, number.end, scale), OrdinalSignEnd(target, number.end));
  const std::string_view rest = target.substr(number.end);
  if (scale != '\0' && ScaleAt(target, marked) == scale)
    return NumberRepair{{number.end, marked}, std::string(kDegree)};
  if (scale != '\0' || rest.starts_with(kDegree) || rest.starts_with(" °") ||
      IsListed("degrees", WordBehind(target, number.end)) ||
      (marked == number.end && GoesOnWithLetter(target, number.end)))
    return std::nullopt;
  return NumberRepair{{number.end, marked}, std::string(kDegree)};
}

}  // namespace

size_t OrdinalSignEnd(std::string_view text, size_t at) {
  const size_t sign = at + (models::ByteAt(text, at) == '.' ? 1 : 0);
  const models::CodePoint c = models::DecodeAt(text, sign);
  return c.value == U'º' || c.value == U'ª' ? sign + c.bytes : at;
}

size_t OrdinalEnd(std::string_view text, size_t at) {
  constexpr std::u32string_view kLetters = U"oaºª";
  const size_t letter = at + (models::ByteAt(text, at) == '.' ? 1 : 0);
  const models::CodePoint c = models::DecodeAt(text, letter);
  if (c.bytes == 0 || kLetters.find(c.value) == std::u32string_view::npos) return at;
  const size_t end = letter + c.bytes;
  if (GoesOnWithLetter(text, end)) return at;
  return models::DigitsEnd(text, end);
}

void ConvertOrdinals(std::string& text, const NumberFormats& formats) {
  if (formats.source_ordinals != OrdinalStyle::kSigns ||
      formats.target_ordinals != OrdinalStyle::kEnglish)
    return;
  const std::vector<WrittenNumber> numbers = FindNumbers(text);
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const size_t end = OrdinalSignEnd(text, number->end);
    const std::string_view digits(text.data() + number->begin, number->end - number->begin);
    const std::string_view ending = EnglishEnding(digits);
    if (end > number->end) text.replace(number->end, end - number->end, ending);
  }
}

bool HasOrdinals(std::string_view text) {
  return std::ranges::any_of(FindNumbers(text), [text](const WrittenNumber& number) {
    return GoesOnWithLetter(text, number.end) || OrdinalSignEnd(text, number.end) > number.end;
  });
}

std::vector<NumberRepair> RepairOrdinals(std::string_view source, std::string_view target,
                                         std::span<const NumberPair> pairs,
                                         const NumberFormats& formats) {
  std::vector<NumberRepair> repairs;
  if (HasOrdinals(source)) {
    for (const WrittenNumber& number : FindNumbers(target)) {
      const size_t end = OrdinalEnd(target, number.end);
      const std::string_view mark = target.substr(number.end, end - number.end);
      const bool has_letter = mark == "o" || mark == "a" || mark == ".o" || mark == ".a";
      if (has_letter && source.find(target.substr(number.begin, end - number.begin)) == source.npos)
        repairs.push_back({{number.end, end}, mark.ends_with('o') ? "º" : "ª"});
    }
  }
  if (formats.source_ordinals == OrdinalStyle::kUnknown ||
      formats.target_ordinals == OrdinalStyle::kUnknown ||
      formats.source_ordinals == formats.target_ordinals)
    return repairs;
  for (const NumberPair& pair : pairs) {
    const size_t end = pair.source.end;
    const bool is_ordinal =
        (formats.source_ordinals == OrdinalStyle::kEnglish ? EnglishEnd(source, end)
                                                           : OrdinalSignEnd(source, end)) > end;
    const char scale = ScaleAt(source, end + kDegree.size());
    const bool is_degree = source.substr(end).starts_with(kDegree) &&
                           (scale != '\0' || !GoesOnWithLetter(source, end + kDegree.size()));
    const bool is_day =
        formats.target_ordinals == OrdinalStyle::kEnglish && source.substr(end).starts_with(" de ");
    auto repair = is_ordinal  ? RepairMark(target, pair.target, formats.target_ordinals)
                  : is_degree ? RepairDegree(target, pair.target, scale)
                  : is_day    ? RepairEnglishDay(target, pair.target)
                              : std::nullopt;
    if (repair) repairs.push_back(*std::move(repair));
  }
  return repairs;
}

}  // namespace millrace::translation
