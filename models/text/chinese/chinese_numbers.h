#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Numbers in the words of Chinese. The digits that functions take are ASCII. All are thread-safe.
namespace millrace::models {

// Returns a number below 10^16 as it is counted: 两千, 一万二千, 一百零五.
std::u32string ChineseCardinal(uint64_t value);

// Returns the names of the digits one by one; in telephone numbers 1 is 幺.
std::u32string ChineseDigits(std::u32string_view digits, bool telephone);

// Returns a sum with two digits of tenths and hundredths: 十二元五角, 三元零五分, 九角九分. whole:
// the yuan in words.
std::u32string ChineseYuan(std::u32string_view whole, std::u32string_view hundredths);

}  // namespace millrace::models
