#include "models/text/english/number_ending.h"

#include <string>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/one_of.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true for words after which "90s" is a time and no decade.
bool PrecedesDuration(std::string_view word) {
  return IsOneOf(word, "about", "after", "another", "every", "for", "in", "lasted", "lasts", "only",
                 "takes", "took", "wait", "within", "under");
}

// Takes the end of a range of ordinals: 1st-3rd.
void TakeLastOrdinal(const NumberWords& numbers, std::string_view text, Reading& reading) {
  const CodePoint dash = DecodeAt(text, reading.end);
  if (dash.value != '-' && dash.value != U'–') return;
  const size_t digits = reading.end + dash.bytes;
  const size_t letters = DigitsEnd(text.substr(0, digits + 5), digits);
  const std::string ending = AsciiLower(text.substr(letters, 2));
  if (letters == digits || IsAsciiAlnum(ByteAt(text, letters + 2)) ||
      (ending != "st" && ending != "nd" && ending != "rd" && ending != "th"))
    return;
  reading.Append("to");
  reading.Append(numbers.Ordinal(ParseDigits(text.substr(digits, letters - digits))));
  reading.end = letters + 2;
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
  const size_t end = LettersEnd(text.substr(0, letters + 3), letters);
  const std::string ending = AsciiLower(text.substr(letters, end - letters));
  if (IsAsciiDigit(ByteAt(text, end))) return false;
  const bool stones = ending == "st" && (value % 10 != 1 || value % 100 == 11);
  // "F.3d", "F. Supp. 2d" in citations.
  const size_t digits = amount.end - std::min(amount.end, amount.whole.size());
  const size_t stop = digits - (digits > 1 && text[digits - 1] == ' ' ? 1 : 0);
  const bool cited = ending == "d" && apostrophe == 0 && (value % 10 == 2 || value % 10 == 3) &&
                     stop > 1 && text[stop - 1] == '.' && IsAsciiLetter(text[stop - 2]);
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
  const bool decade = value % 10 == 0 && (amount.whole.size() != 2 || NounFollows(text, end) ||
                                          !PrecedesDuration(context.previous));
  if (apostrophe == 0 && text[letters] == 's' && !context.label && value < 100 && value > 9 &&
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
