#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/text/unicode.h"

namespace millrace::models {

// A text and the bytes of the source that each of its characters stands for.
struct PlacedText {
  std::u32string text;
  std::vector<size_t> begins;
  std::vector<size_t> ends;

  void Add(char32_t c, size_t begin, size_t end) {
    text += c;
    begins.push_back(begin);
    ends.push_back(end);
  }
};

// A place in a text whose numbers are written out. Not thread-safe.
class NumberCursor {
 public:
  explicit NumberCursor(PlacedText in) : in_(std::move(in)) {}

 protected:
  char32_t At(size_t i) const { return i < in_.text.size() ? in_.text[i] : 0; }
  std::u32string_view Piece(size_t begin, size_t end) const {
    return std::u32string_view(in_.text).substr(begin, end - begin);
  }
  std::u32string_view Rest(size_t begin) const { return Piece(begin, in_.text.size()); }

  size_t DigitsEnd(size_t i) const {
    while (IsDigit(At(i))) ++i;
    return i;
  }
  static uint64_t ValueOf(std::u32string_view digits) {
    uint64_t value = 0;
    for (const char32_t c : digits) value = value * 10 + (c - '0');
    return value;
  }
  // Returns the value of 1 to `most` digits at `i`, and moves `i` behind them.
  std::optional<uint64_t> ShortNumber(size_t& i, size_t most) const {
    const size_t end = DigitsEnd(i);
    if (end == i || end - i > most) return std::nullopt;
    const uint64_t value = ValueOf(Piece(i, end));
    i = end;
    return value;
  }

  // Appends characters that stand for the input from `begin` to `end`.
  void AppendFor(std::u32string_view text, size_t begin, size_t end, PlacedText& out) const {
    for (const char32_t c : text) out.Add(c, in_.begins[begin], in_.ends[end - 1]);
  }

  const PlacedText in_;
  size_t at_ = 0;
};

}  // namespace millrace::models
