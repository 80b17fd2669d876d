#include "models/text/english/time_reader.h"

#include "models/text/ascii.h"

namespace millrace::models {
namespace {

// Returns "am", "p.m." and the like, with or without a space before it, as spelled letters. Moves
// `at` behind it.
std::string_view TakeHalf(std::string_view text, size_t& at) {
  size_t next = at;
  if (ByteAt(text, next) == ' ') ++next;
  const char letter = AsciiLower(ByteAt(text, next));
  if (letter != 'a' && letter != 'p') return {};
  ++next;
  const bool dotted = ByteAt(text, next) == '.';
  if (dotted) ++next;
  if (AsciiLower(ByteAt(text, next)) != 'm') return {};
  ++next;
  if (dotted && ByteAt(text, next) == '.') ++next;
  if (IsAsciiAlnum(ByteAt(text, next))) return {};
  at = next;
  return letter == 'a' ? "A.M." : "P.M.";
}

// Returns the value of two digits below 60 at `at`; -1 if there are none.
int TwoDigits(std::string_view text, size_t at) {
  if (!IsAsciiDigit(ByteAt(text, at)) || !IsAsciiDigit(ByteAt(text, at + 1))) return -1;
  const int value = (text[at] - '0') * 10 + text[at + 1] - '0';
  return value < 60 ? value : -1;
}

// Appends the digits of ".3", which end there.
void AppendTenths(const NumberWords& numbers, std::string_view text, size_t end, Reading& reading) {
  reading.Append("point");
  reading.Append(numbers.Digits(text.substr(reading.end + 1, end - reading.end - 1)));
  reading.end = end;
}

}  // namespace

std::optional<Reading> ReadMilitaryTime(const NumberWords& numbers, std::string_view text,
                                        size_t at, std::string_view previous) {
  const size_t end = DigitsEnd(text.substr(0, at + 5), at);
  if (end != at + 4 || IsAsciiAlnum(ByteAt(text, end)) || ByteAt(text, at) != '0')
    return std::nullopt;
  const bool timed = previous == "at" || previous == "from" || previous == "until" ||
                     text.substr(end).starts_with(" hours") || text.substr(end).starts_with(" hrs");
  const int minute = TwoDigits(text, at + 2);
  const int hour = text[at + 1] - '0';
  if (!timed || minute < 0 || hour == 0) return std::nullopt;
  Reading reading{end, {"oh"}};
  reading.Append(numbers.Cardinal(static_cast<uint64_t>(hour)));
  if (minute == 0) reading.Append("hundred");
  if (minute > 0 && minute < 10) reading.Append("oh");
  if (minute > 0) reading.Append(numbers.Cardinal(static_cast<uint64_t>(minute)));
  return reading;
}

std::optional<Reading> ReadTime(const NumberWords& numbers, std::string_view text, size_t at) {
  const size_t digits = DigitsEnd(text.substr(0, at + 3), at) - at;
  if (digits == 0 || digits > 2) return std::nullopt;
  const auto hour = static_cast<unsigned>(ParseDigits(text.substr(at, digits)));
  Reading reading{at + digits, numbers.Cardinal(hour)};
  // "3.30pm".
  size_t behind = reading.end + 3;
  const bool pointed = ByteAt(text, reading.end) == '.' && TwoDigits(text, reading.end + 1) >= 0 &&
                       hour <= 12 && !TakeHalf(text, behind).empty();
  if (ByteAt(text, reading.end) != ':' && !pointed) {
    const std::string_view half = TakeHalf(text, reading.end);
    if (half.empty() || hour < 1 || hour > 12) return std::nullopt;
    reading.Append(half);
    return reading;
  }
  const int minute = TwoDigits(text, reading.end + 1);
  if (hour > 24 || minute < 0 || IsAsciiDigit(ByteAt(text, reading.end + 3))) return std::nullopt;
  // "1:50,000" is the scale of a map.
  if (ByteAt(text, reading.end + 3) == ',' &&
      DigitsEnd(text.substr(0, reading.end + 8), reading.end + 4) == reading.end + 7) {
    return std::nullopt;
  }
  reading.end += 3;
  int second = -1;
  if (ByteAt(text, reading.end) == ':') {
    second = TwoDigits(text, reading.end + 1);
    if (second < 0 || IsAsciiDigit(ByteAt(text, reading.end + 3))) return std::nullopt;
    reading.end += 3;
  }
  // A lap time: "1:45.3".
  size_t tenths = reading.end;
  if (ByteAt(text, tenths) == '.' && IsAsciiDigit(ByteAt(text, tenths + 1)))
    tenths = DigitsEnd(text.substr(0, tenths + 5), tenths + 1);
  const std::string_view half = TakeHalf(text, reading.end);
  if (minute > 0) {
    if (minute < 10) reading.Append("oh");
    reading.Append(numbers.Cardinal(static_cast<uint64_t>(minute)));
  } else if (half.empty()) {
    reading.Append(hour >= 1 && hour <= 12 ? "o'clock" : "hundred");
  }
  if (second >= 0) {
    reading.Append("and");
    reading.Append(numbers.Cardinal(static_cast<uint64_t>(second)));
    if (tenths > reading.end) AppendTenths(numbers, text, tenths, reading);
    reading.Append(second == 1 ? "second" : "seconds");
  }
  if (tenths > reading.end) AppendTenths(numbers, text, tenths, reading);
  if (!half.empty()) reading.Append(half);
  return reading;
}

}  // namespace millrace::models
