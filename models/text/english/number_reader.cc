#include "models/text/english/number_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/angle_reader.h"
#include "models/text/english/attributive.h"
#include "models/text/english/compound_measure.h"
#include "models/text/english/fraction_reader.h"
#include "models/text/english/measure_reader.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/number_ending.h"
#include "models/text/english/one_of.h"
#include "models/text/english/phone_reader.h"
#include "models/text/english/powers.h"
#include "models/text/english/spoken_code.h"
#include "models/text/english/time_reader.h"
#include "models/text/english/version_reader.h"
#include "models/text/english/word_kinds.h"
#include "models/text/english/zip_reader.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true if "=" follows.
bool EqualsBehind(std::string_view text, size_t at) {
  return ByteAt(text, at) == '=' || text.substr(at, 2) == " =";
}

// Returns true for the forms of a tax, which are no count: "1099 forms".
bool IsTaxForm(std::string_view text, const Amount& amount) {
  return IsOneOf(amount.whole, "1040", "1065", "1095", "1098", "1099", "1120") &&
         LettersAt(text, amount.end + 1) == "forms";
}

// Returns true for feet and inches of a player, and for a formation: "a 6-9 forward", "he is 5-9",
// "the 2-3 zone".
bool IsHeightOrFormation(std::string_view text, size_t begin, uint64_t first, uint64_t second,
                         size_t end, const NumberContext& context) {
  if (context.article && IsOfKind(LettersAt(text, end + 1), "player")) return true;
  if (first < 4 || first > 7 || second > 11) return false;
  const std::string_view before = text.substr(0, begin);
  const std::string_view behind = text.substr(end);
  return (context.previous == "at" && behind.starts_with(", ")) ||
         (context.article && behind.starts_with(", ") && IsAsciiDigit(ByteAt(behind, 2)) &&
          behind.substr(DigitsEnd(behind, 2)).starts_with("-pound")) ||
         IsOneOf(context.previous, "he's", "i'm", "she's", "stands", "stood") ||
         EndsWithOne(before, "He is |She is | he is | she is |I am ");
}

// Returns true for the games of "the Chiefs (11-6)"; "beat the Lakers (112-98)" has a score.
bool IsRecordInBrackets(std::string_view text, size_t begin, size_t end) {
  if (begin < 2 || text[begin - 1] != '(' || text[begin - 2] != ' ' || ByteAt(text, end) != ')')
    return false;
  const size_t name_end = begin - 2;
  const size_t name = LettersBegin(text, name_end);
  const std::string_view team = text.substr(name, name_end - name);
  if (team.size() < 4 || !IsAsciiUpper(team[0]) || !team.ends_with('s')) return false;
  const std::string_view before = text.substr(0, name);
  return !HasOne(before, "Figure|beat|defeat|over |page|past |won ");
}

// Returns true for the games that a team won and lost: "they are 10-2 this season", "went 11-5".
bool IsRecordOfSeason(std::string_view text, size_t begin, size_t end, std::string_view previous) {
  if (previous == "went" || IsRecordInBrackets(text, begin, end)) return true;
  // The word before the previous one.
  const std::string_view before = text.substr(0, begin - std::min(begin, previous.size() + 2));
  const std::string_view word = before.substr(before.rfind(' ') + 1);
  if (previous == "to" &&
      IsOneOf(word, "dropped", "fell", "falls", "improve", "improved", "improves"))
    return true;
  // "The Eagles are 8-1."
  const char behind = ByteAt(text, end);
  if (previous == "are" && (behind == '\0' || behind == '.' || behind == ',') &&
      (IsOneOf(word, "They", "We", "they", "we") ||
       (IsAsciiUpper(ByteAt(word, 0)) && word.ends_with('s') &&
        !IsOneOf(word, "Chances", "Odds", "Results", "Scores"))))
    return true;
  return IsOfKind(previous, "before-record") &&
         BeginsWithOne(text.substr(end),
                       " this season| last season| overall| record| start| on the season| on the "
                       "year| this year| at home| on the road");
}

}  // namespace

std::optional<Reading> NumberReader::Read(std::string_view text, size_t at,
                                          const NumberContext& context) const {
  if (auto phone = ReadPhone(numbers_, text, at)) return phone;
  if (auto money = ReadMoney(numbers_, text, at, context.article)) return money;
  if (auto sign = ReadFractionSign(text, at)) {
    TakeMeasure(dialect_, text, true, context.article, *sign);
    return sign;
  }
  const char first = ByteAt(text, at);
  if (!IsAsciiDigit(first) && (first != '.' || !IsAsciiDigit(ByteAt(text, at + 1)))) {
    return std::nullopt;
  }
  if (auto year = dates_.ReadShortYear(text, at)) return year;
  if (auto angle = ReadAngle(numbers_, text, at)) return angle;
  if (auto zip = ReadZip(numbers_, text, at)) return zip;
  if (auto code = ReadSpokenCode(numbers_, text, at, context)) return code;
  if (auto compound = ReadCompound(numbers_, dialect_, text, at, context.article)) return compound;
  if (auto minutes = ReadMinutes(numbers_, text, at, context.previous)) return minutes;
  if (auto date = dates_.ReadNumeric(text, at)) return date;
  // "Mix 1:10" is no time.
  const bool mixes =
      IsOneOf(context.previous, "dilute", "diluted", "mix", "mixed", "ratio", "scale");
  // "At 2A" is a current where volts are spoken of.
  const size_t digits_end = DigitsEnd(text, at, 3);
  const bool current = context.electric && !IsAsciiAlnum(ByteAt(text, digits_end + 1)) &&
                       ByteAt(text, digits_end) == 'A';
  if (auto time = mixes || current ? std::nullopt : ReadTime(numbers_, text, at, context.previous))
    return time;
  if (auto time = ReadHourAndMinute(numbers_, text, at, context.previous)) return time;
  if (auto time = ReadMilitaryTime(numbers_, text, at, context.previous)) return time;
  if (auto date = dates_.ReadMonthAndDay(text, at, context.previous)) return date;
  if (auto date = dates_.ReadDayMonth(text, at, context.previous)) return date;
  if (auto fraction = ReadFraction(numbers_, text, at, context.previous)) {
    const bool ratio = std::ranges::any_of(
        fraction->words, [](const auto& word) { return IsOneOf(word, "out", "over"); });
    TakeMeasure(dialect_, text, !ratio, context.article, *fraction);
    return fraction;
  }
  if (auto version = ReadVersion(numbers_, text, at, context)) return version;
  return ReadPlain(text, *ParseAmount(text, at), context);
}

std::vector<std::string> NumberReader::PlainWords(const Amount& amount) const {
  if (amount.IsYear()) return numbers_.Year(static_cast<unsigned>(ParseDigits(amount.whole)));
  return AmountWords(numbers_, amount);
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
  const size_t end = DigitsEnd(text, digits, 4);
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
    // A charge; no temperature is written so.
    if (text.substr(reading.end, 2) == " C" && !IsAsciiAlnum(ByteAt(text, reading.end + 2))) {
      reading.Append("coulombs");
      reading.end += 2;
      return reading;
    }
    TakeMeasure(dialect_, text, false, context.article, reading);
    return reading;
  }
  if (TakeNumberEnding(numbers_, text, amount, context, reading)) return reading;
  // "5 V, 2 A", "1.2 A at 5 V".
  const bool at_voltage =
      text.substr(amount.end, 6) == " A at " && IsAsciiDigit(ByteAt(text, amount.end + 6));
  if ((context.electric || at_voltage) && text.substr(amount.end, 2) == " A" &&
      !IsAsciiAlnum(ByteAt(text, amount.end + 2)) && !NounFollows(text, amount.end + 2)) {
    reading.Append(AmountWords(numbers_, amount));
    reading.Append(amount.IsOne() ? "amp" : "amps");
    reading.end = amount.end + 2;
    return reading;
  }
  if (TakeFeet(numbers_, text, amount, context, reading)) return reading;
  if (TakeFactorial(text, amount, reading)) return reading;
  if (auto money = ReadMoneyBehind(numbers_, text, amount)) return *std::move(money);
  // A measured number is no year: "1500 km". What follows "a" is one: "a 9mm".
  Reading measured{amount.end, {}};
  const bool one = amount.IsOne() || context.previous == "a" || context.previous == "an";
  if (TakeMeasure(dialect_, text, one, context.article, measured)) {
    reading.Append(AmountWords(numbers_, amount));
    reading.Append(std::move(measured.words));
    reading.end = measured.end;
    return reading;
  }
  // "In 2150".
  const bool far_year = amount.whole.size() == 4 && amount.fraction.empty() && !amount.grouped &&
                        amount.whole[0] == '2' && amount.whole[1] > '0' &&
                        IsOneOf(context.previous, "by", "in", "until", "year") &&
                        !IsAsciiAlnum(ByteAt(text, amount.end)) && !NounFollows(text, amount.end);
  // The ports of "8080:80", the sides of "3840x2160".
  const CodePoint joint = DecodeAt(text, amount.end);
  const bool port = amount.whole.size() == 4 && amount.fraction.empty() &&
                    (joint.value == ':' || joint.value == 'x' || joint.value == U'×') &&
                    DigitsEnd(text, amount.end + joint.bytes, 5) >=
                        amount.end + joint.bytes + (joint.value == ':' ? 1 : 3);
  if (far_year || port) {
    reading.Append(numbers_.Year(static_cast<unsigned>(ParseDigits(amount.whole))));
    return reading;
  }
  // "1500 people" are fifteen hundred.
  const bool hundreds = amount.IsYear() && amount.whole > "1000" && amount.whole < "2000" &&
                        amount.whole.ends_with("00");
  const bool counts = context.previous == "equals" ||
                      (amount.IsYear() && !hundreds && !PrecedesYear(context.previous) &&
                       PluralFollows(text, amount.end) && !IsTaxForm(text, amount));
  reading.Append(counts ? AmountWords(numbers_, amount) : PlainWords(amount));
  const bool mixed = amount.fraction.empty() && amount.whole.size() <= 3 &&
                     TakeMixedFraction(numbers_, text, reading);
  if (context.label) return reading;
  const Amount last = TakeRange(text, amount, context, reading);
  TakeMeasure(dialect_, text, last.IsOne() && !mixed, context.article, reading);
  return reading;
}

bool NumberReader::TakeFactorial(std::string_view text, const Amount& amount,
                                 Reading& reading) const {
  const size_t behind = amount.end + 1;
  if (ByteAt(text, amount.end) != '!' || !amount.fraction.empty() ||
      !BeginsWithOne(text.substr(behind), " =| is | equals | and | times | /| ×| *|/"))
    return false;
  reading.Append(AmountWords(numbers_, amount));
  reading.Append("factorial");
  reading.end = behind;
  return true;
}

Amount NumberReader::TakeRange(std::string_view text, const Amount& amount,
                               const NumberContext& context, Reading& reading) const {
  const size_t dash = RangeDashBytes(text, reading.end);
  if (dash == 0 || !IsAsciiDigit(ByteAt(text, reading.end + dash))) return amount;
  auto second = ParseAmount(text, reading.end + dash);
  // "1-2-3" is no range.
  if (!second || (RangeDashBytes(text, second->end) > 0 &&
                  IsAsciiDigit(ByteAt(text, second->end + RangeDashBytes(text, second->end))))) {
    return amount;
  }
  // "24-7" and "50-50" are no ranges.
  const size_t begin = amount.end - std::min(amount.end, amount.whole.size());
  const bool third = begin > 1 && text[begin - 1] == '-' && IsAsciiDigit(text[begin - 2]);
  const bool both = (amount.whole == "24" && second->whole == "7") || third ||
                    (amount.whole == "9" && second->whole == "11" && context.article) ||
                    IsOfKind(LettersAt(text, second->end + 1), "no-range") ||
                    (amount.whole == second->whole && amount.whole.size() > 1);
  // "70-30" shares a whole.
  const bool shares = amount.whole.size() == 2 && second->whole.size() == 2 &&
                      second->fraction.empty() && ParseDigits(amount.whole) >= 50 &&
                      ParseDigits(amount.whole) + ParseDigits(second->whole) == 100 &&
                      !IsOneOf(context.previous, "by", "passed", "vote", "voted", "was", "won");
  if (EqualsBehind(text, second->end)) {
    reading.Append("minus");
  } else if (IsRecordOfSeason(text, amount.end - std::min(amount.end, amount.whole.size()),
                              second->end, context.previous)) {
    reading.Append("and");
  } else if (((!both && !shares) || !amount.fraction.empty()) &&
             !IsHeightOrFormation(text, begin, ParseDigits(amount.whole),
                                  ParseDigits(second->whole), second->end, context)) {
    reading.Append("to");
  }
  // "7-8pm", "9-10:30".
  const auto time = ReadTime(numbers_, text, reading.end + dash);
  if (time && time->end > second->end &&
      (time->words.back().ends_with("M.") || ByteAt(text, second->end) == ':')) {
    reading.Append(time->words);
    reading.end = time->end;
    return *std::move(second);
  }
  reading.Append(PlainWords(*second));
  reading.end = second->end;
  // "1–1½ hours".
  if (second->fraction.empty() && TakeMixedFraction(numbers_, text, reading))
    second->whole.assign(1, '2');
  return *std::move(second);
}

}  // namespace millrace::models
