#include "models/text/english/hyphen_reader.h"

#include <vector>

#include "models/text/ascii.h"
#include "models/text/english/command_option.h"
#include "models/text/english/letter_run.h"
#include "models/text/english/letter_word.h"
#include "models/text/english/one_of.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true if "10C" follows the hyphen of "seats 10A-10C".
bool SeatFollows(std::string_view text, size_t at, size_t run) {
  if (at < 2 || !IsAsciiUpper(text[at - 1]) || !IsAsciiDigit(text[at - 2])) return false;
  const size_t digits = DigitsEnd(text, run, 4);
  return digits > run && IsAsciiUpper(ByteAt(text, digits)) &&
         !IsAsciiAlnum(ByteAt(text, digits + 1));
}

// Returns true for "²" and the like.
bool IsPower(char32_t sign) {
  return sign == 0xB2 || sign == 0xB3 || (sign >= 0x2074 && sign <= 0x2079);
}

// Returns true for the hyphen of "(-b ± 2)", "(a-b)" and "b²-4ac".
bool IsMinusInFormula(std::string_view text, size_t at, size_t run) {
  if (at == 0) return false;
  const bool variable = IsAsciiLower(ByteAt(text, run)) && !IsAsciiAlnum(ByteAt(text, run + 1));
  if (text[at - 1] == '(')
    return variable && BeginsWithOne(text.substr(run + 1), " ±| +| -| −|±|+");
  if (IsPower(DecodeBefore(text, at).value)) return variable || IsAsciiDigit(ByteAt(text, run));
  return variable && at > 1 && IsAsciiLower(text[at - 1]) && text[at - 2] == '(' &&
         ByteAt(text, run + 1) == ')';
}

// Returns true for the hyphen of "n-1" and "2x-3".
bool IsMinusWithin(std::string_view text, size_t at, size_t run) {
  if (at == 0 || !IsAsciiLower(text[at - 1]) || !IsAsciiDigit(ByteAt(text, run))) return false;
  const size_t end = DigitsEnd(text, run, 4);
  if (IsAsciiAlnum(ByteAt(text, end)) || ByteAt(text, end) == '-') return false;
  if (at == 1 || !IsAsciiAlnum(text[at - 2])) return text[at - 1] != 'a' && text[at - 1] != 'i';
  // "2x-3", but not "10m-20m" and "seat 1a-3".
  return text[at - 1] >= 'n' && text[at - 1] != 's' && IsAsciiDigit(text[at - 2]);
}

// Returns true if an exponent ends there: "2^32".
bool IsCaretBefore(std::string_view text, size_t end) {
  const size_t at = DigitsBegin(text, end);
  return at < end && at > 1 && text[at - 1] == '^';
}

// Returns true for the hyphen of "a - b" and "x² - 1", which stands between operands.
bool IsMinusBetween(std::string_view text, size_t at, size_t run) {
  if (at < 2 || text[at - 1] != ' ' || ByteAt(text, run) != ' ') return false;
  const char letter = text[at - 2];
  // "ΔG = ΔH - TΔS".
  const size_t operand = run + 1;
  if (IsAsciiAlnum(letter) && text.find('=') < at &&
      (IsGreek(DecodeAt(text, operand).value) ||
       (IsAsciiUpper(ByteAt(text, operand)) && IsGreek(DecodeAt(text, operand + 1).value))))
    return true;
  // "3 - x".
  const bool number = IsAsciiDigit(letter) && IsAsciiLower(ByteAt(text, run + 1)) &&
                      ByteAt(text, run + 1) != 'a' && ByteAt(text, run + 1) != 'i';
  // "2x - 3", but "5m - 3" is a length.
  const bool multiple = at > 2 && IsAsciiDigit(text[at - 3]) && (letter == 'n' || letter >= 'x');
  const bool variable =
      IsAsciiLower(letter) && (at == 2 || !IsAsciiAlnum(text[at - 3]) || multiple);
  const char32_t sign = DecodeBefore(text, at - 1).value;
  const bool power = IsPower(sign) || IsCaretBefore(text, at - 1);
  if (!variable && !power && !number) return false;
  const size_t next = run + 1;
  const char after = ByteAt(text, next);
  size_t end =
      IsAsciiDigit(after) ? DigitsEnd(text, next, 8) : next + (IsAsciiLower(after) ? 1 : 0);
  // "x^2 - 4x".
  if (IsAsciiDigit(after) && (power || multiple) &&
      (ByteAt(text, end) == 'n' || (ByteAt(text, end) >= 'x' && ByteAt(text, end) <= 'z')))
    ++end;
  // "b² - 4ac".
  if (IsAsciiDigit(after) && power && text.substr(end, 2) == "ac") end += 2;
  if (end == next || IsAsciiAlnum(ByteAt(text, end)) || ByteAt(text, end) == '\'') return false;
  // "Option b - 3 apples", "i - a man".
  const bool word = IsAsciiLetter(ByteAt(text, end + 1)) && ByteAt(text, end) == ' ' &&
                    IsAsciiLetter(ByteAt(text, end + 2));
  return (!word || multiple) && !(letter == 'i' && after == 'a');
}

}  // namespace

std::optional<Reading> ReadHyphens(std::string_view text, size_t at, size_t run, size_t count,
                                   std::span<const SpokenWord> words) {
  if (count == 1 && (IsMinusBetween(text, at, run) || IsMinusWithin(text, at, run) ||
                     IsMinusInFormula(text, at, run)))
    return Reading{run, {"minus"}};
  // "i--;" and "--i" count down.
  const bool behind =
      at > 0 && IsAsciiLower(text[at - 1]) && (at == 1 || !IsAsciiAlnum(text[at - 2]));
  const bool ahead = IsAsciiLower(ByteAt(text, run)) && !IsAsciiAlnum(ByteAt(text, run + 1));
  if (count == 2 && behind != ahead &&
      (behind ? run == text.size() || IsAmong(";)],", text[run])
              : at == 0 || text[at - 1] == '(' || text[at - 1] == '['))
    return Reading{run, {"minus", "minus"}};
  // "-x" alone, and "y = -x".
  if (count == 1 && ahead && ByteAt(text, run) >= 'x' && run + 1 == text.size() && at == 0)
    return Reading{run, {"minus"}};
  // "G = -RT".
  if (count == 1 && at > 1 && text.substr(at - 2, 2) == "= " && IsAsciiLetter(ByteAt(text, run)))
    return Reading{run, {"minus"}};
  // "Cl- ions".
  if (count == 1 && at > 0 && IsAsciiLetter(text[at - 1]) &&
      (text.substr(run).starts_with(" ion") ||
       (at > 1 && IsOneOf(text.substr(at - 2, 2), "Br", "Cl") &&
        (at == 2 || !IsAsciiAlnum(text[at - 3])) && !IsAsciiAlnum(ByteAt(text, run)))))
    return Reading{run, {"minus"}};
  // A grade: "an A-".
  if (count == 1 && at > 0 && text[at - 1] >= 'A' && text[at - 1] <= 'F' &&
      (at == 1 || !IsAsciiAlnum(text[at - 2])) && !IsAsciiAlnum(ByteAt(text, run)))
    return Reading{run, {"minus"}};
  if (IsCommandOption(text, at, count, words.empty() ? "" : AsciiLower(words.back().text))) {
    Reading reading{run, std::vector<std::string>(count, "dash")};
    constexpr size_t kMaxLetters = 3;  // "-rf" are letters, "-name" is a word
    const size_t end = LettersEnd(text, run, kMaxLetters + 1);
    if (count == 1 && end - run <= kMaxLetters) {
      reading.Append(Dotted(text.substr(run, end - run)));
      reading.end = end;
    }
    return reading;
  }
  if (count == 1 && SeatFollows(text, at, run)) return Reading{run, {"to"}};
  // "Blood type O-".
  if (count == 1 && !words.empty() && IsOneOf(words.back().text, "AB", "O", "Rh") &&
      words.back().after.empty() && !IsAsciiAlnum(ByteAt(text, run)))
    return Reading{run, {"negative"}};
  return std::nullopt;
}

bool StandForDash(std::string_view text, size_t at, size_t run, size_t count) {
  const bool free = (at == 0 || text[at - 1] == ' ') && ByteAt(text, run) == ' ';
  return count == 2 || count == 3 || (free && count == 1);
}

}  // namespace millrace::models
