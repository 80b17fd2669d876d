#include "models/text/reference_code.h"

#include <algorithm>
#include <array>

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

// Reads an angle or a height with minutes or inches: 12°30', 40°42'46", 5'10".
size_t AngleEnd(const PatternText& text, size_t at) {
  constexpr std::array<std::string_view, 3> kSigns = {"°", "'", "\""};
  size_t end = 0;
  size_t parts = 0;
  size_t next = DigitsEnd(text.text(), at);
  for (size_t sign = 0; sign < kSigns.size() && next > at; ++sign) {
    if (!text.text().substr(next).starts_with(kSigns[sign])) continue;
    ++parts;
    at = end = next + kSigns[sign].size();
    next = DigitsEnd(text.text(), at);
    if (text.At(next) == '.' && sign == 1) next = DigitsEnd(text.text(), next + 1);
  }
  return parts > 1 ? end : 0;
}

// Reads a number with a power of ten: 3.2e-4, 1E10.
size_t PowerEnd(const PatternText& text, size_t at) {
  size_t end = DigitsEnd(text.text(), at);
  if (text.At(end) == '.' || text.At(end) == ',') end = DigitsEnd(text.text(), end + 1);
  if (text.At(end) != 'e' && text.At(end) != 'E') return 0;
  const size_t exponent = end + (text.At(end + 1) == '-' || text.At(end + 1) == '+' ? 2 : 1);
  end = DigitsEnd(text.text(), exponent);
  return end > exponent && !IsNameByte(text.At(end)) ? end : 0;
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
    if (const size_t end = std::max(AngleEnd(text, at), PowerEnd(text, at)); end > 0) return end;
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
