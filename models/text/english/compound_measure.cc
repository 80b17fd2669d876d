#include "models/text/english/compound_measure.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/fraction_reader.h"
#include "models/text/english/one_of.h"
#include "models/text/english/units.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true if a length ends there: "6 ft 2 in tall", "6 ft 2 in.".
bool IsSizeBehind(std::string_view text, size_t at) {
  if (ByteAt(text, at) != ' ') return true;
  return IsOfKind(LettersAt(text, at + 1), "behind-size");
}

// Returns true if a single quotation mark before `at` is still open.
bool IsQuoted(std::string_view text, size_t at) {
  constexpr size_t kFarthest = 64;
  const size_t begin = at > kFarthest ? at - kFarthest : 0;
  const std::string_view before = text.substr(begin, at - begin);
  return before.starts_with('\'') || before.find(" '") != std::string_view::npos;
}

// Returns true for the minutes of goals: "Saka 67'", "Rice (12', 78')". The number begins and its
// sign ends there.
bool IsMinuteOfMatch(std::string_view text, size_t begin, size_t end) {
  const char behind = ByteAt(text, end);
  if (behind != '\0' && !IsAmong(",;)\n", behind) &&
      !(behind == '.' && !IsAsciiAlnum(ByteAt(text, end + 1))) && text.substr(end, 2) != " (" &&
      !IsOfKind(LettersAt(text, end + 1), "behind-goal"))
    return false;
  // The first one of several.
  for (const std::string_view joint : {"', ", "' and "}) {
    while (text.substr(0, begin).ends_with(joint)) {
      begin -= joint.size();
      begin = DigitsBegin(text, begin);
    }
  }
  if (begin > 1 && text[begin - 1] == '(') --begin;
  if (begin < 2 || text[begin - 1] != ' ') return false;
  size_t name = begin - 1;
  while (name > 0 && !IsSpace(DecodeBefore(text, name).value))
    name -= DecodeBefore(text, name).bytes;
  return begin - name > 3 && text.substr(name, begin - name).find('\'') == std::string_view::npos &&
         IsUpper(DecodeAt(text, name).value) &&
         !IsOfKind(text.substr(name, begin - 1 - name), "before-height");
}

// Takes the end of a strand, "the 5' end" and "5'-3'", and the minute of a match, "90+3'".
bool TakePrime(const NumberWords& numbers, std::string_view text, const Amount& amount,
               Reading& reading) {
  const size_t begin = amount.end - std::min(amount.end, amount.whole.size());
  const std::string_view before = text.substr(0, begin);
  const std::string_view behind = text.substr(amount.end + 1);
  const bool stoppage = before.ends_with('+') && begin > 1 && IsAsciiDigit(text[begin - 2]);
  const bool last = before.ends_with("'-") || before.ends_with("'→") || before.ends_with("' to ");
  const bool strand =
      (amount.whole == "3" || amount.whole == "5") &&
      (last || BeginsWithOne(behind, "-| cap| end| overhang| splice| to 3'| to 5'| UTR|→"));
  constexpr uint64_t kLastMinute = 120;
  if (!stoppage && !strand && amount.fraction.empty() && ParseDigits(amount.whole) <= kLastMinute &&
      IsMinuteOfMatch(text, begin, amount.end + 1)) {
    reading.Append(numbers.Ordinal(ParseDigits(amount.whole)));
    reading.Append("minute");
    reading.end = amount.end + 1;
    return true;
  }
  const bool inches = behind.starts_with('-') && IsAsciiDigit(ByteAt(behind, 1)) &&
                      ByteAt(behind, DigitsEnd(behind, 1)) == '"';
  if ((!stoppage && !strand) || inches) return false;
  reading.Append(AmountWords(numbers, amount));
  if (strand) reading.Append("prime");
  reading.end = amount.end + 1;
  if (!behind.starts_with('-') || !IsAsciiDigit(ByteAt(behind, 1))) return true;
  reading.Append("to");
  ++reading.end;
  return true;
}

}  // namespace

std::optional<Reading> ReadCompound(const NumberWords& numbers, EnglishDialect dialect,
                                    std::string_view text, size_t at, bool article) {
  using Family = std::array<std::string_view, 4>;
  constexpr std::array<Family, 4> kFamilies = {{{"d", "h", "m", "s"},
                                                {"d", "hr", "min", "sec"},
                                                {"st", "lb", "oz", ""},
                                                {"ft", "in", "", ""}}};
  constexpr size_t kMaxDigits = 4;
  constexpr size_t kMaxUnitLetters = 4;
  for (const Family& family : kFamilies) {
    Reading reading{at, {}};
    std::vector<std::pair<size_t, std::string>> singulars;  // the places of the units
    size_t rank = 0;
    for (size_t next = at;; next = reading.end + (ByteAt(text, reading.end) == ' ' ? 1 : 0)) {
      size_t end = DigitsEnd(text, next, kMaxDigits);
      const size_t whole = end;
      // "1m 32.5s".
      if (rank > 0 && ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1)))
        end = DigitsEnd(text.substr(0, end + kMaxDigits), end + 1);
      // "6 ft 2 in", where "in" may be another word.
      const bool spaced = ByteAt(text, end) == ' ' && family[0] == "ft";
      const size_t unit_begin = end + (spaced ? 1 : 0);
      const std::string_view unit = LettersAt(text, unit_begin, kMaxUnitLetters);
      const size_t unit_end = unit_begin + unit.size();
      if (spaced && unit == "in" && !IsSizeBehind(text, unit_end)) break;
      const auto found =
          std::find(family.begin() + static_cast<ptrdiff_t>(rank), family.end(), unit);
      if (end == next || unit.empty() || found == family.end()) break;
      const uint64_t value = ParseDigits(text.substr(next, whole - next));
      rank = static_cast<size_t>(found - family.begin()) + 1;
      reading.Append(numbers.Cardinal(value));
      if (end > whole) {
        reading.Append("point");
        reading.Append(numbers.Digits(text.substr(whole + 1, end - whole - 1)));
      }
      const Unit words =
          unit == "d" ? Unit{"day", "days"} : *FindUnit(unit == "m" ? "min" : unit, false, dialect);
      singulars.emplace_back(reading.words.size(), words.singular);
      reading.Append(value == 1 && end == whole ? words.singular : words.plural);
      reading.end = unit_end;
    }
    if (singulars.size() < 2 || IsAsciiAlnum(ByteAt(text, reading.end))) continue;
    // "A 6 ft 2 in man".
    if (article && NounFollows(text, reading.end)) {
      for (auto& [at_word, singular] : singulars) reading.words[at_word] = std::move(singular);
    }
    return reading;
  }
  return std::nullopt;
}

std::optional<Reading> ReadMinutes(const NumberWords& numbers, std::string_view text, size_t at,
                                   std::string_view previous) {
  if (previous != "hour" && previous != "hours") return std::nullopt;
  const size_t end = DigitsEnd(text, at, 3);
  if (end == at || end - at > 2 || ByteAt(text, end) != 'm' ||
      IsAsciiAlnum(ByteAt(text, end + 1))) {
    return std::nullopt;
  }
  const uint64_t minutes = ParseDigits(text.substr(at, end - at));
  Reading reading{end + 1, numbers.Cardinal(minutes)};
  reading.Append(minutes == 1 ? "minute" : "minutes");
  return reading;
}

bool TakeFeet(const NumberWords& numbers, std::string_view text, const Amount& amount,
              const NumberContext& context, Reading& reading) {
  if (ByteAt(text, amount.end) != '\'') return false;
  if (TakePrime(numbers, text, amount, reading)) return true;
  // "6'x9'", of which the second one has the unit.
  if (ByteAt(text, amount.end + 1) == 'x' && IsAsciiDigit(ByteAt(text, amount.end + 2))) {
    reading.Append(AmountWords(numbers, amount));
    reading.end = amount.end + 1;
    return true;
  }
  const char joint = ByteAt(text, amount.end + 1);
  const size_t inches = amount.end + (joint == ' ' || joint == '-' ? 2 : 1);
  const size_t end = DigitsEnd(text, inches, 3);
  // "5'9½\"".
  Reading part{end, {}};
  if (end > inches && ByteAt(text, end) != ' ' && TakeMixedFraction(numbers, text, part) &&
      ByteAt(text, part.end) == '"') {
    reading.Append(AmountWords(numbers, amount));
    reading.Append("foot");
    reading.Append(numbers.Whole(text.substr(inches, end - inches)));
    reading.Append(std::move(part.words));
    reading.end = part.end + 1;
    return true;
  }
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

}  // namespace millrace::models
