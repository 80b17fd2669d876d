#include "models/text/english/fraction_reader.h"

#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/one_of.h"
#include "models/text/english/units.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true for words after which "4/5" is a rating.
bool Rates(std::string_view word) {
  return IsOneOf(word, "hp", "mp", "rated", "rating", "score", "scored", "scores");
}

// Returns true if the fraction stands for itself behind a colon or in brackets: "HP: 45/100",
// "(3/10)".
bool IsLabelled(std::string_view text, size_t at, size_t end) {
  const char behind = ByteAt(text, end);
  if (at > 0 && text[at - 1] == '(') return behind == ')';
  const bool ends = behind == '\0' || IsAmong(",.;!)\n", behind);
  return at > 1 && text.substr(at - 2, 2) == ": " && ends;
}

// Returns true if a word with a capital is right before.
bool FollowsName(std::string_view text, size_t at) {
  if (at < 2 || text[at - 1] != ' ') return false;
  const size_t begin = LettersBegin(text, at - 1);
  return begin + 1 < at && IsAsciiUpper(text[begin]);
}

}  // namespace

std::optional<Reading> ReadFractionSign(std::string_view text, size_t at) {
  const size_t end = at + DecodeAt(text, at).bytes;
  const auto spoken = FindSpoken(text.substr(at, end - at), "fraction");
  return spoken ? std::optional(ReadAs(end, *spoken)) : std::nullopt;
}

std::optional<Reading> ReadFraction(const NumberWords& numbers, std::string_view text, size_t at,
                                    std::string_view previous) {
  const size_t slash = DigitsEnd(text, at, 4);
  // "28/7/8" are three numbers.
  const bool third = at > 1 && text[at - 1] == '/' && IsAsciiDigit(text[at - 2]);
  if (slash == at || slash - at > 3 || ByteAt(text, slash) != '/' || third) return std::nullopt;
  size_t end = DigitsEnd(text.substr(0, slash + 6), slash + 1);
  if (end == slash + 1 || end - slash > 5) return std::nullopt;
  const uint64_t count = ParseDigits(text.substr(at, slash - at));
  const uint64_t part = ParseDigits(text.substr(slash + 1, end - slash - 1));
  if (end - slash == 5 && part != 1000) return std::nullopt;  // a month and a year
  // "2/3rds".
  if (IsOneOf(text.substr(end, 3), "rds", "ths") && count < part) end += 3;
  // "1/250s".
  const bool seconds =
      count == 1 && ByteAt(text, end) == 's' && !IsAsciiAlnum(ByteAt(text, end + 1));
  if ((IsAsciiAlnum(ByteAt(text, end)) && !seconds) || ByteAt(text, end) == '/')
    return std::nullopt;
  Reading reading{end, numbers.Cardinal(count)};
  // "Page 3/10", but not "Pi Day, 3/14".
  if (IsOfKind(previous, "paged") && count <= part && !text.substr(0, at).ends_with(", ")) {
    reading.Append("of");
    reading.Append(numbers.Cardinal(part));
    return reading;
  }
  constexpr uint64_t kDays = 31;  // "1/15" may be a day
  const bool spoken_as_part =
      part >= 2 && (part <= 10 || part == 12 || part == 16 || part == 20 || part == 32 ||
                    part == 64 || part == 100 || part == 1000 || (count == 1 && part > kDays));
  // An exposure: "1/500 s".
  const bool exposure =
      seconds || (count == 1 && part > 1 &&
                  IsOneOf(LettersAt(text, end + 1), "s", "sec", "second", "seconds"));
  // "24/7", "9/11", "4/20" and the like are two numbers.
  const bool is_part =
      exposure || (spoken_as_part && count > 0 && count < part && !(count == 4 && part == 20));
  const bool scale = part == 5 || part == 10 || part == 100;
  const bool rated = RatesBehind(text, end) || Rates(previous);
  const bool best = count == part && (part == 10 || part == 100 || (scale && rated));
  const bool labelled =
      (scale || part == 20 || part == 50) && count < part && IsLabelled(text, at, end);
  // "3/4 time" is a beat.
  if (IsOneOf(LettersAt(text, end + 1), "time", "waltz") && (part == 2 || part == 4 || part == 8)) {
    reading.Append(numbers.Cardinal(part));
    return reading;
  }
  // "9/10 dentists", but "9/10 miles" are measured.
  const bool counted = is_part && (part == 5 || part == 10) && PluralFollows(text, end) &&
                       !FindUnit(LettersAt(text, end + 1), true, EnglishDialect::kUs) &&
                       !IsOfKind(LettersAt(text, end + 1), "measured-parts");
  // "425/500 GB".
  const std::string_view unit = LettersAt(text, end + (ByteAt(text, end) == ' ' ? 1 : 0));
  const bool filled = count < part && unit.size() == 2 && unit[1] == 'B' &&
                      FindUnit(unit, true, EnglishDialect::kUs);
  if ((is_part && scale && rated) || best || labelled || counted || filled) {
    reading.AppendEach("out of");
    reading.Append(numbers.Cardinal(part));
    return reading;
  }
  constexpr size_t kOddsBytes = 24;
  const size_t near = at - std::min(at, kOddsBytes);
  const bool odds = text.substr(near, at - near).find("odds") != std::string_view::npos ||
                    IsOfKind(LettersAt(text, end + 1), "odds");
  // "Pi is about 22/7."
  if (count > part && part > 1 && IsOneOf(previous, "about", "approximately", "equals", "roughly"))
    reading.Append("over");
  if (count >= part && (ByteAt(text, end) == '=' || text.substr(end, 2) == " ="))
    reading.AppendEach("divided by");
  if (count > part && odds && !(count == 24 && part == 7)) reading.Append("to");
  // Runs and wickets: "England were 245/6".
  constexpr uint64_t kFewRuns = 30;
  constexpr uint64_t kWickets = 10;
  constexpr uint64_t kManyRuns = 100;
  const bool score = IsOneOf(previous, "are", "declared", "reached", "were") ||
                     (count > kManyRuns && FollowsName(text, at));
  if (count >= kFewRuns && part <= kWickets && score) {
    reading.Append("for");
  } else if (count > kManyRuns && part <= kWickets && count != part && !odds) {
    reading.Append("over");
  }
  // A blood pressure.
  if (count > part && count >= 70 && count <= 250 && part >= 40 && end - at >= 5)
    reading.Append("over");
  reading.Append(is_part ? numbers.Denominator(part, count != 1) : numbers.Cardinal(part));
  return reading;
}

bool TakeMixedFraction(const NumberWords& numbers, std::string_view text, Reading& reading) {
  const size_t spaced = ByteAt(text, reading.end) == ' ' ? 1 : 0;
  if (auto sign = ReadFractionSign(text, reading.end + spaced)) {
    reading.Append("and");
    if (sign->words[0] == "one") sign->words[0] = sign->words[1] == "eighth" ? "an" : "a";
    reading.Append(std::move(sign->words));
    reading.end = sign->end;
    return true;
  }
  // "4 1/2" and "4-1/2".
  if ((ByteAt(text, reading.end) != ' ' && ByteAt(text, reading.end) != '-') ||
      !IsAsciiDigit(ByteAt(text, reading.end + 1)))
    return false;
  auto fraction = ReadFraction(numbers, text, reading.end + 1, {});
  if (!fraction || fraction->words.size() != 2) return false;
  // Only a fraction below one makes a mixed number: "5 24/7" is none.
  const std::string& part = fraction->words[1];
  if (part != "half" && part != "quarter" && !part.ends_with("ths") && !part.ends_with("th") &&
      part != "quarters" && part != "third" && part != "thirds") {
    return false;
  }
  reading.Append("and");
  if (fraction->words[0] == "one") fraction->words[0] = part == "eighth" ? "an" : "a";
  reading.Append(std::move(fraction->words));
  reading.end = fraction->end;
  return true;
}

}  // namespace millrace::models
