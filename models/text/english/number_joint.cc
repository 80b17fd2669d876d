#include "models/text/english/number_joint.h"

#include "models/text/ascii.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxOperandBytes = 16;

// Returns true after "10:00", "50%" or "9am". After a plain number, that number's own reader takes
// the hyphen of a range.
bool EndsAsRange(std::string_view text, size_t end) {
  const char last = text[end - 1];
  const bool minutes = end >= 3 && IsAsciiDigit(last) && text[end - 3] == ':';
  return minutes || last == '%' || last == 'm' || last == 'M';
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

// Returns true if a number with a point ends there: "4.5".
bool IsDecimal(std::string_view text, size_t end) {
  size_t at = end;
  while (at > 0 && end - at < kMaxOperandBytes && IsAsciiDigit(text[at - 1])) --at;
  return at < end && at > 1 && text[at - 1] == '.' && IsAsciiDigit(text[at - 2]);
}

// Returns true for the best mark of a rating.
bool IsScale(std::string_view text, size_t at) {
  const size_t end = DigitsEnd(text.substr(0, at + 4), at);
  const std::string_view best = text.substr(at, end - at);
  return best == "5" || best == "10" || best == "100";
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
  if (!IsAsciiDigit(ByteAt(text, second))) return std::nullopt;
  switch (en_dash ? '-' : ByteAt(text, sign)) {
    case 'x':
    case 'X':
      // "3 x 4" and "3x4=12" are products, "3x4" is a size.
      // A size may have units: "5 cm x 3 cm".
      return Reading{
          second,
          {IsAsciiDigit(text[at - 1]) && (spaced || IsEquated(text, second)) ? "times" : "by"}};
    case '*':
      return Reading{second, {"times"}};
    case '/':
      if (spaced) return Reading{second, {"divided", "by"}};
      if (IsDecimal(text, at) && IsScale(text, second)) return Reading{second, {"out", "of"}};
      return std::nullopt;
    case '-':
      if (spaced && IsEquated(text, second)) return Reading{second, {"minus"}};
      if (!spaced && EndsAsRange(text, at)) return Reading{second, {"to"}};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::models
