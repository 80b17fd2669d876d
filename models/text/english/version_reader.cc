#include "models/text/english/version_reader.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"
#include "models/text/english/amount.h"
#include "models/text/english/attributive.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

// Reads "Python 3.10" as "three point ten".
std::optional<Reading> ReadNamedVersion(const NumberWords& numbers, std::string_view text,
                                        size_t at, const NumberContext& context) {
  const bool section = IsOneOf(context.previous, "rule", "section", "sections");
  const bool named = section || IsVersioned(context.previous);
  if (!named && !context.versions) return std::nullopt;
  const size_t point = DigitsEnd(text, at, 4);
  if (point == at || ByteAt(text, point) != '.') return std::nullopt;
  const size_t end = DigitsEnd(text.substr(0, point + 4), point + 1);
  if (end != point + 3 || (IsAsciiAlnum(ByteAt(text, end)) && !section) || text[point + 1] == '0')
    return std::nullopt;
  // "The release of 1.25 tons".
  if (!named && (ByteAt(text, end) == '%' || NounFollows(text, end))) return std::nullopt;
  Reading reading{end, numbers.Whole(text.substr(at, point - at))};
  reading.Append("point");
  reading.Append(numbers.Whole(text.substr(point + 1, 2)));
  return reading;
}

}  // namespace

bool IsVersioned(std::string_view word) { return IsOfKind(word, "versioned"); }

bool BeginsVersion(std::string_view text, size_t at) {
  if (text[at] != 'v' || !IsAsciiDigit(ByteAt(text, at + 1))) return false;
  // "A v8 engine".
  return !IsOfKind(LettersAt(text, DigitsEnd(text, at + 1) + 1), "engine");
}

std::optional<Reading> ReadVersion(const NumberWords& numbers, std::string_view text, size_t at,
                                   const NumberContext& context) {
  size_t end = DigitsEnd(text, at);
  size_t points = 0;
  while (end > at && ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1))) {
    end = DigitsEnd(text, end + 1);
    ++points;
  }
  // "1.234.567,89" is a sum.
  const bool has_decimals = ByteAt(text, end) == ',' && IsAsciiDigit(ByteAt(text, end + 1));
  if (points < 2 || has_decimals) return ReadNamedVersion(numbers, text, at, context);
  // "1.000.000" is a million.
  if (ParseAmount(text, at)->grouped && points > 1) return std::nullopt;
  Reading reading{end, {}};
  while (at < end) {
    const size_t part_end = DigitsEnd(text.substr(0, end), at);
    if (!reading.words.empty()) reading.Append(points == 2 ? "point" : "dot");
    reading.Append(numbers.Whole(text.substr(at, part_end - at)));
    at = part_end + 1;
  }
  return reading;
}

}  // namespace millrace::models
