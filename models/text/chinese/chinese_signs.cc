#include "models/text/chinese/chinese_signs.h"

#include <array>
#include <cstddef>

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

}  // namespace millrace::models
