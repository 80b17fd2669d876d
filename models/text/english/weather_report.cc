#include "models/text/english/weather_report.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/english/letter_word.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {

std::optional<Reading> ReadReportGroup(const NumberWords& numbers, std::string_view text,
                                       size_t at) {
  constexpr size_t kLongest = 16;
  const std::string_view rest = text.substr(at, kLongest + 1);
  std::string_view group = rest.substr(0, rest.find(' '));
  while (group.ends_with('.') || group.ends_with('=') || group.ends_with(','))
    group.remove_suffix(1);
  if (group.empty() || group.size() > kLongest || std::ranges::none_of(group, IsAsciiDigit) ||
      !std::ranges::all_of(group,
                           [](char c) { return IsAsciiUpper(c) || IsAsciiDigit(c) || c == '/'; }))
    return std::nullopt;
  Reading reading{at + group.size(), {}};
  constexpr size_t kMostOfTwo = 7;
  const bool temperatures = group.find('/') != group.npos && group.size() <= kMostOfTwo;
  if (temperatures) reading.Append("temperature");
  for (size_t next = 0; next < group.size();) {
    const size_t digits = DigitsEnd(group, next);
    reading.Append(numbers.Digits(group.substr(next, digits - next)));
    const std::string_view letters = LettersAt(group, digits);
    if (const auto name = FindSpoken(letters, "weather")) {
      reading.AppendEach(*name);
    } else if (!letters.empty()) {
      reading.Append(Dotted(letters));
    }
    next = digits + letters.size();
    if (next < group.size() && group[next] == '/') {
      reading.AppendEach(temperatures ? "dew point" : "to");
      ++next;
    }
  }
  return reading;
}

}  // namespace millrace::models
