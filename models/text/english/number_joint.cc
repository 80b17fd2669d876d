#include "models/text/english/number_joint.h"

#include <string>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/number_words.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"
#include "models/text/english/word_range.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxOperandBytes = 16;

// Returns true after "10:00", "50%", "9am" or "9 a.m.". After a plain number, that number's own
// reader takes the hyphen of a range.
bool EndsAsRange(std::string_view text, size_t end) {
  const char last = text[end - (end > 1 && text.substr(0, end).ends_with("m.") ? 2 : 1)];
  const bool minutes = end >= 3 && IsAsciiDigit(last) && text[end - 3] == ':';
  // "1980s-1990s".
  const bool decade = last == 's' && end >= 3 && IsAsciiDigit(text[end - 2]);
  // "1/4-1/2 inch", "1½-2 cups".
  const size_t part = DigitsBegin(text, end, 3);
  // "A 1/4-20 thread" has twenty of them in an inch.
  const size_t threads = DigitsEnd(text.substr(0, end + 4), std::min(end + 1, text.size()));
  const bool screw = threads == end + 3 && ByteAt(text, threads) != '/';
  const bool fraction =
      (!screw && part < end && part > 1 && text[part - 1] == '/' && IsAsciiDigit(text[part - 2])) ||
      text.substr(0, end).ends_with("½") || text.substr(0, end).ends_with("¼") ||
      text.substr(0, end).ends_with("¾");
  const std::string_view before = text.substr(0, end);
  const bool degrees = before.ends_with("°") || before.ends_with("°C") || before.ends_with("°F");
  return minutes || decade || fraction || degrees || last == '%' || last == 'm' || last == 'M';
}

// Returns true if "=" follows the number at `at`.
bool IsEquated(std::string_view text, size_t at) {
  size_t end = at;
  while (end - at < kMaxOperandBytes &&
         (IsAsciiDigit(ByteAt(text, end)) || ByteAt(text, end) == '.')) {
    ++end;
  }
  return ByteAt(text, end) == '=' || text.substr(end, 2) == " =";
}

// Returns true if the number at `at` is the last side of a size: "8.5 x 11 in", "3 x 4 m".
bool IsMeasured(std::string_view text, size_t at) {
  size_t end = at;
  while (end - at < kMaxOperandBytes &&
         (IsAsciiDigit(ByteAt(text, end)) || ByteAt(text, end) == '.')) {
    ++end;
  }
  if (ByteAt(text, end) == '"') return true;
  if (ByteAt(text, end) == ' ') ++end;
  return IsOfKind(LettersAt(text, end), "side-unit");
}

// Returns true if an article is before the first side of a size, and a noun behind the last: "a 4 x
// 4 truck".
bool IsSize(std::string_view text, size_t at, size_t second) {
  const size_t begin = DigitsBegin(text, at, kMaxOperandBytes);
  const std::string_view before = text.substr(0, begin);
  // The screws "M4 x 12" and "#8 x 1-1/4".
  if (before.ends_with('M') || before.ends_with('#')) return true;
  const bool article = before == "A " || before.ends_with(" a ") || before.ends_with(" an ") ||
                       before.ends_with(" the ");
  const size_t end = DigitsEnd(text, second, kMaxOperandBytes);
  // "5 x 7 print".
  return (article && NounFollows(text, end)) ||
         (MeasuredFollows(text, end) && !PluralFollows(text, end));
}

// Returns true if a number with a point ends there: "4.5".
bool IsDecimal(std::string_view text, size_t end) {
  const size_t at = DigitsBegin(text, end, kMaxOperandBytes);
  return at < end && at > 1 && text[at - 1] == '.' && IsAsciiDigit(text[at - 2]);
}

// Returns true for the best mark of a rating.
bool IsScale(std::string_view text, size_t at) {
  const size_t end = DigitsEnd(text, at, 4);
  const std::string_view best = text.substr(at, end - at);
  return best == "4" || best == "5" || best == "10" || best == "100";
}

// Returns true for a time of the day or a percentage, as the end of a range with spaces.
bool IsTimeOrPercentage(std::string_view text, size_t at) {
  size_t end = DigitsEnd(text, at, 4);
  if (end == at || end - at > 3) return false;
  if (ByteAt(text, end) == ':' || ByteAt(text, end) == '%') return true;
  if (ByteAt(text, end) == ' ') ++end;
  const char half = AsciiLower(ByteAt(text, end));
  const size_t meridiem = end + (ByteAt(text, end + 1) == '.' ? 2 : 1);
  return (half == 'a' || half == 'p') && AsciiLower(ByteAt(text, meridiem)) == 'm' &&
         !IsAsciiAlnum(ByteAt(text, meridiem + 1));
}

// Returns true for a measured volume, of which a dose is.
bool IsVolume(std::string_view text, size_t at) {
  size_t end = DigitsEnd(text, at, 4);
  if (ByteAt(text, end) == ' ') ++end;
  return IsOneOf(LettersAt(text, end), "L", "dL", "mL", "ml");
}

// Returns true for a year with nothing behind it.
bool IsYear(std::string_view text, size_t begin) {
  return DigitsEnd(text, begin, 5) == begin + 4 && (text[begin] == '1' || text[begin] == '2') &&
         !IsAsciiAlnum(ByteAt(text, begin + 4));
}

// Returns true if the dash before `second` leads to an end that the number's own reader does not
// know: "9am–noon", "2019–present", "$1.5M–$2M", "Q1–Q3".
bool LeadsToEnd(std::string_view text, size_t at, size_t second) {
  if (BoundsTime(LettersAt(text, second))) return true;
  if (const size_t sign = CurrencySignBytes(text, second))
    return IsAsciiDigit(ByteAt(text, second + sign));
  const size_t begin = DigitsBegin(text, at, kMaxOperandBytes);
  if (begin == 0 || begin == at || !IsAsciiUpper(text[begin - 1]) ||
      (begin > 1 && (IsAsciiAlnum(text[begin - 2]) || text[begin - 2] == '-')) ||
      !IsAsciiDigit(ByteAt(text, second + 1)))
    return false;
  // "A1-C4" are cells of a table.
  const size_t last = DigitsEnd(text.substr(0, second + 5), second + 1);
  const bool cells = text[second] > text[begin - 1] && IsAsciiUpper(text[second]) &&
                     !IsAsciiAlnum(ByteAt(text, last)) && ByteAt(text, last) != '-';
  return text[second] == text[begin - 1] || cells;
}

// Returns what a hyphen with spaces between two numbers says: "5 - 10 km" is a range and "what is
// 10 - 3" a difference; empty if it is a pause.
std::string_view SpacedHyphen(std::string_view text, size_t at, size_t second) {
  if (IsEquated(text, second)) return "minus";
  constexpr size_t kMaxDigits = 6;
  size_t begin = DigitsBegin(text, at, kMaxDigits);
  const size_t end = DigitsEnd(text, second, kMaxDigits);
  if (begin == at || (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '(')) return {};
  const uint64_t from = ParseDigits(text.substr(begin, at - begin));
  const uint64_t to = ParseDigits(text.substr(second, end - second));
  const std::string_view name = LettersBefore(text, begin > 0 ? begin - 1 : 0, kMaxOperandBytes);
  const std::string before = AsciiLower(name);
  const std::string_view behind = text.substr(end);
  const std::string_view after = LettersAt(text, end + (behind.starts_with(' ') ? 1 : 0));
  // "Chapter 3 - 10 ways to win" is a heading.
  if (IsOfKind(before, "numbered-heading")) return {};
  const bool teams = IsAsciiUpper(ByteAt(name, 0)) && IsAsciiUpper(ByteAt(after, 0)) && from < 100;
  if (teams || IsOneOf(before, "beat", "drew", "final", "led", "lost", "score", "was", "won"))
    return "to";
  const bool asked = IsOfKind(before, "asks-sum");
  const bool ends = behind.empty() || IsAmong(".?!,;:)", behind[0]);
  if (IsOneOf(after, "equals", "gives", "is", "makes", "minus", "plus", "times") ||
      (ends && (asked || (before.empty() && from > to))))
    return "minus";
  const bool pages = IsOneOf(before, "ages", "chapters", "lines", "page", "pages", "verses");
  const bool hours = from == 9 && to == 5;
  return from < to || pages || hours ? "to" : "";
}

}  // namespace

std::optional<Reading> ReadNumberJoint(std::string_view text, size_t at) {
  if (at == 0 || at >= text.size()) return std::nullopt;
  const bool spaced = text[at] == ' ';
  const size_t sign = at + (spaced ? 1 : 0);
  const bool en_dash = text.substr(sign, 3) == "–";
  const size_t behind = sign + (en_dash ? 3 : 1);
  if (spaced && ByteAt(text, behind) != ' ') return std::nullopt;
  const size_t second = behind + (spaced ? 1 : 0);
  const bool dash = en_dash || ByteAt(text, sign) == '-';
  if (dash && second < text.size()) {
    const bool years = en_dash && spaced && at >= 4 && IsYear(text, at - 4) &&
                       (at == 4 || !IsAsciiAlnum(text[at - 5])) && IsYear(text, second);
    const bool times = spaced && EndsAsRange(text, at) && IsTimeOrPercentage(text, second);
    if (years || times || (!spaced && LeadsToEnd(text, at, second))) return Reading{second, {"to"}};
  }
  // "The '60s-'70s".
  if (dash && !spaced && ByteAt(text, second) == '\'' && IsAsciiDigit(ByteAt(text, second + 1)) &&
      EndsAsRange(text, at))
    return Reading{second, {"to"}};
  // Several for a price: "3/$10".
  const size_t price = second + CurrencySignBytes(text, second);
  size_t count = DigitsBegin(text, at, 3);
  if (text[sign] == '/' && !spaced && count < at && (count == 0 || text[count - 1] == ' ') &&
      price > second && IsAsciiDigit(ByteAt(text, price)))
    return Reading{second, {"for"}};
  if (!IsAsciiDigit(ByteAt(text, second))) return std::nullopt;
  switch (en_dash ? '-' : ByteAt(text, sign)) {
    case 'x':
    case 'X':
      // "Open 24x7".
      if (text.substr(0, at).ends_with("24") && text[second] == '7' && !spaced &&
          !IsAsciiAlnum(ByteAt(text, second + 1)))
        return Reading{second, {}};
      // "3 x 10 reps".
      if (IsOneOf(LettersAt(text, DigitsEnd(text, second, kMaxOperandBytes) + 1), "rep", "reps"))
        return Reading{second, {text.substr(0, at).ends_with(" 1") ? "set" : "sets", "of"}};
      // The "X3D" of "7800X3D" is a part of the name.
      if (text[sign] == 'X' && !spaced && IsAsciiUpper(ByteAt(text, second + 1)) &&
          DigitsBegin(text, at, kMaxOperandBytes) + 4 == at)
        return std::nullopt;
      // "3 x 4" and "3x4=12" are products, "3x4" is a size.
      // A size may have units: "5 cm x 3 cm".
      return Reading{
          second,
          {IsAsciiDigit(text[at - 1]) && !IsMeasured(text, second) && !IsSize(text, at, second) &&
                   (spaced || IsEquated(text, second) || text.substr(second).starts_with("10^") ||
                    text.substr(second).starts_with("10⁻"))
               ? "times"
               : "by"}};
    case '*':
      return Reading{second, {"times"}};
    case '%':
      if (spaced) return Reading{second, {"mod"}};
      return std::nullopt;
    case '/':
      // "250 mg/5 mL".
      if (!spaced && text[at - 1] == 'g' && IsVolume(text, second)) return Reading{second, {"per"}};
      // "30 mph / 50 km/h" is no quotient.
      if (spaced && !IsAsciiDigit(text[at - 1])) return std::nullopt;
      if (spaced) return Reading{second, {"divided", "by"}};
      if (IsDecimal(text, at) && IsScale(text, second)) return Reading{second, {"out", "of"}};
      return std::nullopt;
    case '-':
      if (const std::string_view word = spaced ? SpacedHyphen(text, at, second) : ""; !word.empty())
        return Reading{second, {std::string(word)}};
      if (!spaced && EndsAsRange(text, at)) return Reading{second, {"to"}};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::models
