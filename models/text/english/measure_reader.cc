#include "models/text/english/measure_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/one_of.h"
#include "models/text/english/units.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true if a length ends there: "6 ft 2 in tall", "6 ft 2 in.".
bool IsSizeBehind(std::string_view text, size_t at) {
  if (ByteAt(text, at) != ' ') return true;
  const std::string_view word =
      text.substr(at + 1, LettersEnd(text.substr(0, at + 8), at + 1) - at - 1);
  return IsOneOf(word, "and", "boy", "by", "deep", "girl", "high", "long", "man", "tall", "wide",
                 "woman");
}

// Returns true if a space and a small letter follow.
bool IsLowerBehindSpace(std::string_view text, size_t at) {
  return ByteAt(text, at) == ' ' && IsAsciiLower(ByteAt(text, at + 1));
}

// Returns true if a formula goes on: the "x" of "2x + 1" is a variable.
bool IsOperatorBehind(std::string_view text, size_t at) {
  const size_t sign = at + (ByteAt(text, at) == ' ' ? 1 : 0);
  constexpr std::string_view kOperators = "+-*/=^<>";
  return ByteAt(text, sign) != '\0' && kOperators.find(text[sign]) != std::string_view::npos &&
         (sign == at || ByteAt(text, sign + 1) == ' ');
}

// Returns true if the number that ends there is a part of a formula: the "x" of "y = -3x" is a
// variable.
bool IsOperatorBefore(std::string_view text, size_t end) {
  size_t at = end;
  while (at > 0 && (IsAsciiDigit(text[at - 1]) || text[at - 1] == '.')) --at;
  if (at > 0 && text[at - 1] == '-') --at;
  if (at > 0 && text[at - 1] == ' ') --at;
  // "sin(2x)".
  if (at > 1 && text[at - 1] == '(' && IsAsciiLetter(text[at - 2])) return true;
  if (at > 2 && IsOneOf(text.substr(at - 3, 3), "sin", "cos", "tan", "log")) return true;
  return at > 0 && std::string_view("+*=/").find(text[at - 1]) != std::string_view::npos;
}

// Returns true if a single quotation mark before `at` is still open.
bool IsQuoted(std::string_view text, size_t at) {
  constexpr size_t kFarthest = 64;
  const size_t begin = at > kFarthest ? at - kFarthest : 0;
  const std::string_view before = text.substr(begin, at - begin);
  return before.starts_with('\'') || before.find(" '") != std::string_view::npos;
}

// Returns true if a hyphen joins the number that ends there to letters: "I-5".
bool EndsName(std::string_view text, size_t end) {
  while (end > 0 && IsAsciiDigit(text[end - 1])) --end;
  return end > 1 && text[end - 1] == '-' && IsAsciiLetter(text[end - 2]);
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

// Returns true if a whole number of one or two digits ends before `at`.
bool EndsSmallNumber(std::string_view text, size_t at) {
  constexpr size_t kMaxDigits = 2;
  size_t begin = at;
  while (begin > 0 && IsAsciiDigit(text[begin - 1])) --begin;
  return at > begin && at - begin <= kMaxDigits &&
         (begin == 0 || text[begin - 1] == ' ' || text[begin - 1] == '(');
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

// Returns true if the text before `at` speaks of what is paid, or of people.
bool SpeaksOfMoney(std::string_view text, size_t at) {
  constexpr size_t kFarthest = 40;
  const size_t begin = at > kFarthest ? at - kFarthest : 0;
  const std::string_view before = text.substr(begin, at - begin);
  constexpr auto kWords = std::to_array<std::string_view>(
      {"$", "£", "€", "salary", "earn", "pay", "paid", "cost", "price", "raise", "sold", "worth",
       "budget", "followers", "users", "people"});
  return std::ranges::any_of(kWords, [&](auto word) { return before.find(word) != before.npos; });
}

// Returns the unit at `at`, also one of two parts ("mg/L", "sq ft"), and moves `at` behind it.
std::optional<std::string> TakeUnit(EnglishDialect dialect, std::string_view text, size_t& at,
                                    bool spaced, bool one, bool article) {
  for (const auto& [short_form, word] :
       {std::pair<std::string_view, std::string_view>{"sq", "square"},
        {"cu", "cubic"},
        {"fl", "fluid"}}) {
    const size_t stop = ByteAt(text, at + 2) == '.' ? 1 : 0;
    if (!text.substr(at).starts_with(short_form) || ByteAt(text, at + 2 + stop) != ' ') continue;
    size_t second = at + 3 + stop;
    const auto unit = TakeUnit(dialect, text, second, true, one, article);
    if (!unit) continue;
    at = second;
    return std::string(word) + " " + *unit;
  }
  size_t end = at;
  bool divided = false;
  while (end - at <= 2 * kMaxUnitBytes) {
    const CodePoint c = DecodeAt(text, end);
    const bool part =
        c.bytes > 0 &&
        ((c.value < 0x80 && IsAsciiLetter(static_cast<char>(c.value))) || c.value == 0xB5 ||
         c.value == 0xB2 || c.value == 0xB3 || c.value == 0xC5 || c.value == 0x3A9);
    const bool divides =
        c.value == '/' && end > at && !divided && IsAsciiLetter(ByteAt(text, end + 1));
    divided = divided || divides;
    if (!part && !divides) break;
    end += c.bytes;
  }
  // "10p", but "1080p" are lines of a picture.
  if (!spaced && text.substr(at, end - at) == "p" && EndsSmallNumber(text, at)) {
    at = end;
    return article && NounFollows(text, at) ? "P." : one ? "penny" : "pence";
  }
  // "9.81 m/s2", "40 m2".
  const bool power = (ByteAt(text, end) == '2' || ByteAt(text, end) == '3') && end > at &&
                     !IsAsciiAlnum(ByteAt(text, end + 1));
  if (power && (divided || IsOneOf(text.substr(at, end - at), "m", "cm", "km", "mm", "ft", "mi"))) {
    const std::string_view sign = text[end] == '2' ? "²" : "³";
    const auto unit =
        FindUnit(std::string(text.substr(at, end - at)) + std::string(sign), spaced, dialect);
    if (!unit) return std::nullopt;
    at = end + 1;
    return one || (article && NounFollows(text, at)) ? unit->singular : unit->plural;
  }
  if (end == at || IsAsciiDigit(ByteAt(text, end))) return std::nullopt;
  // The stop of "a 5 lb. bag" is the unit's.
  const size_t behind =
      end + (ByteAt(text, end) == '.' && IsLowerBehindSpace(text, end + 1) ? 1 : 0);
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
  // "130 mm Hg".
  if (text.substr(at).starts_with("mm Hg") && !IsAsciiAlnum(ByteAt(text, at + 5))) {
    at += 5;
    return one ? "millimeter of mercury" : "millimeters of mercury";
  }
  // "1 in. wide".
  const bool inch = text.substr(at, 4) == "in. " && IsAsciiLower(ByteAt(text, at + 4));
  // "5 A fuse", where a spaced "A" is no word.
  const bool amps = text.substr(at, end - at) == "A" && CircuitFollows(text.substr(end));
  // "300 K" is a temperature, but a salary of so much is none.
  if (spaced && text.substr(at, end - at) == "K" && !SpeaksOfMoney(text, at) &&
      !MeasuredFollows(text, end)) {
    at = end;
    return "kelvin";
  }
  // "9.8 N", but not "5 N Main St" and "I-5 N".
  if (text.substr(at, end - at) == "N" && !EndsName(text, at - (spaced ? 1 : 0)) &&
      !(ByteAt(text, end) == ' ' && IsAsciiUpper(ByteAt(text, end + 1)))) {
    at = end;
    return one ? "newton" : "newtons";
  }
  const bool land = text.substr(at, 6) == "ha of ";
  const auto unit = FindUnit(text.substr(at, end - at), spaced && !inch && !amps && !land, dialect);
  if (!unit) return std::nullopt;
  at = end;
  const bool belongs = (article && NounFollows(text, behind)) || MeasuredFollows(text, behind);
  return one || belongs ? unit->singular : unit->plural;
}

}  // namespace

std::optional<Reading> ReadCompound(const NumberWords& numbers, EnglishDialect dialect,
                                    std::string_view text, size_t at) {
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
        reading.Append(numbers.Cardinal(value));
        reading.Append(value == 1 ? "day" : "days");
      } else {
        reading.Append(numbers.Cardinal(value));
        const Unit words = *FindUnit(name, false, dialect);
        reading.AppendEach(value == 1 ? words.singular : words.plural);
      }
      reading.end = unit_end;
      ++parts;
    }
    if (parts >= 2 && !IsAsciiAlnum(ByteAt(text, reading.end))) return reading;
  }
  return std::nullopt;
}

std::optional<Reading> ReadMinutes(const NumberWords& numbers, std::string_view text, size_t at,
                                   std::string_view previous) {
  if (previous != "hour" && previous != "hours") return std::nullopt;
  const size_t end = DigitsEnd(text.substr(0, at + 3), at);
  if (end == at || end - at > 2 || ByteAt(text, end) != 'm' ||
      IsAsciiAlnum(ByteAt(text, end + 1))) {
    return std::nullopt;
  }
  const uint64_t minutes = ParseDigits(text.substr(at, end - at));
  Reading reading{end + 1, numbers.Cardinal(minutes)};
  reading.Append(minutes == 1 ? "minute" : "minutes");
  return reading;
}

std::optional<Reading> ReadUnitAlone(std::string_view text, size_t at) {
  size_t end = LettersEnd(text.substr(0, at + 3), at);
  if (end == at || ByteAt(text, end) != '/') return std::nullopt;
  end = LettersEnd(text.substr(0, end + 3), end + 1);
  const auto unit = FindUnit(text.substr(at, end - at), false, EnglishDialect::kUs);
  const size_t above = text.find('/', at) - at;
  if (!unit || IsAsciiAlnum(ByteAt(text, end)) || (above < 2 && text.substr(at, end - at) != "m/s"))
    return std::nullopt;
  Reading reading{end, {}};
  reading.AppendEach(unit->plural);
  return reading;
}

Reading ReadPer(std::string_view text, size_t word) {
  size_t end = LettersEnd(text.substr(0, word + 6), word);
  if (text.substr(end, 2) == "²" || text.substr(end, 2) == "³") end += 2;
  const std::string_view symbol = text.substr(word, end - word);
  const bool stop = ByteAt(text, end) == '.';
  if (IsOneOf(symbol, "cu", "sq")) {
    size_t last = word;
    if (const auto unit = TakeUnit(EnglishDialect::kUs, text, last, true, true, false)) {
      Reading reading{last, {"per"}};
      reading.AppendEach(*unit);
      return reading;
    }
  }
  if (symbol == "ea") return {end + (stop ? 1 : 0), {"each"}};
  const auto unit = FindUnit(symbol, false, EnglishDialect::kUs);
  if (!unit || IsAsciiAlnum(ByteAt(text, end))) return {word, {"per"}};
  Reading reading{end + (stop && symbol.size() > 1 ? 1 : 0), {"per"}};
  reading.AppendEach(unit->singular);
  return reading;
}

bool TakeFeet(const NumberWords& numbers, std::string_view text, const Amount& amount,
              const NumberContext& context, Reading& reading) {
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
    reading.Append(AmountWords(numbers, amount));
    reading.Append(attributive || amount.IsOne() ? "foot" : "feet");
    reading.end = amount.end + 1;
    return true;
  }
  reading.Append(AmountWords(numbers, amount));
  reading.Append("foot");
  reading.Append(numbers.Whole(text.substr(inches, end - inches)));
  reading.end = end + (is_height && ByteAt(text, end) != '"' ? 0 : 1);
  return true;
}

bool TakeMeasure(EnglishDialect dialect, std::string_view text, bool one, bool article,
                 Reading& reading) {
  const bool spaced = ByteAt(text, reading.end) == ' ';
  const bool hyphen = ByteAt(text, reading.end) == '-';
  size_t at = reading.end + (spaced || hyphen ? 1 : 0);
  if (hyphen) {
    // "A 10-kg bag"; not "2-in-1".
    const auto unit = TakeUnit(dialect, text, at, false, true, false);
    const bool old = text.substr(std::min(at, text.size())).starts_with("-old");
    if (!unit || (ByteAt(text, at) == '-' && !old) || at < reading.end + 3) return false;
    reading.AppendEach(*unit);
    reading.end = at + (ByteAt(text, at) == '.' && IsLowerBehindSpace(text, at + 1) ? 1 : 0);
    return true;
  }
  // "7 % 3" is a remainder.
  if (spaced && text.substr(at, 2) == "% " && IsAsciiDigit(ByteAt(text, at + 2))) return false;
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
    const bool belongs =
        (article && NounFollows(text, reading.end)) || MeasuredFollows(text, reading.end);
    reading.Append(one || belongs ? "degree" : "degrees");
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
      !IsAsciiAlnum(ByteAt(text, at + 1)) && !IsOperatorBehind(text, at + 1) &&
      !IsOperatorBefore(text, at)) {
    reading.Append("times");
    reading.end = at + 1;
    return true;
  }
  const auto unit = TakeUnit(dialect, text, at, spaced, one, article);
  if (!unit) return false;
  reading.AppendEach(*unit);
  // The stop of "5 lb. of flour" ends no sentence.
  const char next = ByteAt(text, at + 2);
  if (text.substr(at, 2) == ". " && (IsAsciiLower(next) || IsAsciiDigit(next))) ++at;
  reading.end = at;
  return true;
}

}  // namespace millrace::models
