#include "models/text/chinese/chinese_numbers.h"

#include <array>
#include <cstddef>

namespace millrace::models {
namespace {

constexpr std::u32string_view kChineseDigits = U"零一二三四五六七八九";

// Appends four digits or fewer. `inner`: digits stand before them, so that a gap is 零.
void AppendChineseGroup(unsigned value, bool inner, std::u32string& text) {
  constexpr std::u32string_view kPlaces = U"千百十";
  unsigned place = 1000;
  bool gap = false;
  bool begun = inner;
  for (size_t i = 0; i <= kPlaces.size(); ++i, place /= 10) {
    const unsigned digit = value / place % 10;
    if (digit == 0) {
      gap = begun;
      continue;
    }
    if (gap) text += U'零';
    gap = false;
    // 十五 alone, but 一百一十五; 两千 alone, but 一万二千.
    if (i == 0 && digit == 2 && !begun) {
      text += U'两';
    } else if (!(i == 2 && digit == 1 && !begun)) {
      text += kChineseDigits[digit];
    }
    if (i < kPlaces.size()) text += kPlaces[i];
    begun = true;
  }
}

}  // namespace

std::u32string ChineseCardinal(uint64_t value) {
  if (value == 0) return U"零";
  constexpr std::array<std::u32string_view, 4> kGroups = {U"", U"万", U"亿", U"万亿"};
  std::u32string text;
  uint64_t unit = 1'000'000'000'000;
  for (size_t i = kGroups.size(); i-- > 0; unit /= 10'000) {
    const auto part = static_cast<unsigned>(value / unit % 10'000);
    if (part == 0) continue;
    if (part == 2 && i > 0 && text.empty()) {
      text += U'两';  // 两万, but 二十万
    } else {
      AppendChineseGroup(part, !text.empty(), text);
    }
    text += kGroups[i];
  }
  return text;
}

std::u32string ChineseDigits(std::u32string_view digits, bool telephone) {
  std::u32string text;
  for (const char32_t c : digits) text += telephone && c == '1' ? U'幺' : kChineseDigits[c - '0'];
  return text;
}

std::u32string ChineseYuan(std::u32string_view whole, std::u32string_view hundredths) {
  std::u32string text;
  const bool none = hundredths == U"00";
  if (whole != U"零" || none) text = std::u32string(whole) + U"元";
  if (none) return text;
  if (hundredths[0] != '0') {
    text += ChineseDigits(hundredths.substr(0, 1), false) + U"角";
  } else if (!text.empty()) {
    text += U'零';
  }
  if (hundredths[1] != '0') text += ChineseDigits(hundredths.substr(1), false) + U"分";
  return text;
}

}  // namespace millrace::models
