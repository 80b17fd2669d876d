#include "models/text/english/date_reader.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/letter_run.h"
#include "models/text/english/one_of.h"
#include "models/text/english/version_reader.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxProgramBytes = 16;

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

// Returns the place, from 1 on, of a name or an abbreviation that begins with a capital; 0 if there
// is none.
unsigned PlaceOf(std::string_view name, std::span<const std::string_view> names) {
  if (name.size() < 3 || name.size() > 9 || !IsAsciiUpper(name[0])) return 0;
  const std::string lower = AsciiLower(name);
  const bool four = lower == "sept" || lower == "tues" || lower == "thurs";
  for (size_t i = 0; i < names.size(); ++i) {
    if (lower == names[i] || lower == names[i].substr(0, 3) ||
        (four && names[i].starts_with(lower)))
      return static_cast<unsigned>(i + 1);
  }
  return 0;
}

unsigned MonthOf(std::string_view name) { return PlaceOf(name, kMonths); }
unsigned WeekdayOf(std::string_view name) { return PlaceOf(name, kWeekdays); }

// Returns a number of `min` to `max` digits that ends there, and moves `at` behind it.
std::optional<unsigned> TakeNumber(std::string_view text, size_t& at, size_t min, size_t max) {
  size_t end = at;
  while (end < text.size() && IsAsciiDigit(text[end]) && end - at <= max) ++end;
  if (end - at < min || end - at > max) return std::nullopt;
  const auto value = static_cast<unsigned>(ParseDigits(text.substr(at, end - at)));
  at = end;
  return value;
}

// Moves `at` behind "st", "nd", "rd" or "th".
void SkipOrdinalEnding(std::string_view text, size_t& at) {
  const std::string_view ending = text.substr(at, 2);
  if (ending == "st" || ending == "nd" || ending == "rd" || ending == "th") at += 2;
}

// Returns the bytes of a hyphen or dash, which may have spaces around it; 0 if there is none.
size_t DashBytes(std::string_view text, size_t at) {
  const size_t space = ByteAt(text, at) == ' ' ? 1 : 0;
  const size_t dash = ByteAt(text, at + space) == '-'                                   ? 1
                      : text.substr(std::min(at + space, text.size())).starts_with("–") ? 3
                                                                                        : 0;
  if (dash == 0) return 0;
  if (space == 0) return dash;
  return ByteAt(text, at + 1 + dash) == ' ' ? dash + 2 : 0;
}

// Returns true if "version" or the name of a program is right before `at`.
bool NamesVersion(std::string_view text, size_t at) {
  if (at < 2 || IsAsciiLetter(text[at - 1])) return at > 0 && text[at - 1] != ' ';
  return IsVersioned(AsciiLower(LettersBefore(text, at - 1, kMaxProgramBytes)));
}

bool IsDay(unsigned day) { return day >= 1 && day <= 31; }

// A joint of two days of a month, and its bytes.
struct DayJoint {
  std::string_view word;
  size_t bytes = 0;
};

// Finds the joint of "5-7 June", "4/5 June", which is one of them or the night between, and "4 and
// 5 June".
DayJoint JointOfDays(std::string_view text, size_t begin, size_t at) {
  if (const size_t dash = DashBytes(text, at); dash > 0) return {"to", dash};
  if (ByteAt(text, at) == '/')
    return {text.substr(0, begin).ends_with("night of ") ? "to" : "or", 1};
  for (const std::string_view joint : {" and ", " & "}) {
    if (text.substr(at).starts_with(joint)) return {"and", joint.size()};
  }
  return {};
}

// Returns the year after a comma or a space, and moves `at` behind it; 0 if there is none.
unsigned TakeYear(std::string_view text, size_t& at) {
  size_t next = at;
  if (ByteAt(text, next) == ',') ++next;
  if (ByteAt(text, next) != ' ') return 0;
  ++next;
  const auto year = TakeNumber(text, next, 4, 4);
  const char follows = ByteAt(text, next);
  if (!year || *year < 1000 || follows == ':' || IsAsciiLetter(follows)) return 0;
  if ((follows == ',' || follows == '.') && IsAsciiDigit(ByteAt(text, next + 1))) return 0;
  at = next;
  return *year;
}

}  // namespace

Reading DateReader::SpokenDay(size_t end, unsigned month, unsigned day) const {
  Reading reading{end, {}};
  if (dialect_ == EnglishDialect::kUs) {
    reading.Append(kMonths[month - 1]);
    reading.Append(numbers_.Ordinal(day));
  } else {
    reading.Append("the");
    reading.Append(numbers_.Ordinal(day));
    reading.Append("of");
    reading.Append(kMonths[month - 1]);
  }
  return reading;
}

Reading DateReader::Spoken(size_t end, unsigned year, unsigned month, unsigned day,
                           bool short_year) const {
  Reading reading = SpokenDay(end, month, day);
  if (short_year && year == 0) year = 2000;
  if (short_year && year < 10) reading.Append("oh");
  reading.Append(short_year ? numbers_.Cardinal(year) : numbers_.Year(year));
  return reading;
}

std::optional<Reading> DateReader::ReadStamp(std::string_view text, size_t at) const {
  constexpr size_t kDigits = 8;
  const size_t end = DigitsEnd(text, at, kDigits + 1);
  if (end != at + kDigits) return std::nullopt;
  const auto date = static_cast<unsigned>(ParseDigits(text.substr(at, kDigits)));
  const unsigned year = date / 10000;
  const unsigned month = date / 100 % 100;
  const unsigned day = date % 100;
  const unsigned days = month == 2                                                ? 29
                        : IsOneOf(text.substr(at + 4, 2), "04", "06", "09", "11") ? 30
                                                                                  : 31;
  const bool sum = at > 0 && (text[at - 1] == '$' || text[at - 1] == '+' ||
                              (text[at - 1] == '-' && (at < 2 || !IsAsciiAlnum(text[at - 2]))));
  if (year < 1950 || year > 2049 || month < 1 || month > kMonths.size() || !IsDay(day) ||
      day > days || sum || IsAsciiLetter(ByteAt(text, end)) || ByteAt(text, end) == '%' ||
      PluralFollows(text, end))
    return std::nullopt;
  return Spoken(end, year, month, day, false);
}

std::optional<Reading> DateReader::ReadNumeric(std::string_view text, size_t at) const {
  if (auto stamp = ReadStamp(text, at)) return stamp;
  size_t end = at;
  const auto first = TakeNumber(text, end, 1, 4);
  if (!first) return std::nullopt;
  const bool year_first = end - at == 4;
  if (!year_first && end - at > 2) return std::nullopt;
  const char separator = ByteAt(text, end);
  if (separator != '-' && separator != '/' && separator != '.') return std::nullopt;
  ++end;
  // "2024-W15".
  if (year_first && separator == '-' && ByteAt(text, end) == 'W') {
    ++end;
    const auto week = TakeNumber(text, end, 2, 2);
    if (!week || IsAsciiAlnum(ByteAt(text, end))) return std::nullopt;
    Reading reading{end, numbers_.Year(*first)};
    reading.Append("week");
    reading.Append(numbers_.Cardinal(*week));
    return reading;
  }
  const auto second = TakeNumber(text, end, 1, 4);
  if (second && ByteAt(text, end) != separator) {
    const size_t digits = end - at;
    return IsAsciiAlnum(ByteAt(text, end)) ? std::nullopt
                                           : ReadPair(end, separator, digits, *first, *second);
  }
  if (!second || *second > 99 || ByteAt(text, end) != separator) return std::nullopt;
  ++end;
  const size_t third_at = end;
  const auto third = TakeNumber(text, end, 1, 4);
  const size_t third_digits = end - third_at;
  const char follows = ByteAt(text, end);
  if (!third || IsAsciiDigit(follows) || (follows == separator && separator != '.')) {
    return std::nullopt;
  }
  if (year_first) {
    // "2024.12.25" is a date, "2024.1.2" and "version 2024.12.25" are versions.
    constexpr size_t kDigits = 2;
    if (separator == '.' &&
        (third_digits != kDigits || third_at - at != 8 || NamesVersion(text, at)))
      return std::nullopt;
    if (third_digits > 2 || *second < 1 || *second > 12 || !IsDay(*third)) return std::nullopt;
    // The "T" of "2023-11-05T10:30".
    if (follows == 'T' && IsAsciiDigit(ByteAt(text, end + 1))) ++end;
    return Spoken(end, *first, *second, *third, false);
  }
  // "1.2.34" is a version, "1-2-34" a score or a number.
  if (third_digits != 4 && (third_digits != 2 || separator != '/')) return std::nullopt;
  unsigned month = *first;
  unsigned day = *second;
  if (dialect_ == EnglishDialect::kGb || separator == '.') std::swap(month, day);
  if (month > 12) std::swap(month, day);
  if (month < 1 || month > 12 || !IsDay(day)) return std::nullopt;
  return Spoken(end, *third, month, day, third_digits == 2);
}

namespace {

// Returns true for what may be a part of something: "3/4", but not "12/24".
bool IsFraction(std::string_view written) {
  const size_t slash = written.find('/');
  const std::string_view part = written.substr(slash + 1);
  return ParseDigits(written.substr(0, slash)) < ParseDigits(part) &&
         IsOneOf(part, "2", "3", "4", "5", "6", "8", "10", "12", "16");
}

// Returns true if the text before `at` says that something becomes more or less: "reduce it by
// 1/3".
bool SpeaksOfChange(std::string_view text, size_t at) {
  constexpr size_t kFarthest = 40;
  const size_t begin = at > kFarthest ? at - kFarthest : 0;
  const std::string before = AsciiLower(text.substr(begin, at - begin));
  return HasOne(before,
                "cut |decreas|divid|drop|fell |grew |grow|increas|lower|multipl|rais|reduc|rise|"
                "rose |scale|shr|slash|up ");
}

}  // namespace

std::optional<Reading> DateReader::ReadMonthAndDay(std::string_view text, size_t at,
                                                   std::string_view previous) const {
  auto first = ReadNumericDay(text, at);
  if (!first) return std::nullopt;
  // "12/24-12/26".
  const std::string_view written = text.substr(at, first->end - at);
  const size_t dash = DashBytes(text, first->end);
  const auto last = dash > 0 ? ReadNumericDay(text, first->end + dash) : std::nullopt;
  const bool fractions = IsFraction(written) && last &&
                         IsFraction(text.substr(first->end + dash, last->end - first->end - dash));
  if (last && !fractions && !IsAsciiAlnum(ByteAt(text, last->end)) &&
      ByteAt(text, last->end) != '/' && !NounFollows(text, last->end)) {
    first->Append("to");
    first->Append(last->words);
    first->end = last->end;
    return first;
  }
  if (!IsOfKind(previous, "before-date") &&
      std::ranges::find(kWeekdays, previous) == kWeekdays.end())
    return std::nullopt;
  const char behind = ByteAt(text, first->end);
  if (IsAsciiAlnum(behind) || IsAmong("/%\"", behind)) return std::nullopt;
  // "The week of 3/4", but "on 1/2 of it".
  const bool week = text.substr(0, at).ends_with("eek of ");
  // "On 9/11", "on 24/7".
  const bool name = IsOneOf(written, "9/11", "24/7");
  if ((previous == "of" && !week) || name || (previous == "by" && SpeaksOfChange(text, at)) ||
      NounFollows(text, first->end) || text.substr(first->end).starts_with(" of "))
    return std::nullopt;
  return first;
}

std::optional<Reading> DateReader::ReadNumericDay(std::string_view text, size_t at) const {
  size_t end = at;
  const auto first = TakeNumber(text, end, 1, 2);
  if (!first || ByteAt(text, end) != '/') return std::nullopt;
  ++end;
  const auto second = TakeNumber(text, end, 1, 2);
  if (!second) return std::nullopt;
  unsigned month = *first;
  unsigned day = *second;
  if (dialect_ == EnglishDialect::kGb) std::swap(month, day);
  if (month > 12) std::swap(month, day);
  if (month < 1 || month > 12 || !IsDay(day)) return std::nullopt;
  return SpokenDay(end, month, day);
}

std::optional<Reading> DateReader::ReadPair(size_t end, char separator, size_t bytes,
                                            unsigned first, unsigned second) const {
  constexpr size_t kYearAndTwo = 7;
  constexpr unsigned kCentury = 100;
  const bool month_first = first < kCentury;
  if ((bytes != kYearAndTwo && !(month_first && bytes == kYearAndTwo - 1)) || separator == '.')
    return std::nullopt;
  const unsigned year = month_first ? second : first;
  const unsigned other = month_first ? first : second;
  if (year < 1900 || year > 2100) return std::nullopt;
  const bool next = (year + 1) % kCentury == other;
  // "2008/09" is a season; "2010-12" are years, but "2023-06" is a month.
  if (separator == '/' && !month_first && next) {
    Reading reading{end, numbers_.Year(year)};
    if (other < 10) reading.Append("oh");
    reading.Append(numbers_.Cardinal(other));
    return reading;
  }
  const bool month = other >= 1 && other <= kMonths.size();
  if (!month || (separator == '-' && (month_first || next || other > year % kCentury)))
    return std::nullopt;
  Reading reading{end, {std::string(kMonths[other - 1])}};
  reading.Append(numbers_.Year(year));
  return reading;
}

std::optional<Reading> DateReader::ReadOneDayMonth(std::string_view text, size_t at,
                                                   std::string_view previous) const {
  size_t end = at;
  const auto day = TakeNumber(text, end, 1, 2);
  if (!day || !IsDay(*day)) return std::nullopt;
  SkipOrdinalEnding(text, end);
  const DayJoint joint = JointOfDays(text, at, end);
  size_t last_end = end + joint.bytes;
  const unsigned last = last_end > end ? TakeNumber(text, last_end, 1, 2).value_or(0) : 0;
  if (last != 0 && (last <= *day || !IsDay(last))) return std::nullopt;
  if (last != 0) SkipOrdinalEnding(text, end = last_end);
  const char separator = ByteAt(text, end);
  // "10/Oct/2000:13:55", "10-Oct-2000".
  const bool joined = last == 0 && (separator == '/' || separator == '-');
  if (separator != ' ' && !joined) return std::nullopt;
  const size_t name = end + (text.substr(end).starts_with(" of ") ? 4 : 1);
  const std::string_view written = LettersAt(text, name);
  const unsigned month = MonthOf(written);
  if (month == 0) return std::nullopt;
  end = name + written.size();
  unsigned year = 0;
  if (joined) {
    const size_t digits = end + 1;
    const size_t year_end = DigitsEnd(text, digits, 5);
    if (ByteAt(text, end) != separator || year_end != digits + 4) return std::nullopt;
    year = static_cast<unsigned>(ParseDigits(text.substr(digits, 4)));
    end = year_end + (ByteAt(text, year_end) == ':' ? 1 : 0);
  }
  // The stop of "21 Nov." belongs to the name.
  const bool abbreviated = written.size() < kMonths[month - 1].size();
  if (ByteAt(text, end) == '.' && abbreviated && !joined) ++end;
  if (!joined) year = TakeYear(text, end);
  Reading reading{end, {}};
  if (previous != "the") reading.Append("the");
  reading.Append(numbers_.Ordinal(*day));
  if (last != 0) {
    reading.Append(joint.word);
    reading.Append(numbers_.Ordinal(last));
  }
  reading.Append("of");
  reading.Append(kMonths[month - 1]);
  if (year != 0) reading.Append(numbers_.Year(year));
  return reading;
}

std::optional<Reading> DateReader::ReadOneMonthDay(std::string_view text, size_t at) const {
  size_t end = LettersEnd(text, at, 10);
  const unsigned month = MonthOf(text.substr(at, end - at));
  if (month == 0 || IsAsciiLetter(ByteAt(text, end))) return std::nullopt;
  if (ByteAt(text, end) == '.') ++end;
  if (ByteAt(text, end) != ' ') return std::nullopt;
  Reading reading;
  reading.Append(kMonths[month - 1]);
  // "Jan '24", of which the year is read next.
  if (const CodePoint mark = DecodeAt(text, end + 1); IsApostrophe(mark.value)) {
    const size_t digits = end + 1 + mark.bytes;
    reading.end = end;
    if (DigitsEnd(text, digits, 3) != digits + 2) return std::nullopt;
    return reading;
  }
  size_t year_at = end;
  if (const unsigned year = TakeYear(text, year_at); year != 0) {
    reading.Append(numbers_.Year(year));
    reading.end = year_at;
    return reading;
  }
  ++end;
  const auto day = TakeNumber(text, end, 1, 2);
  if (!day || !IsDay(*day)) return std::nullopt;
  SkipOrdinalEnding(text, end);
  const char follows = ByteAt(text, end);
  if (IsAsciiAlnum(follows) || follows == ':' || follows == '/' || follows == '%') {
    return std::nullopt;
  }
  const size_t dash = DashBytes(text, end);
  // The last day of "May 5-7"; not "May 5-10-2".
  size_t last_end = end + dash;
  const auto last = dash > 0 ? TakeNumber(text, last_end, 1, 2) : std::nullopt;
  if (last) SkipOrdinalEnding(text, last_end);
  const bool is_range = last && *last > *day && IsDay(*last) &&
                        !IsAsciiAlnum(ByteAt(text, last_end)) &&
                        (ByteAt(text, last_end) != '-' && ByteAt(text, last_end) != '%');
  if (!is_range && (follows == '.' || follows == '-') && IsAsciiDigit(ByteAt(text, end + 1))) {
    return std::nullopt;
  }
  if (dialect_ == EnglishDialect::kGb) reading.Append("the");
  reading.Append(numbers_.Ordinal(*day));
  if (is_range) {
    reading.Append("to");
    reading.Append(numbers_.Ordinal(*last));
    end = last_end;
  }
  if (const unsigned year = TakeYear(text, end); year != 0) reading.Append(numbers_.Year(year));
  reading.end = end;
  return reading;
}

std::optional<Reading> DateReader::ReadDayMonth(std::string_view text, size_t at,
                                                std::string_view previous) const {
  auto reading = ReadOneDayMonth(text, at, previous);
  if (reading) TakeLastDate(text, *reading);
  return reading;
}

std::optional<Reading> DateReader::ReadMonthDay(std::string_view text, size_t at) const {
  auto reading = ReadOneMonthDay(text, at);
  if (reading) TakeLastDate(text, *reading);
  return reading;
}

void DateReader::TakeLastDate(std::string_view text, Reading& reading) const {
  const size_t dash = DashBytes(text, reading.end);
  if (dash == 0) return;
  const size_t at = reading.end + dash;
  std::optional<Reading> last;
  if (IsAsciiUpper(ByteAt(text, at))) last = ReadOneMonthDay(text, at);
  if (IsAsciiDigit(ByteAt(text, at))) last = ReadOneDayMonth(text, at, "");
  if (!last) return;
  reading.Append("to");
  reading.Append(std::move(last->words));
  reading.end = last->end;
}

std::optional<Reading> DateReader::ReadNameRange(std::string_view text, size_t at) const {
  const std::string_view from = LettersAt(text, at);
  const size_t end = at + from.size();
  const size_t joint = end + (ByteAt(text, end) == '.' ? 1 : 0);
  const size_t dash = DashBytes(text, joint);
  if (dash == 0 || from.empty()) return std::nullopt;
  const std::string_view to = LettersAt(text, joint + dash);
  size_t last = joint + dash + to.size();
  if (IsAsciiAlnum(ByteAt(text, last))) return std::nullopt;
  if (from == "M" && to == "F") return Reading{last, {"monday", "to", "friday"}};
  // Both names are written with a stop.
  if (joint > end && ByteAt(text, last) == '.') ++last;
  if (const unsigned first = WeekdayOf(from), day = WeekdayOf(to); first != 0 && day != 0)
    return Reading{last,
                   {std::string(kWeekdays[first - 1]), "to", std::string(kWeekdays[day - 1])}};
  if (const unsigned first = MonthOf(from), month = MonthOf(to); first != 0 && month != 0)
    return Reading{last, {std::string(kMonths[first - 1]), "to", std::string(kMonths[month - 1])}};
  return std::nullopt;
}

std::optional<Reading> DateReader::ReadShortYear(std::string_view text, size_t at) const {
  if (ByteAt(text, at) != '0' || at == 0 || !IsApostrophe(DecodeBefore(text, at).value) ||
      DigitsEnd(text, at, 3) != at + 2 || IsAsciiAlnum(ByteAt(text, at + 2)))
    return std::nullopt;
  Reading reading{at + 2, {"oh"}};
  reading.Append(numbers_.Digits(text.substr(at + 1, 1)));
  return reading;
}

std::optional<Reading> DateReader::ReadFiscalYear(std::string_view text, size_t at) const {
  const bool fiscal = text.substr(at, 2) == "FY";
  if (!fiscal && text.substr(at, 2) != "CY") return std::nullopt;
  const size_t digits = at + (ByteAt(text, at + 2) == ' ' ? 3 : 2);
  const size_t end = DigitsEnd(text, digits, 5);
  if ((end != digits + 2 && end != digits + 4) || IsAsciiAlnum(ByteAt(text, end)))
    return std::nullopt;
  const auto year = static_cast<unsigned>(ParseDigits(text.substr(digits, end - digits)));
  Reading reading{end, {fiscal ? "fiscal" : "calendar", "year"}};
  reading.Append(end == digits + 2 ? numbers_.Whole(text.substr(digits, 2)) : numbers_.Year(year));
  const CodePoint dash = DecodeAt(text, end);
  const size_t second = end + dash.bytes;
  const size_t second_end = DigitsEnd(text, second, 3);
  if ((dash.value == '-' || dash.value == U'–') && second_end == second + 2 &&
      !IsAsciiAlnum(ByteAt(text, second_end))) {
    reading.Append("to");
    reading.Append(numbers_.Whole(text.substr(second, 2)));
    reading.end = second_end;
  }
  return reading;
}

}  // namespace millrace::models
