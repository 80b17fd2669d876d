#include "models/text/english/hex_code.h"

#include <algorithm>
#include <string>

#include "models/text/ascii.h"

namespace millrace::models {
namespace {

bool IsHexDigit(char c) {
  return IsAsciiDigit(c) || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'f');
}

void AppendHexDigit(const NumberWords& numbers, char digit, Reading& reading) {
  if (IsAsciiDigit(digit)) {
    reading.Append(numbers.Digits({&digit, 1}));
  } else {
    reading.Append(std::string(1, AsciiUpper(digit)) + ".");
  }
}

// Returns the end of the hexadecimal digits at `at`, of which there are at most `most`; `at` where
// more letters or digits follow.
size_t HexEnd(std::string_view text, size_t at, size_t most) {
  size_t end = at;
  while (end - at < most && IsHexDigit(ByteAt(text, end))) ++end;
  return IsAsciiAlnum(ByteAt(text, end)) ? at : end;
}

// Reads the groups of such sizes, with a joint between them: "00:1A:2B:3C:4D:5E".
std::optional<Reading> ReadGroups(const NumberWords& numbers, std::string_view text, size_t at,
                                  std::initializer_list<size_t> sizes, char joint, bool named) {
  Reading reading{at, {}};
  for (const size_t size : sizes) {
    if (reading.end > at) {
      if (ByteAt(text, reading.end) != joint) return std::nullopt;
      ++reading.end;
      if (named) reading.Append("dash");
    }
    const size_t end = reading.end + size;
    if (HexEnd(text, reading.end, size) != end) return std::nullopt;
    while (reading.end < end) AppendHexDigit(numbers, text[reading.end++], reading);
  }
  return ByteAt(text, reading.end) == joint ? std::nullopt : std::optional(reading);
}

// Reads a color of a web page: "#ff0000". "#123456" is a number where no color is spoken of, and
// "#decade" a hashtag.
std::optional<Reading> ReadColor(const NumberWords& numbers, std::string_view text, size_t at) {
  constexpr size_t kMaxDigits = 8;
  constexpr size_t kNear = 24;
  const size_t end = HexEnd(text, at + 1, kMaxDigits);
  const std::string_view code = text.substr(at + 1, end - at - 1);
  if (code.size() != 3 && code.size() != 6 && code.size() != kMaxDigits) return std::nullopt;
  const auto letters = std::ranges::count_if(code, IsAsciiLetter);
  const size_t begin = at - std::min(at, kNear);
  const std::string before = AsciiLower(text.substr(begin, at - begin));
  const bool named = before.find("color") != before.npos || before.find("colour") != before.npos ||
                     before.find("background") != before.npos;
  const bool mixed = code.size() > 3 && letters > 0 && letters < std::ssize(code);
  const bool repeated = letters == std::ssize(code) && code.find_first_not_of(code[0]) == code.npos;
  if (!named && !mixed && !repeated) return std::nullopt;
  Reading reading{end, {"hash"}};
  for (const char digit : code) AppendHexDigit(numbers, digit, reading);
  return reading;
}

}  // namespace

std::optional<Reading> ReadHexCode(const NumberWords& numbers, std::string_view text, size_t at) {
  if (text[at] == '#') return ReadColor(numbers, text, at);
  const char joint = ByteAt(text, at + 2);
  if (joint == ':' || joint == '-')
    return ReadGroups(numbers, text, at, {2, 2, 2, 2, 2, 2}, joint, false);
  // The identifier of something.
  return ByteAt(text, at + 8) == '-' ? ReadGroups(numbers, text, at, {8, 4, 4, 4, 12}, '-', true)
                                     : std::nullopt;
}

std::optional<Reading> ReadHexNumber(const NumberWords& numbers, std::string_view text, size_t at) {
  if (text.substr(at, 2) != "0x" && text.substr(at, 2) != "0X") return std::nullopt;
  constexpr size_t kMaxDigits = 16;
  const size_t end = HexEnd(text, at + 2, kMaxDigits);
  // "0x4" may be a product.
  if (end < at + 4) return std::nullopt;
  Reading reading{end, {"zero", "X."}};
  for (const char digit : text.substr(at + 2, end - at - 2))
    AppendHexDigit(numbers, digit, reading);
  return reading;
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
