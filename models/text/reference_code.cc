#include "models/text/reference_code.h"

namespace millrace::models {
namespace {

// The digits of a telephone number.
constexpr size_t kFewestDigits = 8;
constexpr size_t kMostDigits = 15;

// Reads digits with single spaces, hyphens, stops and brackets between them.
size_t TelephoneEnd(const PatternText& text, size_t at) {
  constexpr std::string_view kJoints = " -.()";
  size_t digits = 0;
  size_t end = at;
  size_t next = at + 1;
  bool was_space = false;
  for (char c = text.At(next); digits <= kMostDigits; c = text.At(++next)) {
    if (IsAsciiDigit(c)) {
      ++digits;
      end = next + 1;
    } else if (c == '\0' || kJoints.find(c) == std::string_view::npos || (c == ' ' && was_space)) {
      break;
    }
    was_space = c == ' ';
  }
  return digits >= kFewestDigits && digits <= kMostDigits && !IsNameByte(text.At(end)) ? end : 0;
}

// Reads the number of an account with its groups of four: DE89 3704 0044 0532 0130 00.
size_t AccountEnd(const PatternText& text, size_t at) {
  constexpr size_t kGroup = 4;
  constexpr size_t kFewestGroups = 4;
  const auto is_part = [](char c) { return IsAsciiUpper(c) || IsAsciiDigit(c); };
  size_t end = at + kGroup;
  size_t groups = 1;
  while (text.At(end) == ' ') {
    const size_t next = text.RunEnd(end + 1, is_part, kGroup);
    if (next == end + 1 || IsNameByte(text.At(next))) break;
    const bool is_whole = next - end - 1 == kGroup;
    end = next;
    groups += is_whole ? 1 : 0;
    if (!is_whole) break;
  }
  return groups >= kFewestGroups ? end : 0;
}

}  // namespace

size_t ReferenceCodeEnd(const PatternText& text, size_t at) {
  const char c = text.At(at);
  if (c == '+') return IsAsciiDigit(text.At(at + 1)) ? TelephoneEnd(text, at) : 0;
  if (c == '(') {
    const size_t digits = DigitsEnd(text.text(), at + 1);
    const bool is_area = digits > at + 2 && digits < at + 6 && text.At(digits) == ')';
    return is_area ? TelephoneEnd(text, at) : 0;
  }
  if (IsAsciiDigit(c)) {
    const size_t hour = DigitsEnd(text.text(), at);
    const size_t end = DigitsEnd(text.text(), hour + 1);
    const bool is_time = hour - at <= 2 && text.At(hour) == 'h' && end == hour + 3;
    return is_time && !IsNameByte(text.At(end)) ? end : 0;
  }
  if (IsAsciiUpper(c) && IsAsciiUpper(text.At(at + 1)) && IsAsciiDigit(text.At(at + 2)) &&
      IsAsciiDigit(text.At(at + 3)))
    return AccountEnd(text, at);
  const bool is_language = IsAsciiLower(c) && IsAsciiLower(text.At(at + 1)) &&
                           text.At(at + 2) == '-' && IsAsciiUpper(text.At(at + 3)) &&
                           IsAsciiUpper(text.At(at + 4)) && text.text().substr(at, 2) != "ex";
  return is_language && !IsNameByte(text.At(at + 5)) && text.At(at + 5) != '-' ? at + 5 : 0;
}

}  // namespace millrace::models
