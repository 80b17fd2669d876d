#include "models/text/english/measure_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/compass.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/one_of.h"
#include "models/text/english/units.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true if a space and a small letter follow.
bool IsLowerBehindSpace(std::string_view text, size_t at) {
  return ByteAt(text, at) == ' ' && IsAsciiLower(ByteAt(text, at + 1));
}

// Returns true if a formula goes on: the "x" of "2x + 1" is a variable.
bool IsOperatorBehind(std::string_view text, size_t at) {
  const size_t sign = at + (ByteAt(text, at) == ' ' ? 1 : 0);
  constexpr std::string_view kOperators = "+-*/=^<>";
  if (text.substr(std::min(sign, text.size())).starts_with("− ")) return true;
  // "3x²".
  if (BeginsWithOne(text.substr(at), "²|³|⁴|⁵|⁶|ⁿ")) return true;
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
  return at > 0 && IsAmong("+*=/", text[at - 1]);
}

// Returns true if a hyphen joins the number that ends there to letters: "I-5".
bool EndsName(std::string_view text, size_t end) {
  end = DigitsBegin(text, end);
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

// Returns true if the number before the space before `at` is a pressure of the air in millibars.
bool IsAirPressure(std::string_view text, size_t at) {
  size_t begin = at - 1;
  while (begin > 0 && (IsAsciiDigit(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  const uint64_t value = ParseDigits(text.substr(begin, DigitsEnd(text, begin) - begin));
  const std::string_view behind = text.substr(std::min(at + 3, text.size()));
  return value >= 870 && value <= 1090 && (begin == 0 || text[begin - 1] != ',') &&
         !IsOneOf(LettersAt(behind, 0), "available", "file", "free", "of", "ram");
}

// Returns true if four digits and a capital name something: "Ryzen 9 5950X" and "Ryzen 7 5800X",
// but "1000X".
bool IsNameOfProcessor(std::string_view text, size_t at) {
  constexpr size_t kDigits = 4;
  return text[at] == 'X' && at > kDigits && DigitsEnd(text.substr(0, at), at - kDigits) == at &&
         !IsAsciiDigit(text[at - kDigits - 1]) &&
         (text.substr(at - 2, 2) != "00" ||
          (at > kDigits + 1 && IsAsciiDigit(text[at - kDigits - 2]) &&
           text[at - kDigits - 1] == ' '));
}

// Returns true if a whole number of one or two digits ends before `at`.
bool EndsSmallNumber(std::string_view text, size_t at) {
  constexpr size_t kMaxDigits = 2;
  const size_t begin = DigitsBegin(text, at);
  return at > begin && at - begin <= kMaxDigits &&
         (begin == 0 || text[begin - 1] == ' ' || text[begin - 1] == '(');
}

// Returns true if the text before `at` speaks of what is paid, or of people.
bool SpeaksOfMoney(std::string_view text, size_t at) {
  constexpr size_t kFarthest = 40;
  const size_t begin = at > kFarthest ? at - kFarthest : 0;
  return HasOne(text.substr(begin, at - begin),
                "$|£|€|salary|earn|pay|paid|cost|price|raise|sold|worth|budget|debt|owe|profit|"
                "revenue|followers|users|people");
}

// Returns true for a sum of coins behind such a word, or that is all of a text: "a pack is 50c".
bool IsSumOfCoins(std::string_view text, size_t end) {
  const size_t begin = DigitsBegin(text, end);
  const uint64_t cents = ParseDigits(text.substr(begin, end - begin));
  if (cents % 5 != 0 && cents != 99) return false;
  if (begin == 0) return ByteAt(text, end + 1) == '\0' || ByteAt(text, end + 1) == '.';
  return IsOfKind(AsciiLower(LettersBefore(text, begin - 1)), "before-price");
}

// Returns true if nothing, or a new sentence, is behind the stop at `at`.
bool EndsSentence(std::string_view text, size_t at) {
  return ByteAt(text, at) == '.' && (at + 1 >= text.size() || text.substr(at + 1, 1) == ")" ||
                                     (text[at + 1] == ' ' && IsAsciiUpper(ByteAt(text, at + 2))));
}

// Returns true unless a verb before the number that ends there has "in": "he let 5 in."
bool IsLength(std::string_view text, size_t end) {
  size_t at = end;
  constexpr std::string_view kNumber = "0123456789.,/-";
  while (at > 0 && kNumber.find(text[at - 1]) != std::string_view::npos) --at;
  if (text.substr(at, end - at).find_first_of("./") != std::string_view::npos) return true;
  if (at == 0 || text[at - 1] != ' ') return true;
  return !IsOfKind(LettersBefore(text, at - 1), "before-adverb-in");
}

// Returns true for the "in" of "3 in of rain" and "6 in by 4 in" behind the number that ends there.
bool IsInchBetween(std::string_view text, size_t number_end, size_t behind) {
  const std::string_view rest = text.substr(behind);
  size_t at = number_end;
  while (at > 0 && (IsAsciiDigit(text[at - 1]) || text[at - 1] == '.')) --at;
  const std::string_view before = text.substr(0, at);
  // "A 20x24 in frame", "a 4 x 6 in photo".
  const bool sides =
      (before.ends_with(" x ") || (before.ends_with('x') && IsAsciiDigit(text[at - 2]))) &&
      MeasuredFollows(text, behind);
  return BeginsWithOne(rest, " of | = ") || before.ends_with(" in by ") || sides ||
         (rest.starts_with(" by ") && IsAsciiDigit(ByteAt(rest, 4)));
}

// Returns true if a spaced "F" or "C" behind the number that ends there is of a temperature: "at
// 375 F (190 C)".
bool IsTemperature(std::string_view text, size_t end, size_t behind) {
  const size_t at = DigitsBegin(text, end);
  const std::string_view before = text.substr(0, at);
  const std::string_view words = before.substr(0, before.find_last_not_of(". ") + 1);
  const bool given = before.ends_with('(') || before.ends_with('-') || before.ends_with('/') ||
                     IsOfKind(AsciiLower(LettersBefore(words, words.size())), "before-temperature");
  const char follows = ByteAt(text, behind);
  const bool ends =
      follows == '\0' || IsAmong(".,;)/", follows) || text.substr(behind).starts_with(" (") ||
      text.substr(behind).starts_with(" for ") || text.substr(behind).starts_with(" =");
  return end - at >= 2 && given && ends;
}

// Returns true if a chemical formula follows, of which so much is dissolved: "0.1 M NaCl".
bool FormulaFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) != ' ' || !IsAsciiUpper(ByteAt(text, at + 1))) return false;
  size_t end = at + 2;
  bool formula = false;
  for (; IsAsciiAlnum(ByteAt(text, end)); ++end) formula = formula || !IsAsciiLower(text[end]);
  constexpr size_t kLongest = 10;
  return formula && end - at < kLongest && text.substr(at + 1, end - at - 1) != "HP" &&
         CurrencyName(text.substr(at + 1, end - at - 1), true).empty();
}

// Returns true for the hyphen or space of "lb-ft" and "m s⁻¹", which multiply.
bool JoinsUnits(std::string_view text, size_t at, size_t joint) {
  const std::string_view first = text.substr(at, joint - at);
  const std::string_view second = LettersAt(text, joint + 1, 4);
  if (text[joint] == ' ')
    return !second.empty() && text.substr(joint + 1 + second.size()).starts_with("⁻");
  return (IsOneOf(first, "ft", "in", "lb", "lbf") && IsOneOf(second, "ft", "lb", "lbf", "lbs")) ||
         (IsOneOf(first, "N", "kN") && second == "m") ||
         (IsOneOf(first, "A", "kW", "mA") && second == "h");
}

// Returns the end of the letters and signs that may be a unit: "m/s²", "W/(m·K)". divided: set if a
// slash is among them.
size_t UnitEnd(std::string_view text, size_t at, bool& divided) {
  constexpr std::u32string_view kSigns = U"µ²³ÅΩ⁻";
  bool open = false;
  size_t end = at;
  while (end - at <= 3 * kMaxUnitBytes) {
    const CodePoint c = DecodeAt(text, end);
    if (c.bytes == 0) break;
    const bool letter_follows = end > at && IsAsciiLetter(ByteAt(text, end + c.bytes));
    const bool opens = c.value == '(' && divided && text[end - 1] == '/' && letter_follows;
    const bool closes = c.value == ')' && open;
    const bool divides =
        c.value == '/' && !divided && end > at &&
        (letter_follows || ByteAt(text, end + 1) == '(' || text.substr(end + 1).starts_with("µ"));
    const bool joins =
        ((c.value == '-' || c.value == ' ') && end > at && JoinsUnits(text, at, end)) ||
        (letter_follows && ProductSignBytes(text, end) > 0);
    const bool part = c.value < 0x80
                          ? IsAsciiLetter(static_cast<char>(c.value))
                          : kSigns.find(c.value) != kSigns.npos ||
                                (c.value == 0xB9 && text.substr(at, end - at).ends_with("⁻"));
    if (!part && !opens && !closes && !divides && !joins) break;
    divided = divided || divides;
    open = (open || opens) && !closes;
    end += c.bytes;
  }
  return end;
}

// Returns the unit at `at`, also one of two parts ("mg/L", "sq ft"), and moves `at` behind it.
std::optional<std::string> TakeUnit(EnglishDialect dialect, std::string_view text, size_t& at,
                                    bool spaced, bool one, bool article) {
  for (const auto& [short_form, word] :
       {std::pair<std::string_view, std::string_view>{"sq", "square"},
        {"cu", "cubic"},
        {"fl", "fluid"}}) {
    const size_t stop = ByteAt(text, at + 2) == '.' ? 1 : 0;
    const char joint = ByteAt(text, at + 2 + stop);
    if (!text.substr(at).starts_with(short_form) || (joint != ' ' && joint != '-')) continue;
    size_t second = at + 3 + stop;
    const auto unit = TakeUnit(dialect, text, second, true, one, article);
    if (!unit) continue;
    at = second;
    return std::string(word) + " " + *unit;
  }
  bool divided = false;
  size_t end = UnitEnd(text, at, divided);
  // "10p", but "1080p" are lines of a picture.
  const std::string_view pence = text.substr(at, end - at);
  if (!spaced && (pence == "p" || pence.starts_with("p/")) && EndsSmallNumber(text, at)) {
    ++at;
    return article && NounFollows(text, at) ? "P." : one ? "penny" : "pence";
  }
  // "It costs 50c."
  if (!spaced && pence == "c" && EndsSmallNumber(text, at) &&
      (SpeaksOfMoney(text, at) || IsSumOfCoins(text, at))) {
    ++at;
    return one ? "cent" : "cents";
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
  // "180C/350F/gas 4".
  if (!spaced && (ByteAt(text, at) == 'C' || ByteAt(text, at) == 'F') &&
      text.substr(at + 1, 4) == "/gas")
    end = at + 1;
  const std::string_view symbol = text.substr(at, end - at);
  if (symbol == "A/C") return std::nullopt;  // air conditioning
  // The discriminant "b² - 4ac" has no acres.
  if (symbol == "ac" && EndsWithOne(text.substr(0, DigitsBegin(text, at)), "- |²-|− |−"))
    return std::nullopt;
  if (symbol == "K/µL") {  // Blood cells are counted so.
    at = end;
    return "thousand per microliter";
  }
  // The stop of "a 5 lb. bag" and of "2 (15 oz.) cans" is the unit's.
  const bool stopped = ByteAt(text, end) == '.' && (IsLowerBehindSpace(text, end + 1) ||
                                                    text.substr(end + 1).starts_with(") "));
  const size_t behind = end + (stopped ? 1 : 0);
  const auto take = [&](std::string_view unit, size_t bytes = 0) {
    at += bytes > 0 ? bytes : symbol.size();
    return std::string(unit);
  };
  const auto number = [&](const Unit& unit) {
    // "A 60W-equivalent bulb".
    const bool joined = ByteAt(text, end) == '-' && IsAsciiLower(ByteAt(text, end + 1));
    const bool belongs =
        joined || (article && NounFollows(text, behind)) || MeasuredFollows(text, behind);
    return take(one || belongs ? unit.singular : unit.plural);
  };
  if (const auto unit = FindUnitOfNoun(text, at, end, spaced)) return number(*unit);
  // "The debt is 1.2m."
  if (symbol == "m" && !spaced && SpeaksOfMoney(text, at) && !NounFollows(text, end) &&
      text.substr(end, 4) != " of " && text.substr(end, 4) != " by ")
    return take("million");
  // The pressure of the air, but "a 1000 mb file".
  if (spaced && symbol == "mb" && IsAirPressure(text, at) &&
      !(article && NounFollows(text, behind)) && !MeasuredFollows(text, behind))
    return take("millibars");
  // Modems are rated in thousands of bits, and interest in fewer points.
  if (symbol == "bps" && EndsThousands(text, at)) return take("bits per second");
  // "130 mm Hg", "29.92 in. Hg".
  for (const std::string_view mercury : {"mm Hg", "in Hg", "in. Hg"}) {
    if (!text.substr(at).starts_with(mercury)) continue;
    const Unit unit = *FindUnit(symbol == "mm" ? "mmHg" : "inHg", false, dialect);
    return take(one ? unit.singular : unit.plural, mercury.size());
  }
  // "1 in. wide", "the gap is 0.5 in."
  const bool inch =
      symbol == "in" && spaced &&
      ((text.substr(end, 2) == ". " && IsAsciiLower(ByteAt(text, end + 2))) ||
       ((EndsSentence(text, end) || text.substr(end, 2) == ".,") && IsLength(text, at - 1)) ||
       IsInchBetween(text, at - 1, end));
  if (spaced && IsOneOf(symbol, "C", "F") && IsTemperature(text, at - 1, end))
    return take(symbol == "C" ? "degrees celsius" : "degrees fahrenheit");
  // "300 K" is a temperature, but a salary of so much is none.
  if (spaced && symbol == "K" && !SpeaksOfMoney(text, at) && !MeasuredFollows(text, end))
    return take("kelvin");
  if (IsOneOf(symbol, "M", "N") && FormulaFollows(text, end))
    return take(symbol == "M" ? "molar" : "normal");
  if (spaced && IsCompassBehindNumber(text, at, end))
    return take(CompassName(text[at]), ByteAt(text, end) == '.' ? 2 : 1);
  // "9.8 N", but not "5 N Main St", "I-5 N" and "8 N.E.2d".
  if (symbol == "N" && !EndsName(text, at - (spaced ? 1 : 0)) &&
      !(ByteAt(text, end) == ' ' && IsAsciiUpper(ByteAt(text, end + 1))) &&
      !(ByteAt(text, end) == '.' && IsAsciiUpper(ByteAt(text, end + 1)))) {
    const bool belongs = text.substr(end).starts_with(" force") || MeasuredFollows(text, end);
    return take(one || belongs ? "newton" : "newtons");
  }
  // "11 st 4 lb".
  if (symbol == "st" && spaced && ByteAt(text, end) == ' ' && IsAsciiDigit(ByteAt(text, end + 1)))
    return take("stone");
  // "5 mo."
  const bool months = symbol == "mo" && ByteAt(text, end) == '.';
  const auto unit = FindUnit(symbol, spaced && !inch && !months, dialect);
  if (!unit) return std::nullopt;
  return number(*unit);
}

}  // namespace

std::optional<Reading> ReadUnitAlone(std::string_view text, size_t at) {
  size_t end = LettersEnd(text, at, 3);
  if (end == at || ByteAt(text, end) != '/') return std::nullopt;
  end = LettersEnd(text.substr(0, end + 3), end + 1);
  const auto unit = FindUnit(text.substr(at, end - at), false, EnglishDialect::kUs);
  const size_t above = text.find('/', at) - at;
  if (!unit || IsAsciiAlnum(ByteAt(text, end)) || (above < 2 && text.substr(at, end - at) != "m/s"))
    return std::nullopt;
  return ReadAs(end, unit->plural);
}

Reading ReadPer(std::string_view text, size_t word) {
  size_t end = LettersEnd(text, word, 6);
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
  if (symbol == "pp") return {end, {"per", "person"}};
  const auto unit = FindUnit(symbol, false, EnglishDialect::kUs);
  if (!unit || IsAsciiAlnum(ByteAt(text, end))) return {word, {"per"}};
  Reading reading{end + (stop && symbol.size() > 1 ? 1 : 0), {"per"}};
  reading.AppendEach(unit->singular);
  return reading;
}

bool TakeMeasure(EnglishDialect dialect, std::string_view text, bool one, bool article,
                 Reading& reading) {
  const bool spaced = ByteAt(text, reading.end) == ' ';
  const bool hyphen = ByteAt(text, reading.end) == '-';
  size_t at = reading.end + (spaced || hyphen ? 1 : 0);
  if (hyphen) {
    // "A 10-kg bag"; not "2-in-1".
    const auto unit = TakeUnit(dialect, text, at, false, true, false);
    // "A 6-mo.-old puppy", "a 5-ft-tall fence".
    if (text.substr(std::min(at, text.size())).starts_with(".-")) ++at;
    const bool old = IsOfKind(LettersAt(text, std::min(at + 1, text.size())), "dimension");
    // "A 100-W bulb", but "section 3-A".
    const bool letter =
        at == reading.end + 2 && NounFollows(text, at) && IsAmong("LVWglm", text[at - 1]);
    if (!unit || (ByteAt(text, at) == '-' && !old) || (at < reading.end + 3 && !letter))
      return false;
    reading.AppendEach(*unit);
    // "A 9-in. pan", "24 (2-in.) cookies".
    const bool goes_on = text.substr(at, 3) == ".) " ||
                         (text.substr(at, 2) == ". " && IsAsciiLetter(ByteAt(text, at + 2)));
    reading.end = at + (goes_on ? 1 : 0);
    return true;
  }
  // "7 % 3" is a remainder.
  if (spaced && text.substr(at, 2) == "% " && IsAsciiDigit(ByteAt(text, at + 2))) return false;
  if (ByteAt(text, at) == '%') {
    reading.Append("percent");
    reading.end = at + 1;
    return true;
  }
  const CodePoint sign = DecodeAt(text, at);
  // "A 5* hotel".
  const bool asterisk =
      sign.value == '*' && !spaced &&
      IsOneOf(LettersAt(text, at + 2), "accommodation", "hotel", "hotels", "resort", "restaurant");
  if (asterisk || sign.value == U'★' || sign.value == U'⭐') {
    if (DecodeAt(text, at + sign.bytes).value == sign.value) return false;  // "5 ★★★"
    reading.Append(one || NounFollows(text, at + sign.bytes) ? "star" : "stars");
    reading.end = at + sign.bytes;
    return true;
  }
  const size_t degree = text.substr(at, 2) == "°"       ? 2
                        : text.substr(at, 4) == "deg "  ? 3
                        : text.substr(at, 5) == "deg. " ? 4
                                                        : 0;
  if (degree > 0) {
    Reading behind{at + degree, {}};
    TakeLetterBehindDegrees(text, /*scales=*/true, behind);
    const bool belongs =
        (article && NounFollows(text, behind.end)) || MeasuredFollows(text, behind.end);
    reading.Append(one || belongs ? "degree" : "degrees");
    reading.Append(std::move(behind.words));
    reading.end = behind.end;
    return true;
  }
  // "The 3 Rs" are letters.
  const bool letters = article && text.substr(at, 2) == "Rs";
  if (const size_t sign = letters ? 0 : CurrencySignBytes(text, at);
      sign > 0 && !IsAsciiDigit(ByteAt(text, at + sign)) &&
      !IsAsciiLetter(ByteAt(text, at + sign))) {
    reading.AppendEach(
        CurrencyName(text.substr(at, sign), one || (article && NounFollows(text, at + sign))));
    reading.end = at + sign;
    return true;
  }
  if (!spaced && (ByteAt(text, at) == 'x' || ByteAt(text, at) == 'X') &&
      !IsAsciiAlnum(ByteAt(text, at + 1)) && !IsOperatorBehind(text, at + 1) &&
      !IsOperatorBefore(text, at) && !IsNameOfProcessor(text, at)) {
    reading.Append("times");
    reading.end = at + 1;
    return true;
  }
  const auto unit = TakeUnit(dialect, text, at, spaced, one, article);
  if (!unit) return false;
  reading.AppendEach(*unit);
  // The stop of "5 lb. of flour" and of "12 mi. NW of town" ends no sentence.
  const std::string_view behind = text.substr(std::min(at + 2, text.size()));
  const char next = ByteAt(behind, 0);
  const std::string_view compass = LettersAt(behind, 0);
  const bool directed = behind.substr(compass.size()).starts_with(" of ") &&
                        compass.find_first_not_of("NSEW") == compass.npos;
  if ((text.substr(at, 2) == ". " &&
       (IsAsciiLower(next) || IsAsciiDigit(next) || next == '@' || next == '=' || directed)) ||
      text.substr(at, 2) == ".," || text.substr(at, 2) == "./" || text.substr(at, 3) == ".) ")
    ++at;
  reading.end = at;
  return true;
}

}  // namespace millrace::models
