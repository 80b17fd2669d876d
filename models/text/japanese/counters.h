#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::models {

// Returns the number of characters of the counter, such as 本 or ヶ月, that the text begins with; 0
// if it begins with none. Thread-safe.
size_t CounterLength(std::u32string_view text);

// Returns the pronunciation in katakana of a number and the counter behind it, which changes with
// it: 3 and 本 are サンボン. An empty or unknown counter leaves the number alone. `before`: the
// text before it, which makes 1日 the day of a month and 5分 of 3割5分 ブ. Spaces divide long
// numbers. Thread-safe.
std::u32string CountedNumber(uint64_t value, std::u32string_view counter,
                             std::u32string_view before);

// Changes the pronunciation of a number as it is before a point: イッテンゴ of 1.5. Thread-safe.
void HardenBeforePoint(uint64_t value, std::u32string& spoken);

// Returns the pronunciation of digits among kana, with commas, a point or hyphens between, and of
// the counter behind them, of which it has the first `taken` characters. `day_of_month`: a month is
// before it. Thread-safe.
std::u32string NumberAmongKana(const std::u32string& number, std::u32string_view behind,
                               bool day_of_month, size_t& taken);

// Returns the names of the digits one by one. Thread-safe.
std::u32string SpokenDigits(std::u32string_view digits);

// Returns the number in the characters 一, 十, 百, 千, 万, 億, 兆. Thread-safe.
std::u32string KanjiNumber(uint64_t value);

// The longest number that is not read digit by digit.
inline constexpr size_t kMaxNumberDigits = 16;

inline constexpr std::u32string_view kKanjiDigits = U"〇一二三四五六七八九";

}  // namespace millrace::models
