#include "models/text/english/number_ending.h"

#include <algorithm>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/formula.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true for words before which "2s" is a time.
bool DurationFollows(std::string_view behind) {
  return BeginsWithOne(behind, " ago| delay| faster| late| pause| slower| timeout") ||
         IsOfKind(LettersAt(behind, 1), "timed-in-seconds");
}

// Takes the end of a range of ordinals: 1st-3rd.
void TakeLastOrdinal(const NumberWords& numbers, std::string_view text, Reading& reading) {
  const CodePoint dash = DecodeAt(text, reading.end);
  if (dash.value != '-' && dash.value != U'–') return;
  const size_t digits = reading.end + dash.bytes;
  const size_t letters = DigitsEnd(text, digits, 5);
  const std::string ending = AsciiLower(text.substr(letters, 2));
  if (letters == digits || IsAsciiAlnum(ByteAt(text, letters + 2)) ||
      (ending != "st" && ending != "nd" && ending != "rd" && ending != "th"))
    return;
  reading.Append("to");
  reading.Append(numbers.Ordinal(ParseDigits(text.substr(digits, letters - digits))));
  reading.end = letters + 2;
}

// Returns true for the age and the sex of a person, whose letter is at `letter`: "my wife (32F)",
// "I'm 28M".
bool IsAgeAndSex(std::string_view text, size_t begin, size_t letter, std::string_view previous) {
  const char sex = ByteAt(text, letter);
  if (letter != begin + 2 || (sex != 'F' && sex != 'M') || IsAsciiAlnum(ByteAt(text, letter + 1)))
    return false;
  if (previous == "i'm") return true;
  if (begin < 3 || text[begin - 1] != '(' || ByteAt(text, letter + 1) != ')') return false;
  const size_t end = begin - (text[begin - 2] == ' ' ? 2 : 1);
  return IsOfKind(AsciiLower(LettersBefore(text, end)), "aged-person");
}

// Returns true if the formula of an ion, as "SO4", and a space end at `end`.
bool EndsFormula(std::string_view text, size_t end) {
  constexpr size_t kMaxDigits = 2;
  if (end < 3 || text[end - 1] != ' ') return false;
  const size_t digits = DigitsBegin(text, end - 1, kMaxDigits);
  const size_t letters = LettersBegin(text, digits);
  return digits < end - 1 && IsFormula(text, letters, digits);
}

}  // namespace

bool TakeNumberEnding(const NumberWords& numbers, std::string_view text, const Amount& amount,
                      const NumberContext& context, Reading& reading) {
  if (!amount.fraction.empty() || amount.whole.size() > kMaxCardinalDigits) return false;
  const uint64_t value = ParseDigits(amount.whole);
  const size_t apostrophe = ByteAt(text, amount.end) == '\''    ? 1
                            : text.substr(amount.end, 3) == "’" ? 3
                                                                : 0;
  const size_t letters = amount.end + apostrophe;
  const size_t end = LettersEnd(text, letters, 3);
  const std::string ending = AsciiLower(text.substr(letters, end - letters));
  if (IsAsciiDigit(ByteAt(text, end))) return false;
  const bool stones = ending == "st" && (value % 10 != 1 || value % 100 == 11);
  // "F.3d", "F. Supp. 2d" in citations.
  const size_t digits = amount.end - std::min(amount.end, amount.whole.size());
  const size_t stop = digits - (digits > 1 && text[digits - 1] == ' ' ? 1 : 0);
  const bool cited = ending == "d" && apostrophe == 0 && (value % 10 == 2 || value % 10 == 3) &&
                     stop > 1 && text[stop - 1] == '.' && IsAsciiLetter(text[stop - 2]);
  if (apostrophe == 0 && IsAgeAndSex(text, digits, letters, context.previous)) {
    reading.Append(numbers.Cardinal(value));
    reading.Append(std::string(1, text[letters]) + ".");
    reading.end = end;
    return true;
  }
  // The hour elsewhere: "8PM/7C", "8/7c".
  if (ending == "c" && apostrophe == 0 && digits > 1 && text[digits - 1] == '/' && value >= 1 &&
      value <= 12 && (IsAsciiDigit(text[digits - 2]) || AsciiLower(text[digits - 2]) == 'm')) {
    reading.Append(numbers.Cardinal(value));
    reading.Append("central");
    reading.end = end;
    return true;
  }
  // The charge of "SO4 2-".
  const char charge = ByteAt(text, amount.end);
  if ((charge == '-' || charge == '+') && EndsFormula(text, digits) &&
      !IsAsciiAlnum(ByteAt(text, amount.end + 1))) {
    reading.Append(numbers.Cardinal(value));
    reading.Append(charge == '+' ? "plus" : "minus");
    reading.end = amount.end + 1;
    return true;
  }
  if (cited) {
    reading.Append(numbers.Ordinal(value));
    reading.end = end;
    return true;
  }
  if (apostrophe == 0 && !stones &&
      (ending == "st" || ending == "nd" || ending == "rd" || ending == "th")) {
    reading.Append(numbers.Ordinal(value));
    reading.end = end;
    TakeLastOrdinal(numbers, text, reading);
    return true;
  }
  // "Her 5yo", "an 80yo man".
  if (ending == "yo" && apostrophe == 0) {
    reading.Append(numbers.Cardinal(value));
    reading.Append(context.article || NounFollows(text, end) ? "year" : "years");
    reading.Append("old");
    reading.end = end;
    return true;
  }
  // "49ers", "76ers".
  if (ending == "ers" && apostrophe == 0 && value < 100) {
    reading.Append(numbers.Cardinal(value));
    reading.words.back() += reading.words.back().ends_with('e') ? "rs" : "ers";
    reading.end = end;
    return true;
  }
  // "100s", "10,000s".
  const std::string_view multiples = MultiplesOf(amount);
  if (ending == "s" && apostrophe == 0 && !multiples.empty()) {
    reading.AppendEach(multiples);
    reading.end = end;
    return true;
  }
  // "1990s", "80s", "747s", but "iPhone 12S".
  const bool letter = text.substr(letters, 1) == "S" && value % 10 != 0;
  if (ending != "s" || amount.grouped || letter) return false;
  // "15s" is a time; "80s" are years, but not in "wait 80s"; "B-52s" are airplanes.
  // "10s delay", "timeout=30s".
  const bool timed = DurationFollows(text.substr(end)) || (digits > 0 && text[digits - 1] == '=');
  const bool decade = value % 10 == 0 && !timed &&
                      (amount.whole.size() != 2 || NounFollows(text, end) ||
                       !IsOfKind(context.previous, "before-seconds"));
  const bool hyphen = digits > 0 && text[digits - 1] == '-';  // "under-18s"
  if (apostrophe == 0 && text[letters] == 's' && !context.label && !hyphen && value < 100 &&
      (value > 9 || IsOfKind(context.previous, "before-seconds") ||
       DurationFollows(text.substr(end))) &&
      !decade && (value < 60 || value % 10 == 0)) {
    reading.Append(numbers.Cardinal(value));
    reading.Append(context.article && NounFollows(text, end) ? "second" : "seconds");
    reading.end = end;
    return true;
  }
  if (amount.IsYear() && value % 10 == 0) {
    reading.Append(numbers.Decade(static_cast<unsigned>(value)));
  } else if (apostrophe == 0 || value % 10 == 0) {
    reading.Append(amount.IsYear() ? numbers.Year(static_cast<unsigned>(value))
                                   : numbers.Whole(amount.whole));
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

}  // namespace millrace::models
