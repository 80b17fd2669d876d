#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "models/text/chinese/chinese_text.h"
#include "models/text/unicode.h"

namespace millrace::models {

inline bool IsSmallLetter(char32_t c) { return c >= 'a' && c <= 'z'; }
inline bool IsAsciiLetter32(char32_t c) { return (c >= 'A' && c <= 'Z') || IsSmallLetter(c); }

// A place in a Chinese text, what is around it, and what was written for the text before it. Not
// thread-safe.
class ChineseCursor : protected NumberCursor {
 public:
  using NumberCursor::NumberCursor;

 protected:
  // Returns the end of a number with its decimals.
  size_t NumberEnd(size_t i) const {
    const size_t end = DigitsEnd(i);
    return At(end) == '.' ? DigitsEnd(end + 1) : end;
  }

  // Appends characters for the input from `at_` to `end`.
  void Put(std::u32string_view text, size_t end) {
    AppendFor(text, at_, end, out_);
    at_ = end;
  }

  // Returns true if a number with its unit ends before `i`: 5, 50%, 5km.
  bool EndsNumber(size_t i) const {
    constexpr size_t kLongestUnit = 4;
    constexpr std::u32string_view kSigns = U"%‰℃°⁰¹²³⁴⁵⁶⁷⁸⁹";
    for (size_t n = 0; i > 0 && n <= kLongestUnit; --i, ++n) {
      const char32_t c = At(i - 1);
      if (IsDigit(c)) return true;
      if (!IsAsciiLetter32(c) && kSigns.find(c) == kSigns.npos) return false;
    }
    return false;
  }

  // Returns true if an amount with what is counted ends before `i`: 50kg, 100元, 3次.
  bool EndsAmount(size_t i) const {
    constexpr size_t kLongest = 3;
    for (size_t n = 0; i > 0 && n < kLongest && IsChineseCharacter(At(i - 1)); ++n) --i;
    return EndsNumber(i);
  }

  // Returns the text before `i` without 是, 为 and a colon at its end.
  std::u32string_view BeforeJoints(size_t i) const {
    constexpr std::u32string_view kJoints = U"是为：: ";
    while (i > 0 && kJoints.find(At(i - 1)) != kJoints.npos) --i;
    return Piece(0, i);
  }

  // Returns true if one of these words ends before `i`, past 是, 为 and a colon.
  bool Follows(size_t i, std::initializer_list<std::u32string_view> words) const {
    const std::u32string_view before = BeforeJoints(i);
    return std::ranges::any_of(words, [before](auto word) { return before.ends_with(word); });
  }

  // Returns true if letters, and perhaps a plus, end before `i`: C++.
  bool EndsLetters(size_t i) const {
    if (i > 0 && At(i - 1) == '+') --i;
    return i > 0 && IsAsciiLetter32(At(i - 1));
  }

  // Returns the number of Latin letters right before `i`, which make the number a name: CA1234,
  // C919. None for those of a currency.
  size_t LettersBefore(size_t i) const {
    if (i > 1 && At(i - 1) == U'·' && IsAsciiLetter32(At(i - 2))) --i;  // 沪B·88888
    size_t begin = i;
    while (begin > 0 && IsAsciiLetter32(At(begin - 1))) --begin;
    const std::u32string_view letters = Piece(begin, i);
    constexpr std::array<std::u32string_view, 6> kCurrencies = {U"RMB", U"CNY", U"USD",
                                                                U"EUR", U"HKD", U"JPY"};
    return std::ranges::find(kCurrencies, letters) != kCurrencies.end() ? 0 : letters.size();
  }

  bool IsYear(size_t begin, size_t end) const {
    const std::u32string_view digits = Piece(begin, end);
    return digits.size() == 4 && (digits.starts_with(U"19") || digits.starts_with(U"20"));
  }

  PlacedText out_;
};

}  // namespace millrace::models
