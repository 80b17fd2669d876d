#include "models/text/english/number_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/angle_reader.h"
#include "models/text/english/attributive.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/phone_reader.h"
#include "models/text/english/powers.h"
#include "models/text/english/spoken_code.h"
#include "models/text/english/time_reader.h"
#include "models/text/english/units.h"
#include "models/text/english/zip_reader.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true for words after which "3/10" is one of ten.
bool CountsPages(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords = {"chapter", "item",  "page", "part",
                                                      "round",   "slide", "step", "task"};
  return std::ranges::binary_search(kWords, word);
}

// Returns true for words after which "4/5" is a rating.
bool Rates(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWords = {"rated", "rating", "score", "scored",
                                                      "scores"};
  return std::ranges::binary_search(kWords, word);
}

// Returns true for words after which "90s" is a time and no decade.
bool PrecedesDuration(std::string_view word) {
  constexpr std::array<std::string_view, 14> kWords = {
      "about", "after", "another", "every", "for",  "in",     "lasted",
      "lasts", "only",  "takes",   "took",  "wait", "within", "under"};
  return std::ranges::find(kWords, word) != kWords.end();
}

// Returns true if a length ends there: "6 ft 2 in tall", "6 ft 2 in.".
bool IsSizeBehind(std::string_view text, size_t at) {
  if (ByteAt(text, at) != ' ') return true;
  constexpr std::array<std::string_view, 11> kWords = {
      "and", "boy", "by", "deep", "girl", "high", "long", "man", "tall", "wide", "woman"};
  const std::string_view word =
      text.substr(at + 1, LettersEnd(text.substr(0, at + 8), at + 1) - at - 1);
  return std::ranges::binary_search(kWords, word);
}

// Returns true if a space and a small letter follow.
bool IsLowerBehindSpace(std::string_view text, size_t at) {
  return ByteAt(text, at) == ' ' && IsAsciiLower(ByteAt(text, at + 1));
}

// Returns true if "=" follows.
bool EqualsBehind(std::string_view text, size_t at) {
  return ByteAt(text, at) == '=' || text.substr(at, 2) == " =";
}

// Returns true if a formula goes on: the "x" of "2x + 1" is a variable.
bool IsOperatorBehind(std::string_view text, size_t at) {
  const size_t sign = at + (ByteAt(text, at) == ' ' ? 1 : 0);
  constexpr std::string_view kOperators = "+-*/=^<>";
  return ByteAt(text, sign) != '\0' && kOperators.find(text[sign]) != std::string_view::npos &&
         (sign == at || ByteAt(text, sign + 1) == ' ');
}

// Returns true if a single quotation mark before `at` is still open.
bool IsQuoted(std::string_view text, size_t at) {
  constexpr size_t kFarthest = 64;
  const size_t begin = at > kFarthest ? at - kFarthest : 0;
  const std::string_view before = text.substr(begin, at - begin);
  return before.starts_with('\'') || before.find(" '") != std::string_view::npos;
}

// Returns true if a number of four digits or more ends before `at`.
bool EndsThousands(std::string_view text, size_t at) {
  constexpr size_t kFewest = 4;
  while (at > 0 && text[at - 1] == ' ') --at;
  size_t digits = 0;
  for (; at > 0 && (IsAsciiDigit(text[at - 1]) || text[at - 1] == ','); --at) {
    if (text[at - 1] != ',' && ++digits == kFewest) return true;
  }
  return false;
}

// Returns the magnitude that a letter behind a number is before people and the like: "3m people",
// "2B users". Much else is measured in meters.
std::string_view CountedMagnitude(char letter, std::string_view behind) {
  constexpr std::array<std::string_view, 10> kCrowds = {
      " people",    " users",    " views",   " customers", " subscribers",
      " followers", " children", " workers", " voters",    " downloads"};
  if (std::ranges::none_of(kCrowds, [&](auto crowd) { return behind.starts_with(crowd); }))
    return {};
  if (letter == 'm') return "million";
  return letter == 'b' || letter == 'B' ? "billion" : "";
}

// Returns true for what a current flows through.
bool CircuitFollows(std::string_view behind) {
  constexpr std::array<std::string_view, 8> kCircuits = {
      " breaker", " charger", " circuit", " current", " fuse", " outlet", " plug", " socket"};
  return std::ranges::any_of(kCircuits, [&](auto noun) { return behind.starts_with(noun); });
}

// Returns true for what an amount may be per that is written out: "2 kWh/day".
bool IsPeriod(std::string_view word) {
  constexpr std::array<std::string_view, 14> kWords = {
      "capita", "day",   "hour",   "household", "minute", "month", "night",
      "person", "pixel", "second", "shift",     "unit",   "week",  "year"};
  static_assert(std::ranges::is_sorted(kWords));
  return std::ranges::binary_search(kWords, word);
}

size_t DashBytes(std::string_view text, size_t at) {
  if (ByteAt(text, at) == '-') return 1;
  return text.substr(at, 3) == "–" ? 3 : 0;
}

// Returns true for words that a number with hyphens follows which is a name.
bool NamesHyphenated(std::string_view word) {
  constexpr std::array<std::string_view, 12> kWords = {"account", "booking",   "case",   "claim",
                                                       "invoice", "model",     "order",  "policy",
                                                       "ref",     "reference", "serial", "ticket"};
  return std::ranges::find(kWords, word) != kWords.end();
}

}  // namespace

bool NamesCode(std::string_view word) {
  constexpr std::array<std::string_view, 9> kCodes = {
      "code", "ext", "extension", "passcode", "password", "pin", "postcode", "zip", "otp"};
  return std::ranges::find(kCodes, word) != kCodes.end();
}

std::optional<Reading> ReadFractionSign(std::string_view text, size_t at) {
  struct Sign {
    std::string_view sign;
    std::string_view count;
    std::string_view part;
  };
  constexpr std::array<Sign, 9> kSigns = {{{"½", "one", "half"},
                                           {"¼", "one", "quarter"},
                                           {"¾", "three", "quarters"},
                                           {"⅓", "one", "third"},
                                           {"⅔", "two", "thirds"},
                                           {"⅛", "one", "eighth"},
                                           {"⅜", "three", "eighths"},
                                           {"⅝", "five", "eighths"},
                                           {"⅞", "seven", "eighths"}}};
  for (const Sign& sign : kSigns) {
    if (text.substr(at, sign.sign.size()) != sign.sign) continue;
    return Reading{at + sign.sign.size(), {std::string(sign.count), std::string(sign.part)}};
  }
  return std::nullopt;
}

std::optional<Reading> NumberReader::Read(std::string_view text, size_t at,
                                          const NumberContext& context) const {
  if (auto phone = ReadPhone(numbers_, text, at)) return phone;
  if (auto money = ReadMoney(numbers_, text, at, context.article)) return money;
  if (auto sign = ReadFractionSign(text, at)) {
    TakeMeasure(text, true, context.article, *sign);
    return sign;
  }
  const char first = ByteAt(text, at);
  if (!IsAsciiDigit(first) && (first != '.' || !IsAsciiDigit(ByteAt(text, at + 1)))) {
    return std::nullopt;
  }
  if (auto angle = ReadAngle(numbers_, text, at)) return angle;
  if (auto zip = ReadZip(numbers_, text, at)) return zip;
  if (auto code = ReadSpokenCode(numbers_, text, at, context.previous)) return code;
  if (auto code = ReadCode(text, at, context)) return code;
  if (auto code = ReadHyphenatedCode(text, at, context.previous)) return code;
  if (auto hex = ReadHexadecimal(text, at)) return hex;
  if (auto compound = ReadCompound(text, at)) return compound;
  if (auto minutes = ReadMinutes(text, at, context.previous)) return minutes;
  if (auto date = dates_.ReadNumeric(text, at)) return date;
  if (auto time = ReadTime(numbers_, text, at)) return time;
  if (auto time = ReadMilitaryTime(numbers_, text, at, context.previous)) return time;
  if (auto fraction = ReadFraction(text, at, context.previous)) {
    const bool ratio = std::ranges::find(fraction->words, "over") != fraction->words.end();
    TakeMeasure(text, !ratio, context.article, *fraction);
    return fraction;
  }
  if (auto date = dates_.ReadDayMonth(text, at, context.previous)) return date;
  if (auto version = ReadVersion(text, at)) return version;
  if (auto version = ReadNamedVersion(text, at, context.previous)) return version;
  return ReadPlain(text, *ParseAmount(text, at), context);
}

// Reads the digits of "#12345-67" and "order 114-3941689".
std::optional<Reading> NumberReader::ReadHyphenatedCode(std::string_view text, size_t at,
                                                        std::string_view previous) const {
  constexpr size_t kMaxDigits = 16;
  constexpr size_t kMinDigits = 5;  // "order 3-5" is a range
  const bool numbered = at > 0 && text[at - 1] == '#';
  if (!numbered && !NamesHyphenated(previous)) return std::nullopt;
  std::string digits;
  size_t end = at;
  size_t groups = 0;
  do {
    const size_t begin = end + (groups > 0 ? 1 : 0);
    end = DigitsEnd(text.substr(0, begin + kMaxDigits), begin);
    digits += text.substr(begin, end - begin);
    ++groups;
  } while (ByteAt(text, end) == '-' && IsAsciiDigit(ByteAt(text, end + 1)) && groups < kMaxDigits);
  if (groups < 2 || IsAsciiAlnum(ByteAt(text, end))) return std::nullopt;
  if (!numbered && digits.size() < kMinDigits) return std::nullopt;
  return Reading{end, numbers_.Digits(digits)};
}

// Reads "0x1F" digit by digit.
std::optional<Reading> NumberReader::ReadHexadecimal(std::string_view text, size_t at) const {
  if (text.substr(at, 2) != "0x" && text.substr(at, 2) != "0X") return std::nullopt;
  constexpr size_t kMaxDigits = 16;
  size_t end = at + 2;
  bool letters = false;
  while (end < text.size() && end - at <= kMaxDigits + 2 && std::isxdigit(text[end]) != 0) {
    letters = letters || !IsAsciiDigit(text[end]);
    ++end;
  }
  // "0x4" may be a product.
  if (end < at + 4 || end - at > kMaxDigits + 2 || IsAsciiAlnum(ByteAt(text, end)))
    return std::nullopt;
  Reading reading{end, {"zero", "X."}};
  for (size_t i = at + 2; i < end; ++i) {
    if (IsAsciiDigit(text[i])) {
      reading.Append(numbers_.Digits(text.substr(i, 1)));
    } else {
      reading.words.push_back(std::string(1, static_cast<char>(std::toupper(text[i]))) + ".");
    }
  }
  return reading;
}

// Reads "Python 3.10" as "three point ten".
std::optional<Reading> NumberReader::ReadNamedVersion(std::string_view text, size_t at,
                                                      std::string_view previous) const {
  constexpr std::array<std::string_view, 28> kVersioned = {
      "android",    "chrome",  "clang", "cuda",   "debian", "django", "fedora",
      "firefox",    "gcc",     "go",    "golang", "ios",    "java",   "kernel",
      "kubernetes", "linux",   "macos", "mysql",  "node",   "php",    "python",
      "pytorch",    "release", "ruby",  "rust",   "swift",  "ubuntu", "version"};
  if (std::ranges::find(kVersioned, previous) == kVersioned.end()) return std::nullopt;
  const size_t point = DigitsEnd(text.substr(0, at + 4), at);
  if (point == at || ByteAt(text, point) != '.') return std::nullopt;
  const size_t end = DigitsEnd(text.substr(0, point + 4), point + 1);
  if (end != point + 3 || IsAsciiAlnum(ByteAt(text, end)) || text[point + 1] == '0')
    return std::nullopt;
  Reading reading{end, numbers_.Whole(text.substr(at, point - at))};
  reading.Append("point");
  reading.Append(numbers_.Whole(text.substr(point + 1, 2)));
  return reading;
}

std::optional<Reading> NumberReader::ReadFraction(std::string_view text, size_t at,
                                                  std::string_view previous) const {
  const size_t slash = DigitsEnd(text.substr(0, at + 4), at);
  if (slash == at || slash - at > 3 || ByteAt(text, slash) != '/') return std::nullopt;
  const size_t end = DigitsEnd(text.substr(0, slash + 6), slash + 1);
  if (end == slash + 1 || end - slash > 5) return std::nullopt;
  if (IsAsciiAlnum(ByteAt(text, end)) || ByteAt(text, end) == '/') return std::nullopt;
  const uint64_t count = ParseDigits(text.substr(at, slash - at));
  const uint64_t part = ParseDigits(text.substr(slash + 1, end - slash - 1));
  if (end - slash == 5 && part != 1000) return std::nullopt;  // a month and a year
  Reading reading{end, numbers_.Cardinal(count)};
  if (CountsPages(previous) && count <= part) {
    reading.Append("of");
    reading.Append(numbers_.Cardinal(part));
    return reading;
  }
  const bool spoken_as_part =
      part >= 2 && (part <= 10 || part == 12 || part == 16 || part == 20 || part == 32 ||
                    part == 64 || part == 100 || part == 1000);
  // "24/7", "9/11" and the like are two numbers.
  const bool is_part = spoken_as_part && count > 0 && count < part;
  if (is_part && (part == 5 || part == 10 || part == 100) &&
      (RatesBehind(text, end) || Rates(previous))) {
    reading.AppendEach("out of");
    reading.Append(numbers_.Cardinal(part));
    return reading;
  }
  constexpr size_t kOddsBytes = 24;
  const size_t near = at - std::min(at, kOddsBytes);
  if (part == 1 && count > 1 && text.substr(near, at - near).find("odds") != std::string_view::npos)
    reading.Append("to");
  // A blood pressure.
  if (count > part && count >= 70 && count <= 250 && part >= 40 && end - at >= 5)
    reading.Append("over");
  reading.Append(is_part ? numbers_.Denominator(part, count != 1) : numbers_.Cardinal(part));
  return reading;
}

// Reads numbers with two points or more: "2.0.1", "192.168.0.1".
std::optional<Reading> NumberReader::ReadVersion(std::string_view text, size_t at) const {
  size_t end = DigitsEnd(text, at);
  size_t points = 0;
  while (end > at && ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1))) {
    end = DigitsEnd(text, end + 1);
    ++points;
  }
  // "1.234.567,89" is a sum.
  const bool has_decimals = ByteAt(text, end) == ',' && IsAsciiDigit(ByteAt(text, end + 1));
  if (points < 2 || has_decimals) return std::nullopt;
  Reading reading{end, {}};
  while (at < end) {
    const size_t part_end = DigitsEnd(text.substr(0, end), at);
    if (!reading.words.empty()) reading.Append(points == 2 ? "point" : "dot");
    reading.Append(numbers_.Whole(text.substr(at, part_end - at)));
    at = part_end + 1;
  }
  return reading;
}

std::optional<Reading> NumberReader::ReadCode(std::string_view text, size_t at,
                                              const NumberContext& context) const {
  constexpr size_t kMaxDigits = 8;
  const size_t end = DigitsEnd(text.substr(0, at + kMaxDigits + 1), at);
  const std::string_view digits = text.substr(at, end - at);
  if (digits.size() < 3 || digits.size() > kMaxDigits) return std::nullopt;
  const char follows = ByteAt(text, end);
  if (IsAsciiLetter(follows) || follows == '%' ||
      ((follows == ',' || follows == '.' || follows == '-') &&
       IsAsciiDigit(ByteAt(text, end + 1)))) {
    return std::nullopt;
  }
  const bool service = digits.size() == 3 && (digits.ends_with("11") || digits == "999" ||
                                              digits == "112" || digits == "000");
  // "Dial 911, or 112 in Europe", "text 88022".
  const bool abroad = (context.previous.empty() || context.previous == "or") &&
                      text.substr(end, 4) == " in " && IsAsciiUpper(ByteAt(text, end + 4));
  const bool short_code = digits.size() >= 4 && context.telephone &&
                          (context.previous == "text" || context.previous == "dial" ||
                           (context.previous == "to" && digits.size() >= 5));
  const bool called = (service && (context.telephone || abroad)) || short_code;
  if (!called && !context.code && !NamesCode(context.previous)) return std::nullopt;
  return Reading{end, numbers_.Digits(digits)};
}

std::optional<Reading> NumberReader::ReadMinutes(std::string_view text, size_t at,
                                                 std::string_view previous) const {
  if (previous != "hour" && previous != "hours") return std::nullopt;
  const size_t end = DigitsEnd(text.substr(0, at + 3), at);
  if (end == at || end - at > 2 || ByteAt(text, end) != 'm' ||
      IsAsciiAlnum(ByteAt(text, end + 1))) {
    return std::nullopt;
  }
  const uint64_t minutes = ParseDigits(text.substr(at, end - at));
  Reading reading{end + 1, numbers_.Cardinal(minutes)};
  reading.Append(minutes == 1 ? "minute" : "minutes");
  return reading;
}

std::vector<std::string> NumberReader::PlainWords(const Amount& amount) const {
  if (amount.IsYear()) return numbers_.Year(static_cast<unsigned>(ParseDigits(amount.whole)));
  return AmountWords(numbers_, amount);
}

std::optional<Reading> NumberReader::ReadCompound(std::string_view text, size_t at) const {
  using Family = std::array<std::string_view, 4>;
  constexpr std::array<Family, 4> kFamilies = {{{"d", "h", "m", "s"},
                                                {"d", "hr", "min", "sec"},
                                                {"st", "lb", "oz", ""},
                                                {"ft", "in", "", ""}}};
  constexpr size_t kMaxDigits = 4;
  for (const Family& family : kFamilies) {
    Reading reading{at, {}};
    size_t parts = 0;
    size_t rank = 0;
    for (size_t next = at;; next = reading.end + (ByteAt(text, reading.end) == ' ' ? 1 : 0)) {
      const size_t end = DigitsEnd(text.substr(0, next + kMaxDigits), next);
      // "6 ft 2 in", where "in" may be another word.
      const bool spaced = ByteAt(text, end) == ' ' && family[0] == "ft";
      const size_t unit_begin = end + (spaced ? 1 : 0);
      const size_t unit_end = LettersEnd(text.substr(0, unit_begin + 4), unit_begin);
      const std::string_view unit = text.substr(unit_begin, unit_end - unit_begin);
      if (spaced && unit == "in" && !IsSizeBehind(text, unit_end)) break;
      const auto found =
          std::find(family.begin() + static_cast<ptrdiff_t>(rank), family.end(), unit);
      if (end == next || unit.empty() || found == family.end()) break;
      const uint64_t value = ParseDigits(text.substr(next, end - next));
      rank = static_cast<size_t>(found - family.begin()) + 1;
      const std::string_view name = unit == "m" ? "min" : unit;
      if (name == "d") {
        reading.Append(numbers_.Cardinal(value));
        reading.Append(value == 1 ? "day" : "days");
      } else {
        reading.Append(numbers_.Cardinal(value));
        const Unit words = *FindUnit(name, false, dialect_);
        reading.AppendEach(value == 1 ? words.singular : words.plural);
      }
      reading.end = unit_end;
      ++parts;
    }
    if (parts >= 2 && !IsAsciiAlnum(ByteAt(text, reading.end))) return reading;
  }
  return std::nullopt;
}

bool NumberReader::TakePower(std::string_view text, const Amount& amount, Reading& reading) const {
  if (auto power = ReadSuperscript(numbers_, text, reading.end)) {
    reading.Append(AmountWords(numbers_, amount));
    reading.Append(std::move(power->words));
    reading.end = power->end;
    return true;
  }
  const char mark = ByteAt(text, reading.end);
  const char sign = ByteAt(text, reading.end + 1);
  const bool signs = sign == '-' || sign == '+';
  if (mark != 'e' && mark != 'E') return false;
  const size_t digits = reading.end + (signs ? 2 : 1);
  const size_t end = DigitsEnd(text.substr(0, digits + 4), digits);
  if (end == digits || end - digits > 3 || IsAsciiAlnum(ByteAt(text, end))) return false;
  reading.Append(AmountWords(numbers_, amount));
  reading.AppendEach("times ten");
  reading.Append(PowerWords(numbers_, sign == '-', text.substr(digits, end - digits)));
  reading.end = end;
  return true;
}

Reading NumberReader::ReadPlain(std::string_view text, const Amount& amount,
                                const NumberContext& context) const {
  Reading reading{amount.end, {}};
  if (context.label && IsAsciiUpper(ByteAt(text, amount.end))) {
    reading.Append(AmountWords(numbers_, amount));
    return reading;
  }
  if (TakePower(text, amount, reading)) {
    TakeMeasure(text, false, context.article, reading);
    return reading;
  }
  if (TakeEnding(text, amount, context, reading)) return reading;
  if (TakeFeet(text, amount, context, reading)) return reading;
  if (TakeFactorial(text, amount, reading)) return reading;
  // A measured number is no year: "1500 km".
  Reading measured{amount.end, {}};
  if (TakeMeasure(text, amount.IsOne(), context.article, measured)) {
    reading.Append(AmountWords(numbers_, amount));
    reading.Append(std::move(measured.words));
    reading.end = measured.end;
    return reading;
  }
  const bool counts =
      context.previous == "equals" ||
      (amount.IsYear() && !PrecedesYear(context.previous) && PluralFollows(text, amount.end));
  reading.Append(counts ? AmountWords(numbers_, amount) : PlainWords(amount));
  const bool mixed =
      amount.fraction.empty() && amount.whole.size() <= 3 && TakeMixedFraction(text, reading);
  if (context.label) return reading;
  const Amount last = TakeRange(text, amount, context.article, reading);
  TakeMeasure(text, last.IsOne() && !mixed, context.article, reading);
  return reading;
}

bool NumberReader::TakeEnding(std::string_view text, const Amount& amount,
                              const NumberContext& context, Reading& reading) const {
  if (!amount.fraction.empty() || amount.whole.size() > kMaxCardinalDigits) return false;
  const uint64_t value = ParseDigits(amount.whole);
  const size_t apostrophe = ByteAt(text, amount.end) == '\''    ? 1
                            : text.substr(amount.end, 3) == "’" ? 3
                                                                : 0;
  const size_t letters = amount.end + apostrophe;
  const size_t end = LettersEnd(text.substr(0, letters + 3), letters);
  const std::string ending = AsciiLower(text.substr(letters, end - letters));
  if (IsAsciiDigit(ByteAt(text, end))) return false;
  const bool stones = ending == "st" && (value % 10 != 1 || value % 100 == 11);
  if (apostrophe == 0 && !stones &&
      (ending == "st" || ending == "nd" || ending == "rd" || ending == "th")) {
    reading.Append(numbers_.Ordinal(value));
    reading.end = end;
    TakeLastOrdinal(text, reading);
    return true;
  }
  // "1990s", "80s", "747s".
  if (ending != "s" || amount.grouped) return false;
  // "15s" is a time; "80s" are years, but not in "wait 80s"; "B-52s" are airplanes.
  const bool decade = value % 10 == 0 && (amount.whole.size() != 2 || NounFollows(text, end) ||
                                          !PrecedesDuration(context.previous));
  if (apostrophe == 0 && text[letters] == 's' && !context.label && value < 100 && value > 9 &&
      !decade && (value < 60 || value % 10 == 0)) {
    reading.Append(numbers_.Cardinal(value));
    reading.Append(context.article && NounFollows(text, end) ? "second" : "seconds");
    reading.end = end;
    return true;
  }
  if (apostrophe == 0 && (value == 100 || value == 1000 || value == 1000000)) {
    reading.Append(value == 100 ? "hundreds" : value == 1000 ? "thousands" : "millions");
  } else if (amount.IsYear() && value % 10 == 0) {
    reading.Append(numbers_.Decade(static_cast<unsigned>(value)));
  } else if (apostrophe == 0 || value % 10 == 0) {
    reading.Append(amount.IsYear() ? numbers_.Year(static_cast<unsigned>(value))
                                   : numbers_.Whole(amount.whole));
    std::string& last = reading.words.back();
    if (last.ends_with('y')) {
      last.replace(last.size() - 1, 1, "ies");
    } else {
      last += last.ends_with('x') ? "es" : "s";
    }
  } else {
    return false;
  }
  reading.end = end;
  return true;
}

void NumberReader::TakeLastOrdinal(std::string_view text, Reading& reading) const {
  const CodePoint dash = DecodeAt(text, reading.end);
  if (dash.value != '-' && dash.value != U'–') return;
  const size_t digits = reading.end + dash.bytes;
  const size_t letters = DigitsEnd(text.substr(0, digits + 5), digits);
  const std::string ending = AsciiLower(text.substr(letters, 2));
  if (letters == digits || IsAsciiAlnum(ByteAt(text, letters + 2)) ||
      (ending != "st" && ending != "nd" && ending != "rd" && ending != "th"))
    return;
  reading.Append("to");
  reading.Append(numbers_.Ordinal(ParseDigits(text.substr(digits, letters - digits))));
  reading.end = letters + 2;
}

bool NumberReader::TakeFactorial(std::string_view text, const Amount& amount,
                                 Reading& reading) const {
  constexpr std::array<std::string_view, 9> kBehind = {" =", " is ", " equals ", " and ", " times ",
                                                       " /", " ×",   " *",       "/"};
  const size_t behind = amount.end + 1;
  if (ByteAt(text, amount.end) != '!' || !amount.fraction.empty()) return false;
  if (std::ranges::none_of(
          kBehind, [&](std::string_view words) { return text.substr(behind).starts_with(words); }))
    return false;
  reading.Append(AmountWords(numbers_, amount));
  reading.Append("factorial");
  reading.end = behind;
  return true;
}

bool NumberReader::TakeFeet(std::string_view text, const Amount& amount,
                            const NumberContext& context, Reading& reading) const {
  if (ByteAt(text, amount.end) != '\'' || amount.whole.size() > 2) return false;
  const size_t inches = amount.end + (ByteAt(text, amount.end + 1) == ' ' ? 2 : 1);
  const size_t end = DigitsEnd(text.substr(0, inches + 3), inches);
  if (IsQuoted(text, amount.end) && ByteAt(text, end) != '"') return false;
  // "He is 5'11".
  constexpr size_t kInchesOfFoot = 12;
  const bool is_height = end > inches && inches == amount.end + 1 &&
                         !IsAsciiAlnum(ByteAt(text, end)) && ByteAt(text, end) != '\'' &&
                         ParseDigits(text.substr(inches, end - inches)) < kInchesOfFoot;
  if (!is_height && (end == inches || ByteAt(text, end) != '"')) {
    // "A 9' wall", "he is 6'.", but not the minutes of "90° 45'".
    const bool area = text.substr(amount.end + 1, 3) == " x " || context.previous == "by";
    const bool attributive = area || (context.article && NounFollows(text, amount.end + 1));
    if (IsAsciiAlnum(ByteAt(text, amount.end + 1)) || context.previous == "degrees") return false;
    reading.Append(AmountWords(numbers_, amount));
    reading.Append(attributive || amount.IsOne() ? "foot" : "feet");
    reading.end = amount.end + 1;
    return true;
  }
  reading.Append(AmountWords(numbers_, amount));
  reading.Append("foot");
  reading.Append(numbers_.Whole(text.substr(inches, end - inches)));
  reading.end = end + (is_height && ByteAt(text, end) != '"' ? 0 : 1);
  return true;
}

bool NumberReader::TakeMixedFraction(std::string_view text, Reading& reading) const {
  if (auto sign = ReadFractionSign(text, reading.end)) {
    reading.Append("and");
    if (sign->words[0] == "one") sign->words[0] = "a";
    reading.Append(std::move(sign->words));
    reading.end = sign->end;
    return true;
  }
  if (ByteAt(text, reading.end) != ' ' || !IsAsciiDigit(ByteAt(text, reading.end + 1)))
    return false;
  auto fraction = ReadFraction(text, reading.end + 1, {});
  if (!fraction || fraction->words.size() != 2) return false;
  // Only a fraction below one makes a mixed number: "5 24/7" is none.
  const std::string& part = fraction->words[1];
  if (part != "half" && part != "quarter" && !part.ends_with("ths") && !part.ends_with("th") &&
      part != "quarters" && part != "third" && part != "thirds") {
    return false;
  }
  reading.Append("and");
  if (fraction->words[0] == "one") fraction->words[0] = "a";
  reading.Append(std::move(fraction->words));
  reading.end = fraction->end;
  return true;
}

Amount NumberReader::TakeRange(std::string_view text, const Amount& amount, bool article,
                               Reading& reading) const {
  const size_t dash = DashBytes(text, reading.end);
  if (dash == 0 || !IsAsciiDigit(ByteAt(text, reading.end + dash))) return amount;
  auto second = ParseAmount(text, reading.end + dash);
  // "1-2-3" is no range.
  if (!second || (DashBytes(text, second->end) > 0 &&
                  IsAsciiDigit(ByteAt(text, second->end + DashBytes(text, second->end))))) {
    return amount;
  }
  // "24-7" and "50-50" are no ranges.
  const size_t begin = amount.end - std::min(amount.end, amount.whole.size());
  const bool third = begin > 1 && text[begin - 1] == '-' && IsAsciiDigit(text[begin - 2]);
  const bool both = (amount.whole == "24" && second->whole == "7") || third ||
                    (amount.whole == "9" && second->whole == "11" && article) ||
                    (amount.whole == second->whole && amount.whole.size() > 1);
  // "70-30" shares a whole.
  const bool shares = amount.whole.size() == 2 && second->whole.size() == 2 &&
                      second->fraction.empty() && ParseDigits(amount.whole) >= 50 &&
                      ParseDigits(amount.whole) + ParseDigits(second->whole) == 100;
  if (EqualsBehind(text, second->end)) {
    reading.Append("minus");
  } else if ((!both && !shares) || !amount.fraction.empty()) {
    reading.Append("to");
  }
  reading.Append(PlainWords(*second));
  reading.end = second->end;
  return *std::move(second);
}

std::optional<std::string> NumberReader::TakeUnit(std::string_view text, size_t& at, bool spaced,
                                                  bool one, bool article) const {
  for (const auto& [short_form, word] :
       {std::pair<std::string_view, std::string_view>{"sq", "square"},
        {"cu", "cubic"},
        {"fl", "fluid"}}) {
    if (!text.substr(at).starts_with(short_form) || ByteAt(text, at + 2) != ' ') continue;
    size_t second = at + 3;
    const auto unit = TakeUnit(text, second, true, one, article);
    if (!unit) continue;
    at = second;
    return std::string(word) + " " + *unit;
  }
  size_t end = at;
  size_t slash = std::string_view::npos;
  while (end - at <= 2 * kMaxUnitBytes) {
    const CodePoint c = DecodeAt(text, end);
    const bool part =
        c.bytes > 0 &&
        ((c.value < 0x80 && IsAsciiLetter(static_cast<char>(c.value))) || c.value == 0xB5 ||
         c.value == 0xB2 || c.value == 0xB3 || c.value == 0xC5 || c.value == 0x3A9);
    const bool divides = c.value == '/' && end > at && slash == std::string_view::npos &&
                         IsAsciiLetter(ByteAt(text, end + 1));
    if (divides) slash = end;
    if (!part && !divides) break;
    end += c.bytes;
  }
  if (end == at || IsAsciiDigit(ByteAt(text, end))) return std::nullopt;
  // The stop of "a 5 lb. bag" is the unit's.
  const size_t behind =
      end + (ByteAt(text, end) == '.' && IsLowerBehindSpace(text, end + 1) ? 1 : 0);
  const auto named = [&](const Unit& unit) {
    return std::string(one || (article && NounFollows(text, behind)) ? unit.singular : unit.plural);
  };
  // "2 pt of milk" is no size of letters.
  if (text.substr(at, end - at) == "pt" && text.substr(behind, 4) == " of ") {
    at = end;
    return one ? "pint" : "pints";
  }
  // "3m people" are counted, not measured.
  if (end == at + 1 && !spaced) {
    const std::string_view magnitude = CountedMagnitude(text[at], text.substr(end));
    if (!magnitude.empty()) {
      at = end;
      return std::string(magnitude);
    }
  }
  // Modems are rated in thousands of bits, and interest in fewer points.
  if (text.substr(at, end - at) == "bps" && EndsThousands(text, at)) {
    at = end;
    return "bits per second";
  }
  // "1 in. wide".
  const bool inch = text.substr(at, 4) == "in. " && IsAsciiLower(ByteAt(text, at + 4));
  // "5 A fuse", where a spaced "A" is no word.
  const bool amps = text.substr(at, end - at) == "A" && CircuitFollows(text.substr(end));
  if (const auto unit = FindUnit(text.substr(at, end - at), spaced && !inch && !amps, dialect_)) {
    at = end;
    return named(*unit);
  }
  if (slash == std::string_view::npos) return std::nullopt;
  const auto above = FindUnit(text.substr(at, slash - at), spaced, dialect_);
  const std::string_view divisor = text.substr(slash + 1, end - slash - 1);
  const auto below = FindUnit(divisor, false, dialect_);
  if (above && IsPeriod(divisor)) {
    at = end;
    return named(*above) + " per " + std::string(divisor);
  }
  if (!above || !below) return std::nullopt;
  at = end;
  return named(*above) + " per " + std::string(below->singular);
}

bool NumberReader::TakeMeasure(std::string_view text, bool one, bool article,
                               Reading& reading) const {
  const bool spaced = ByteAt(text, reading.end) == ' ';
  const bool hyphen = ByteAt(text, reading.end) == '-';
  size_t at = reading.end + (spaced || hyphen ? 1 : 0);
  if (hyphen) {
    // "A 10-kg bag"; not "2-in-1".
    const auto unit = TakeUnit(text, at, false, true, false);
    if (!unit || ByteAt(text, at) == '-' || at < reading.end + 3) return false;
    reading.AppendEach(*unit);
    reading.end = at + (ByteAt(text, at) == '.' && IsLowerBehindSpace(text, at + 1) ? 1 : 0);
    return true;
  }
  if (ByteAt(text, at) == '%') {
    reading.Append("percent");
    reading.end = at + 1;
    return true;
  }
  if (text.substr(at, 2) == "°") {
    size_t end = at + 2;
    const char next = ByteAt(text, end + 1);
    struct Scale {
      char letter;
      std::string_view word;
    };
    constexpr std::array<Scale, 6> kScales = {{{'C', "celsius"},
                                               {'F', "fahrenheit"},
                                               {'N', "north"},
                                               {'S', "south"},
                                               {'E', "east"},
                                               {'W', "west"}}};
    if (ByteAt(text, end) == ' ' && IsAsciiUpper(next) && !IsAsciiAlnum(ByteAt(text, end + 2)))
      ++end;
    const auto* scale = std::ranges::find(kScales, ByteAt(text, end), &Scale::letter);
    const bool scaled = scale != kScales.end() && !IsAsciiAlnum(ByteAt(text, end + 1));
    reading.end = scaled ? end + 1 : at + 2;
    reading.Append(one || (article && NounFollows(text, reading.end)) ? "degree" : "degrees");
    if (scaled) reading.Append(scale->word);
    return true;
  }
  if (const size_t sign = CurrencySignBytes(text, at); sign > 0 &&
                                                       !IsAsciiDigit(ByteAt(text, at + sign)) &&
                                                       !IsAsciiLetter(ByteAt(text, at + sign))) {
    reading.AppendEach(
        CurrencyName(text.substr(at, sign), one || (article && NounFollows(text, at + sign))));
    reading.end = at + sign;
    return true;
  }
  if (!spaced && (ByteAt(text, at) == 'x' || ByteAt(text, at) == 'X') &&
      !IsAsciiAlnum(ByteAt(text, at + 1)) && !IsOperatorBehind(text, at + 1)) {
    reading.Append("times");
    reading.end = at + 1;
    return true;
  }
  const auto unit = TakeUnit(text, at, spaced, one, article);
  if (!unit) return false;
  reading.AppendEach(*unit);
  // The stop of "5 lb. of flour" ends no sentence.
  const char next = ByteAt(text, at + 2);
  if (text.substr(at, 2) == ". " && (IsAsciiLower(next) || IsAsciiDigit(next))) ++at;
  reading.end = at;
  return true;
}

}  // namespace millrace::models
