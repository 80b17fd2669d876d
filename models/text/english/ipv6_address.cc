#include "models/text/english/ipv6_address.h"

#include <string>

#include "models/text/ascii.h"

namespace millrace::models {

bool IsHexDigit(char c) {
  return IsAsciiDigit(c) || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'f');
}

void AppendHexDigit(const NumberWords& numbers, char digit, Reading& reading) {
  if (IsAsciiDigit(digit)) {
    reading.Append(numbers.Digits({&digit, 1}));
  } else {
    reading.Append(std::string(1, static_cast<char>(AsciiLower(digit) - 'a' + 'A')) + ".");
  }
}

std::optional<Reading> ReadIpv6Address(const NumberWords& numbers, std::string_view text,
                                       size_t at) {
  constexpr size_t kMaxBytes = 39;
  constexpr size_t kMaxGroup = 4;
  constexpr size_t kColons = 7;
  size_t end = at;
  size_t group = 0;
  size_t colons = 0;
  bool shortened = false;
  bool has_digit = false;
  for (; end - at <= kMaxBytes; ++end) {
    const char c = ByteAt(text, end);
    if (c == ':') {
      // A colon that ends a clause is none of the address.
      const char next = ByteAt(text, end + 1);
      if (next != ':' && !IsHexDigit(next) && (end == at || text[end - 1] != ':')) break;
      shortened = shortened || next == ':';
      group = 0;
      ++colons;
    } else if (IsHexDigit(c) && group < kMaxGroup) {
      has_digit = has_digit || IsAsciiDigit(c);
      ++group;
    } else {
      break;
    }
  }
  // "[::]:80" is any address.
  const bool any = end == at + 2 && ByteAt(text, end) == ']';
  if ((!has_digit && !any) || colons > kColons || IsAsciiAlnum(ByteAt(text, end)) ||
      (shortened ? colons < 2 : colons != kColons))
    return std::nullopt;
  Reading reading{end, {}};
  for (size_t i = at; i < end; ++i) {
    if (text[i] == ':') {
      reading.Append("colon");
    } else {
      AppendHexDigit(numbers, text[i], reading);
    }
  }
  return reading;
}

}  // namespace millrace::models
