#include "models/text/english/time_reader.h"

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns "am", "p.m." and the like, with or without a space before it, as spelled letters. Moves
// `at` behind it. minutes: after those, one letter is enough.
std::string_view TakeHalf(std::string_view text, size_t& at, bool minutes = false) {
  size_t next = at;
  if (ByteAt(text, next) == ' ') ++next;
  const char letter = AsciiLower(ByteAt(text, next));
  if (letter != 'a' && letter != 'p') return {};
  ++next;
  // "9:45a".
  if (minutes && next == at + 1 && !IsAsciiAlnum(ByteAt(text, next))) {
    at = next;
    return letter == 'a' ? "A.M." : "P.M.";
  }
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
  std::string_view digits = text.substr(reading.end + 1, end - reading.end - 1);
  if (text[reading.end] == ',') digits = digits.substr(0, digits.find_last_not_of('0') + 1);
  if (!digits.empty()) reading.Append("point");
  reading.Append(numbers.Digits(digits));
  reading.end = end;
}

// Reads "5p", an hour with one letter of its half of the day.
std::optional<Reading> ReadHourWithLetter(const NumberWords& numbers, std::string_view text,
                                          size_t at) {
  size_t end = DigitsEnd(text, at, 3);
  const uint64_t hour = ParseDigits(text.substr(at, end - at));
  const std::string_view half = hour >= 1 && hour <= 12 && ByteAt(text, end) != ' '
                                    ? TakeHalf(text, end, /*minutes=*/true)
                                    : std::string_view();
  if (half.empty()) return std::nullopt;
  Reading reading{end, numbers.Cardinal(hour)};
  reading.Append(half);
  return reading;
}

// Returns true for the thousandths of a subtitle's time: "00:01:02,500 --> 00:01:05,000".
bool IsTimeOfSubtitle(std::string_view text, size_t at, size_t comma) {
  return ByteAt(text, comma) == ',' &&
         DigitsEnd(text.substr(0, comma + 5), comma + 1) == comma + 4 &&
         (text.substr(0, at).ends_with("--> ") || text.substr(comma + 4).starts_with(" -->"));
}

}  // namespace

std::optional<Reading> ReadMilitaryTime(const NumberWords& numbers, std::string_view text,
                                        size_t at, std::string_view previous) {
  const size_t end = DigitsEnd(text, at, 5);
  if (end != at + 4 || IsAsciiAlnum(ByteAt(text, end))) return std::nullopt;
  // "1800 hrs" are no years.
  const bool hundreds = text.substr(end).starts_with(" hrs") && text.substr(at + 2, 2) == "00";
  const bool timed = hundreds || previous == "at" || previous == "from" || previous == "until" ||
                     text.substr(end).starts_with(" hours") || text.substr(end).starts_with(" hrs");
  const int minute = TwoDigits(text, at + 2);
  const int hour = TwoDigits(text, at);
  constexpr int kHours = 24;
  if (!timed || minute < 0 || hour <= 0 || hour > kHours || (text[at] != '0' && !hundreds))
    return std::nullopt;
  Reading reading{end, {}};
  if (text[at] == '0') reading.Append("oh");
  reading.Append(numbers.Cardinal(static_cast<uint64_t>(hour)));
  if (minute == 0) reading.Append("hundred");
  if (minute > 0 && minute < 10) reading.Append("oh");
  if (minute > 0) reading.Append(numbers.Cardinal(static_cast<uint64_t>(minute)));
  return reading;
}

std::optional<Reading> ReadHourAndMinute(const NumberWords& numbers, std::string_view text,
                                         size_t at, std::string_view previous) {
  const size_t mark = DigitsEnd(text, at, 3);
  const int minute = TwoDigits(text, mark + 1);
  if (mark == at || mark - at > 2 || ByteAt(text, mark) != 'h' || minute < 0 ||
      IsAsciiAlnum(ByteAt(text, mark + 3)))
    return std::nullopt;
  const uint64_t hour = ParseDigits(text.substr(at, mark - at));
  if (hour > 24) return std::nullopt;
  Reading reading{mark + 3, numbers.Cardinal(hour)};
  const bool timed =
      hour > 12 || text[at] == '0' ||
      IsOneOf(previous, "after", "at", "before", "by", "from", "since", "till", "to", "until");
  if (!timed) reading.Append(hour == 1 ? "hour" : "hours");
  if (minute == 0 && timed) reading.Append(hour >= 1 && hour <= 12 ? "o'clock" : "hundred");
  if (minute > 0 && minute < 10 && timed) reading.Append("oh");
  if (minute > 0) reading.Append(numbers.Cardinal(static_cast<uint64_t>(minute)));
  return reading;
}

std::optional<Reading> ReadTime(const NumberWords& numbers, std::string_view text, size_t at,
                                std::string_view previous) {
  const size_t digits = DigitsEnd(text, at, 3) - at;
  if (digits == 0 || digits > 2) return std::nullopt;
  const auto hour = static_cast<unsigned>(ParseDigits(text.substr(at, digits)));
  Reading reading{at + digits, numbers.Cardinal(hour)};
  // "3.30pm".
  size_t behind = reading.end + 3;
  const bool pointed = ByteAt(text, reading.end) == '.' && TwoDigits(text, reading.end + 1) >= 0 &&
                       hour <= 12 && !TakeHalf(text, behind).empty();
  if (ByteAt(text, reading.end) != ':' && !pointed) {
    // "8a-5p", "8a–5p".
    const CodePoint dash = DecodeAt(text, reading.end + 1);
    const auto last = dash.value == '-' || dash.value == U'–'
                          ? ReadHourWithLetter(numbers, text, reading.end + 1 + dash.bytes)
                          : std::nullopt;
    const bool range = last.has_value();
    // "At 7p".
    const bool timed = range || (IsOneOf(previous, "at", "by", "from", "till", "until") &&
                                 !text.substr(reading.end).starts_with("p each"));
    const std::string_view half = TakeHalf(text, reading.end, timed);
    if (half.empty() || hour < 1 || hour > 12) return std::nullopt;
    reading.Append(half);
    if (range) {
      reading.Append("to");
      reading.Append(last->words);
      reading.end = last->end;
    }
    return reading;
  }
  const int minute = TwoDigits(text, reading.end + 1);
  // "She ran it in 25:30."
  const bool minutes = hour > 24 && IsOfKind(previous, "before-duration");
  if ((hour > 24 && !minutes) || minute < 0 || IsAsciiDigit(ByteAt(text, reading.end + 3)))
    return std::nullopt;
  // "1:50,000" is the scale of a map.
  if (ByteAt(text, reading.end + 3) == ',' &&
      DigitsEnd(text.substr(0, reading.end + 8), reading.end + 4) == reading.end + 7) {
    return std::nullopt;
  }
  reading.end += 3;
  // The clock of a game: "0:32 left".
  if (hour == 0 && digits == 1 && IsOneOf(LettersAt(text, reading.end + 1), "left", "remaining")) {
    reading.words = numbers.Cardinal(static_cast<uint64_t>(minute));
    reading.Append(minute == 1 ? "second" : "seconds");
    return reading;
  }
  int second = -1;
  if (ByteAt(text, reading.end) == ':') {
    second = TwoDigits(text, reading.end + 1);
    if (second < 0 || IsAsciiDigit(ByteAt(text, reading.end + 3))) return std::nullopt;
    reading.end += 3;
  }
  // A lap time: "1:45.3".
  size_t tenths = reading.end;
  // The time of a line of a log, right behind its date: "2024-01-15 08:30:00,123".
  const bool logged = second >= 0 && at > 1 && (text[at - 1] == 'T' || text[at - 1] == ' ') &&
                      IsAsciiDigit(text[at - 2]);
  if (IsTimeOfSubtitle(text, at, tenths) ||
      (logged && ByteAt(text, tenths) == ',' &&
       DigitsEnd(text.substr(0, tenths + 5), tenths + 1) == tenths + 4) ||
      (ByteAt(text, tenths) == '.' && IsAsciiDigit(ByteAt(text, tenths + 1))))
    tenths = DigitsEnd(text.substr(0, tenths + 5), tenths + 1);
  if (second >= 0 && !logged && IsOfKind(previous, "before-duration")) {
    const auto append = [&](int count, std::string_view unit, bool whole) {
      if (count == 0 && whole) return;
      reading.Append(numbers.Cardinal(static_cast<uint64_t>(count)));
      if (!whole) AppendTenths(numbers, text, tenths, reading);
      reading.Append(std::string(unit) + (count == 1 && whole ? "" : "s"));
    };
    reading.words.clear();
    append(static_cast<int>(hour), "hour", true);
    append(minute, "minute", true);
    append(second, "second", tenths == reading.end);
    if (!reading.words.empty()) return reading;
    reading.words = numbers.Cardinal(hour);
  }
  const std::string_view half = TakeHalf(text, reading.end, /*minutes=*/true);
  // "19:00h".
  const bool hours = half.empty() && tenths == reading.end && ByteAt(text, tenths) == 'h' &&
                     !IsAsciiAlnum(ByteAt(text, tenths + 1));
  if (minute > 0) {
    if (minute < 10) reading.Append("oh");
    reading.Append(numbers.Cardinal(static_cast<uint64_t>(minute)));
  } else if (half.empty() && previous != "minus" && previous != "plus") {  // "UTC-08:00"
    reading.Append(minutes ? "minutes" : hour >= 1 && hour <= 12 ? "o'clock" : "hundred");
  }
  // "A 3:45:12 marathon".
  if (second > 0 && minute > 0 && tenths == reading.end && half.empty() &&
      IsOneOf(previous, "a", "her", "his", "my", "their") && NounFollows(text, tenths)) {
    if (second < 10) reading.Append("oh");
    reading.Append(numbers.Cardinal(static_cast<uint64_t>(second)));
    return reading;
  }
  if (second > 0 || (second == 0 && (!logged || tenths > reading.end))) {
    reading.Append("and");
    reading.Append(numbers.Cardinal(static_cast<uint64_t>(second)));
    if (tenths > reading.end) AppendTenths(numbers, text, tenths, reading);
    reading.Append(second == 1 ? "second" : "seconds");
  }
  if (tenths > reading.end) AppendTenths(numbers, text, tenths, reading);
  if (!half.empty()) reading.Append(half);
  if (hours) ++reading.end;
  if (hours && reading.words.back() == "hundred") reading.Append("hours");
  return reading;
}

}  // namespace millrace::models
