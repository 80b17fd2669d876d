#include "models/text/chinese/chinese_signs.h"

#include <array>

#include "models/text/chinese/chinese_numbers.h"

namespace millrace::models {

std::u32string_view ChineseCurrency(char32_t c) {
  switch (c) {
    case U'¥':
      return U"元";
    case '$':
      return U"美元";
    case U'€':
      return U"欧元";
    case U'£':
      return U"英镑";
    default:
      return {};
  }
}

std::u32string_view OperatorName(char32_t c) {
  switch (c) {
    case '+':
      return U"加";
    case '-':
    case U'−':
      return U"减";
    case U'×':
    case '*':
      return U"乘";
    case U'÷':
      return U"除以";
    case '=':
      return U"等于";
    case U'≈':
      return U"约等于";
    case '<':
      return U"小于";
    case '>':
      return U"大于";
    case U'≤':
      return U"小于等于";
    case U'≥':
      return U"大于等于";
    case U'≠':
      return U"不等于";
    default:
      return {};
  }
}

std::u32string_view SignBeforeNumber(char32_t c) {
  switch (c) {
    case '+':
    case '<':
    case '>':
    case U'≤':
    case U'≥':
    case U'≈':
      return OperatorName(c);
    case U'±':
      return U"正负";
    case U'√':
      return U"根号";
    default:
      return {};
  }
}

std::u32string_view GreekName(char32_t c) {
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

}  // namespace millrace::models
