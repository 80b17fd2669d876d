#include "models/text/chinese/chinese_signs.h"

#include <algorithm>
#include <array>

#include "models/text/chinese/chinese_currencies_text.h"
#include "models/text/chinese/chinese_cursor.h"
#include "models/text/chinese/chinese_numbers.h"
#include "models/text/chinese/chinese_units_text.h"
#include "models/text/sign_names.h"

namespace millrace::models {
namespace {

constexpr SignName<std::u32string_view> kSignsBeforeNumbers[] = {{U"±", U"正负"}, {U"√", U"根号"}};

constexpr SignName<std::u32string_view> kOperatorNames[] = {
    {U"+", U"加"},       {U"-−", U"减"},      {U"×*", U"乘"},   {U"÷", U"除以"},
    {U"=", U"等于"},     {U"≈", U"约等于"},   {U"<", U"小于"},  {U">", U"大于"},
    {U"≤", U"小于等于"}, {U"≥", U"大于等于"}, {U"≠", U"不等于"}};

constexpr SignName<std::u32string_view> kFractions[] = {
    {U"½", U"二分之一"}, {U"⅓", U"三分之一"}, {U"⅔", U"三分之二"},
    {U"¼", U"四分之一"}, {U"¾", U"四分之三"}, {U"⅛", U"八分之一"},
    {U"⅜", U"八分之三"}, {U"⅝", U"八分之五"}, {U"⅞", U"八分之七"}};

struct Label {
  ChineseLabel label;
  bool numbered = false;  // a digit must follow
};

constexpr Label kLabels[] = {{{U"https://", U" "}},   {{U"http://", U" "}},
                             {{U"No.", U"第"}, true}, {{U"NO.", U"第"}, true},
                             {{U"№", U"第"}, true},   {{U"+86 ", U"加八六 "}},
                             {{U"+86-", U"加八六 "}}};

}  // namespace

ChineseLabel ChineseLabelAt(std::u32string_view text) {
  for (const auto& [label, numbered] : kLabels) {
    const size_t end = label.written.size();
    if (text.starts_with(label.written) && (!numbered || (end < text.size() && IsDigit(text[end]))))
      return label;
  }
  return {};
}

std::u32string_view OperatorName(char32_t c) { return NameOfSign(kOperatorNames, c); }

std::u32string_view SignBeforeNumber(char32_t c) {
  if (IsAmong(U"+<>≤≥≈", c)) return OperatorName(c);
  return NameOfSign(kSignsBeforeNumbers, c);
}

std::u32string_view OperandName(char32_t c) {
  if (const auto fraction = NameOfSign(kFractions, c); !fraction.empty()) return fraction;
  constexpr std::u32string_view kLetters = U"αβγδεθλμπσφωΔΣΩ";
  constexpr std::array<std::u32string_view, 15> kNames = {
      U"阿尔法", U"贝塔",   U"伽马", U"德尔塔", U"艾普西隆", U"西塔",   U"兰姆达", U"缪",
      U"派",     U"西格马", U"斐",   U"欧米伽", U"德尔塔",   U"西格马", U"欧米伽"};
  const size_t found = kLetters.find(c);
  return found < kNames.size() ? kNames[found] : std::u32string_view();
}

bool IsPowerSign(char32_t c) {
  return c == U'¹' || c == U'²' || c == U'³' || c == U'⁰' || (c >= U'⁴' && c <= U'⁹');
}

std::u32string PowerWords(std::u32string_view text, size_t& length) {
  constexpr std::u32string_view kDigits = U"⁰¹²³⁴⁵⁶⁷⁸⁹";
  constexpr std::u32string_view kPlain = U"0123456789";
  constexpr size_t kMostDigits = 3;
  const bool caret = text.starts_with(U'^');
  const std::u32string_view digits = caret ? kPlain : kDigits;
  size_t at = caret ? 1 : 0;
  const bool negative = at < text.size() && text[at] == (caret ? U'-' : U'⁻');
  if (negative) ++at;
  uint64_t value = 0;
  const size_t begin = at;
  for (; at < text.size() && at - begin < kMostDigits; ++at) {
    const size_t digit = digits.find(text[at]);
    if (digit == digits.npos) break;
    value = value * 10 + digit;
  }
  if (at == begin) return {};
  length = at;
  if (value == 2 && !negative) return U"的平方";
  return std::u32string(negative ? U"的负" : U"的") + ChineseCardinal(value) + U"次方";
}

const UnitName* ChineseCurrencyAt(std::u32string_view text) {
  static const auto& currencies = *new auto(ReadUnitNames(kChineseCurrenciesText));
  const auto currency = std::ranges::find_if(
      currencies, [text](const UnitName& row) { return text.starts_with(row.written); });
  return currency == currencies.end() ? nullptr : &*currency;
}

const UnitName* ChineseUnitAt(std::u32string_view text) {
  static const auto& units = *new auto(ReadUnitNames(kChineseUnitsText));
  const auto unit = std::ranges::find_if(units, [text](const UnitName& unit) {
    const size_t end = unit.written.size();
    if (!text.starts_with(unit.written)) return false;
    if (end == text.size() || !IsAsciiLetter32(unit.written.back())) return true;
    // "3v3" is played.
    const bool versus = (text[0] == 'v' || text[0] == 'V') && text[end] >= '0' && text[end] <= '9';
    return !versus && !IsAsciiLetter32(text[end]);
  });
  return unit == units.end() ? nullptr : &*unit;
}

}  // namespace millrace::models
