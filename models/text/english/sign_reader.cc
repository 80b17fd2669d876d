#include "models/text/english/sign_reader.h"

#include <algorithm>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/letter_run.h"
#include "models/text/english/measure_reader.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/number_context.h"
#include "models/text/english/one_of.h"
#include "models/text/english/spoken_symbols.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

bool IsTimeZone(std::string_view word) { return IsOfKind(word, "time-zone"); }

bool EraOrNumberFollows(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  return IsAsciiDigit(ByteAt(rest, 0)) || rest.starts_with("AD ") || rest.starts_with("CE ");
}

// Reads the sharp of "C#" and "F♯", which are a half-tone higher, and the flat of "B♭" and "♭VII".
std::optional<Reading> ReadKeyOfMusic(std::string_view text, const Sign& sign) {
  const size_t at = sign.begin;
  const std::string half(sign.value == U'♭' ? "flat" : "sharp");
  // "♭VII", "♯11".
  if ((sign.value == U'♯' || sign.value == U'♭') && sign.count == 1 &&
      (IsAsciiUpper(ByteAt(text, sign.end)) || IsAsciiDigit(ByteAt(text, sign.end))))
    return Reading{sign.end, {half}};
  if ((sign.value != '#' && sign.value != U'♯' && sign.value != U'♭') || sign.count != 1 ||
      at == 0 || text[at - 1] < 'A' || text[at - 1] > 'G' ||
      (at > 1 && IsAsciiAlnum(text[at - 2])) || IsAsciiAlnum(ByteAt(text, sign.end)))
    return std::nullopt;
  return Reading{sign.end, {half}};
}

// Reads the first dot of ".NET" and ".env".
std::optional<Reading> ReadLeadingDot(std::string_view text, const Sign& sign) {
  if (sign.value != '.' || sign.count != 1 || !IsAsciiLetter(ByteAt(text, sign.end)) ||
      (sign.begin > 0 && !IsSpace(DecodeBefore(text, sign.begin).value)))
    return std::nullopt;
  if (text.substr(sign.end, 3) == "NET" && !IsAsciiAlnum(ByteAt(text, sign.end + 3)))
    return Reading{sign.end + 3, {"dot", "net"}};
  return Reading{sign.end, {"dot"}};
}

// Returns true for a dot between the names of a program: "java.util.List", "console.log(x)".
bool IsDotOfCode(std::string_view text, size_t dot) {
  constexpr size_t kFarthest = 48;
  const auto is_part = [](char c) { return IsAsciiAlnum(c) || c == '.' || c == '_'; };
  size_t begin = dot;
  while (begin > 0 && dot - begin < kFarthest && is_part(text[begin - 1])) --begin;
  size_t end = dot;
  while (end - dot < kFarthest && is_part(ByteAt(text, end))) ++end;
  std::string_view names = text.substr(begin, end - begin);
  while (names.ends_with('.')) names.remove_suffix(1);
  if (names.size() <= dot - begin || names.find("..") != names.npos) return false;
  size_t dots = 0;
  for (size_t at = 0, next = 0; next != names.npos; at = next + 1) {
    next = names.find('.', at);
    if (std::min(next, names.size()) < at + 2 || !IsAsciiLetter(names[at])) return false;
    dots += next != names.npos ? 1 : 0;
  }
  // "NullPointerException" in the last name.
  const std::string_view last = names.substr(names.rfind('.') + 1);
  const auto hump = std::ranges::adjacent_find(
      last, [](char a, char b) { return IsAsciiLower(a) && IsAsciiUpper(b); });
  return dots > 1 || hump != last.end() ||
         (names.size() == end - begin && ByteAt(text, end) == '(');
}

// Reads the dot of "file.txt"; "end.Begin" lacks a space.
std::optional<Reading> ReadInnerDot(std::string_view text, const Sign& sign) {
  constexpr size_t kMaxExtension = 4;
  if (sign.value != '.' || sign.count != 1 || sign.begin == 0 ||
      !IsAsciiAlnum(text[sign.begin - 1]))
    return std::nullopt;
  size_t end = sign.end;
  while (end - sign.end <= kMaxExtension && IsAsciiAlnum(ByteAt(text, end)) &&
         !IsAsciiUpper(text[end])) {
    ++end;
  }
  const size_t capitals = LettersEnd(text, sign.end, kMaxExtension + 1);
  const bool file = IsOfKind(text.substr(sign.end, capitals - sign.end), "file-ending");
  if (file && !IsAsciiLetter(ByteAt(text, capitals))) return Reading{sign.end, {"dot"}};
  if (IsDotOfCode(text, sign.begin)) return Reading{sign.end, {"dot"}};
  if (end == sign.end || end - sign.end > kMaxExtension || IsAsciiAlnum(ByteAt(text, end)))
    return std::nullopt;
  // A series of a reporter of courts: "F.3d", "P.2d", "F.4th".
  const bool initial = IsAsciiUpper(text[sign.begin - 1]) &&
                       (sign.begin == 1 || !IsAsciiAlnum(text[sign.begin - 2]));
  const std::string_view series = text.substr(sign.end, end - sign.end);
  if (initial && IsOneOf(series, "2d", "3d", "4th", "5th")) return Reading{sign.end, {}};
  return Reading{sign.end, {"dot"}};
}

// Returns the index of the first word of the number that was read last.
size_t FirstOfNumber(std::span<const SpokenWord> words) {
  size_t number = words.size();
  while (number > 0 && words[number - 1].begin == words.back().begin) --number;
  return number;
}

// Returns true if an article is before the number that was read last: "a 99¢ app".
bool FollowsArticle(std::span<const SpokenWord> words) {
  const size_t number = FirstOfNumber(words);
  return number > 0 && IsArticle(words[number - 1].text, true);
}

// Reads the sign of "a 12\" pizza", unless it closes a quotation.
std::optional<Reading> ReadInches(std::string_view text, const Sign& sign,
                                  const SignContext& context) {
  if (sign.value != '"' || sign.begin == 0 || sign.begin != context.number_end || context.quoting)
    return std::nullopt;
  const std::string_view rest = text.substr(sign.end);
  const bool sides = (rest.starts_with(" by ") && IsAsciiDigit(ByteAt(rest, 4))) ||
                     (rest.starts_with(" x ") && IsAsciiDigit(ByteAt(rest, 3))) ||
                     (rest.starts_with(" × ") && IsAsciiDigit(ByteAt(rest, 4))) ||
                     (rest.starts_with("x") && IsAsciiDigit(ByteAt(rest, 1)));
  const std::span<const SpokenWord> words = context.words;
  const size_t number = FirstOfNumber(words);
  const bool counted = number > 0 && IsArticle(words[number - 1].text, false);
  const bool pointed = FollowsArticle(words);
  const std::string unnamed;
  const bool article = FindNumberContext(text, sign.begin, words, unnamed, true, {}).article;
  // "A 3/4\" bolt" is three quarters of an inch.
  // "Cut to 5 1/2\"." are inches again.
  const bool ends =
      rest.empty() || IsAmong(".,;:!?)", rest[0]) || IsOfKind(LettersAt(rest, 1), "dimension");
  const bool mixed = ends && std::ranges::any_of(words.subspan(number), [](const SpokenWord& word) {
                       return word.text == "and";
                     });
  const bool part = !words.empty() && !mixed &&
                    (IsOneOf(words.back().text, "half", "quarter", "quarters") ||
                     words.back().text.ends_with("th") || words.back().text.ends_with("ths"));
  const bool by = number > 0 && words[number - 1].text == "by";
  const bool one =
      (!words.empty() && words.back().text == "one") || (sides && counted) || part ||
      ((pointed || (article && !IsOneOf(LettersAt(rest, 1), "deep", "high", "long", "tall", "thick",
                                        "wide"))) &&
       NounFollows(text, sign.end)) ||
      (by ? number > 1 && words[number - 2].text == "inch" : MeasuredFollows(text, sign.end));
  return Reading{sign.end, {one ? "inch" : "inches"}};
}

// Reads a hyphen or dash that is a minus or a "to" where it stands.
std::optional<Reading> ReadDash(std::string_view text, const Sign& sign, std::string_view before) {
  if (sign.count != 1) return std::nullopt;
  const char follows = ByteAt(text, sign.end);
  if ((sign.value == '-' || sign.value == 0x2212) && IsAsciiDigit(follows) && IsTimeZone(before))
    return Reading{sign.end, {"minus"}};
  // "T-10 seconds", "T-5:00".
  const size_t count_end = DigitsEnd(text, sign.end, 4);
  if (sign.value == '-' && before == "t" && IsAsciiDigit(follows) &&
      (ByteAt(text, count_end) == ':' || text.substr(count_end).starts_with(" and counting") ||
       IsOfKind(LettersAt(text, count_end + 1), "countdown-unit")))
    return Reading{sign.end, {"minus"}};
  // "200 BC–AD 300".
  if ((sign.value == '-' || sign.value == 0x2013) &&
      IsOneOf(before, "bc", "bce", "ad", "ce", "a.d.") &&
      EraOrNumberFollows(text, sign.end + (follows == ' ' ? 1 : 0)))
    return Reading{sign.end, {"to"}};
  return std::nullopt;
}

// Returns the end of the name of a period at `at`, of "cases/day"; 0 if there is none.
size_t PeriodEnd(std::string_view text, size_t at) {
  const std::string_view word = LettersAt(text, at);
  const bool period = IsOneOf(word, "day", "hour", "minute", "month", "second", "week", "year");
  return period && !IsAsciiAlnum(ByteAt(text, at + word.size())) ? at + word.size() : 0;
}

// Returns true if the last word is counted: "20 cases", "pages".
bool CountsBefore(const SignContext& context) {
  const std::span<const SpokenWord> words = context.words;
  if (words.back().text.ends_with('s')) return true;
  return context.number_end + 1 == words.back().begin;
}

// Reads the slash of "7 L/100 km", "$5/page" and "3/week".
std::optional<Reading> ReadSlash(std::string_view text, const Sign& sign,
                                 const SignContext& context) {
  if (sign.value != '/' || sign.begin == 0 || text.substr(sign.end).starts_with("gas"))
    return std::nullopt;
  // "a = F/m", "x/y > 1".
  const bool variables = IsAsciiLetter(text[sign.begin - 1]) &&
                         IsAsciiLetter(ByteAt(text, sign.end)) &&
                         !IsAsciiAlnum(ByteAt(text, sign.end + 1));
  if (variables && ((sign.begin > 3 && text.substr(sign.begin - 3, 2) == "= ") ||
                    BeginsWithOne(text.substr(sign.end + 1), " =| <| >| ≤| ≥| ≠| ≈")))
    return Reading{sign.end, {"over"}};
  // "x²/2", "(a + b) / 2".
  const size_t divisor = sign.end + (ByteAt(text, sign.end) == ' ' ? 1 : 0);
  const char32_t power = DecodeBefore(text, sign.begin).value;
  const bool grouped = divisor > sign.end && text.substr(0, sign.begin).ends_with(") ") &&
                       text.find('=') < sign.begin;
  if ((power == 0xB2 || power == 0xB3 || grouped) && IsAsciiDigit(ByteAt(text, divisor)))
    return Reading{divisor, {"over"}};
  // "π/4".
  if (IsGreek(DecodeBefore(text, sign.begin).value) && IsAsciiDigit(ByteAt(text, sign.end)))
    return Reading{sign.end, {"over"}};
  // "Cells/mL", but not "pros/cons".
  const std::string_view last =
      context.words.empty() ? "" : std::string_view(context.words.back().text);
  if (const size_t end = PeriodEnd(text, sign.end);
      end > 0 && sign.begin != context.number_end && last.size() > 2 && CountsBefore(context)) {
    return Reading{end, {"per", std::string(text.substr(sign.end, end - sign.end))}};
  }
  // "10^9/L".
  const size_t exponent = DigitsBegin(text, sign.begin, 3);
  const bool power_behind_caret = exponent > 1 && exponent < sign.begin &&
                                  text[exponent - 1] == '^' && IsAsciiDigit(text[exponent - 2]);
  if (power_behind_caret ||
      (sign.begin != context.number_end && last.size() > 3 && last.ends_with('s'))) {
    Reading per = ReadPer(text, sign.end);
    return per.words.size() > 1 ? std::optional(std::move(per)) : std::nullopt;
  }
  if (sign.begin != context.number_end) return std::nullopt;
  // "7 L/100 km", "£1/100g".
  const bool sum =
      IsOneOf(last, "cents", "dollar", "dollars", "euro", "euros", "pence", "pound", "pounds");
  if ((IsAsciiLetter(text[sign.begin - 1]) || sum) && text.substr(sign.end).starts_with("100"))
    return Reading{sign.end, {"per"}};
  if (!IsAsciiLetter(ByteAt(text, sign.end))) return std::nullopt;
  Reading per = ReadPer(text, sign.end);
  // "f = 1/T", "1/x".
  const bool variable = per.words.size() == 1 && !IsAsciiAlnum(ByteAt(text, sign.end + 1)) &&
                        (IsAsciiUpper(text[sign.end]) || IsAmong("knxyz", text[sign.end]));
  if (variable && IsAsciiDigit(text[sign.begin - 1])) per.words[0] = "over";
  // "H.265/HEVC" has another name.
  if (per.words.size() == 1 && !variable && IsAsciiUpper(text[sign.end])) return std::nullopt;
  return per;
}

// Returns true if a sum or product with a variable in brackets ends there: "(k+1)", "(2n)".
bool EndsGroup(std::string_view text, size_t end) {
  constexpr size_t kMaxBytes = 16;
  bool variable = false;
  bool number = false;
  for (size_t at = end - 1; at > 0 && end - at < kMaxBytes;) {
    const char c = text[--at];
    if (c == '(') return variable && number;
    const bool letter = IsAsciiLower(c);
    if (letter && IsAsciiLetter(text[at + 1])) return false;
    if (!letter && !IsAsciiDigit(c) && !IsAmong("+-*/ ", c)) return false;
    variable = variable || letter;
    number = number || !letter;
  }
  return false;
}

// Returns true for the sign of "n! = 120", "(k+1)!" and "n!/2".
bool IsFactorial(std::string_view text, const Sign& sign, std::string_view before) {
  if (sign.value != '!' || sign.count != 1 || sign.begin < 1) return false;
  const bool group = text[sign.begin - 1] == ')';
  if (group && EndsGroup(text, sign.begin)) return true;
  const bool sum = group && sign.begin > 2 && IsAsciiDigit(text[sign.begin - 2]);
  const bool variable = IsOneOf(before, "k", "m", "n") && text[sign.begin - 1] == before[0];
  const std::string_view rest = text.substr(sign.end);
  if (variable && (rest.starts_with('/') || rest.starts_with(" /") || rest.starts_with(" is ")))
    return true;
  return (before.size() == 1 || sum) &&
         (rest.starts_with(" =") || (sum && text.find('=') < sign.begin));
}

// Returns true for the colon before a verse, and before the year of a standard: "Quran 2:255", "ISO
// 9001:2015".
bool IsWithinCitation(std::string_view text, size_t colon) {
  size_t at = colon;
  while (at > 0 && (IsAsciiDigit(text[at - 1]) || text[at - 1] == '-')) --at;
  if (at == 0 || text[at - 1] != ' ') return false;
  const size_t end = --at;
  while (at > 0 && (IsAsciiLetter(text[at - 1]) || text[at - 1] == '\'')) --at;
  if (IsOfKind(text.substr(at, end - at), "verse")) return true;
  return IsOneOf(text.substr(at, end - at), "ASTM", "BS", "DIN", "EN", "IEC", "IEEE", "ISO") &&
         DigitsEnd(text.substr(0, colon + 6), colon + 1) == colon + 5;
}

}  // namespace

std::optional<Reading> ReadSign(std::string_view text, const Sign& sign,
                                const SignContext& context) {
  if (auto key = ReadKeyOfMusic(text, sign)) return key;
  if (auto dot = ReadLeadingDot(text, sign)) return dot;
  if (auto inches = ReadInches(text, sign, context)) return inches;
  const std::string before = context.words.empty() ? "" : AsciiLower(context.words.back().text);
  if (auto dash = ReadDash(text, sign, before)) return dash;
  if (IsFactorial(text, sign, before)) return Reading{sign.end, {"factorial"}};
  if (auto dot = ReadInnerDot(text, sign)) return dot;
  if (auto slash = ReadSlash(text, sign, context)) return slash;
  // "3·10^4", "n·(n - 1)".
  const char factor = ByteAt(text, sign.end);
  if (sign.value == 0xB7 && sign.begin > 0 &&
      ((IsAsciiDigit(text[sign.begin - 1]) && IsAsciiDigit(factor)) ||
       (IsAsciiAlnum(text[sign.begin - 1]) && factor == '(')))
    return Reading{sign.end, {"times"}};
  // "C:\\Users".
  if (sign.value == '+' && sign.count == 1 && text.substr(sign.end, 2) == "/-")
    return Reading{sign.end + 2, {"plus", "or", "minus"}};
  if (sign.value == ':' && ByteAt(text, sign.end) == '\\') return Reading{sign.end, {"colon"}};
  // "x % 2", "x * 2".
  if ((sign.value == '%' || sign.value == '*') && sign.count == 1 && before.size() == 1 &&
      sign.begin > 0 && text[sign.begin - 1] == ' ' && ByteAt(text, sign.end) == ' ' &&
      IsAsciiAlnum(ByteAt(text, sign.end + 1)))
    return Reading{sign.end, {sign.value == '%' ? "mod" : "times"}};
  // "Hob. XVI:52".
  if (sign.value == ':' && sign.begin > 1 && IsAsciiDigit(ByteAt(text, sign.end)) &&
      IsListed(text.substr(sign.begin - 1, 1), " I V X ") &&
      (before.ends_with("teen") || IsOneOf(before, "one", "two", "three")))
    return Reading{sign.end, {}};
  // A share: "$AAPL", but not the variable "$PATH".
  if (sign.value == '$' && sign.count == 1) {
    const std::string_view share = LettersAt(text, sign.end, 6);
    if (share.size() > 1 && share.size() < 6 && std::ranges::all_of(share, IsAsciiUpper) &&
        !IsAsciiAlnum(ByteAt(text, sign.end + share.size())) &&
        ByteAt(text, sign.end + share.size()) != '_' &&
        !IsOneOf(share, "HOME", "LANG", "PATH", "PWD", "SHELL", "TERM", "USER"))
      return Reading{sign.end, {}};
  }
  // One stream of a program goes where another one does: "2>&1".
  if (sign.value == '>' && sign.begin > 0 && IsAsciiDigit(text[sign.begin - 1]) &&
      ByteAt(text, sign.end) == '&')
    return Reading{sign.end + 1, {"to"}};
  // "16:9".
  if (sign.value == ':' && sign.count == 1 && IsAsciiDigit(ByteAt(text, sign.end)) &&
      sign.begin > 0 && IsAsciiDigit(text[sign.begin - 1])) {
    if (IsWithinCitation(text, sign.begin)) return Reading{sign.end, {}};
    // "sha256:9f86".
    const size_t digits = DigitsBegin(text, sign.begin);
    // "docker run -p 8080:80".
    const bool named = (digits > 1 && IsAsciiLower(text[digits - 1])) || sign.begin - digits == 4;
    return Reading{sign.end, {named ? "colon" : "to"}};
  }
  return std::nullopt;
}

std::optional<Reading> ReadSignName(std::string_view text, const Sign& sign,
                                    const SignContext& context) {
  // Rulers of "====" say nothing, but the grade "A+++" does.
  const size_t count = sign.value == '&' ? 1 : sign.count;
  const bool grade = sign.value == '+' && sign.begin > 0 && IsAsciiLetter(text[sign.begin - 1]);
  if (count >= 3 && (!grade || count > 4)) return std::nullopt;
  const char follows = ByteAt(text, sign.end);
  // The keys of a telephone: "dial *67", "#31#", "press # to end".
  const bool key = (sign.value == '*' || sign.value == '#') && count == 1;
  const std::string before = context.words.empty() ? "" : AsciiLower(context.words.back().text);
  const size_t digits_end = DigitsEnd(text, sign.end, 8);
  const bool pressed =
      (IsOneOf(before, "call", "dial", "enter", "hit", "press") ||
       (IsOneOf(before, "and", "or", "then") && !context.words.empty() &&
        IsOneOf(AsciiLower(context.words[0].text), "dial", "enter", "hit", "press"))) &&
      (sign.value == '*' ? IsAsciiDigit(follows) || follows == ' ' : !IsAsciiAlnum(follows));
  if (key && (pressed || (digits_end > sign.end && ByteAt(text, digits_end) == '#')))
    return Reading{sign.end, {sign.value == '*' ? "star" : "pound"}};
  // "8½\" × 11\"", "1920×1080p", "3840×2160".
  const size_t operand = sign.end + (follows == ' ' ? 1 : 0);
  const size_t side = DigitsEnd(text, operand);
  if (sign.value == U'×' && side > operand &&
      (IsOneOf(before, "feet", "inch", "inches") ||
       (ByteAt(text, side) == 'p' && side > operand + 2) ||
       (side == sign.end + 4 && DigitsBegin(text, sign.begin, 5) + 4 == sign.begin)))
    return Reading{sign.end, {"by"}};
  // All files of a kind: "*.txt".
  if (sign.value == '*' && count == 1 && follows == '.' &&
      IsAsciiLetter(ByteAt(text, sign.end + 1)))
    return Reading{sign.end + 1, {"star", "dot"}};
  if (sign.value == '#' && sign.begin > 0 && IsAsciiDigit(text[sign.begin - 1]) &&
      !IsAsciiAlnum(follows))
    return Reading{sign.end, {"pound"}};
  if (sign.value == 0xA7 && count == 2) return Reading{sign.end, {"sections"}};
  // "#A12" and "#A-12" are numbers, too.
  constexpr size_t kMaxLetters = 3;
  const size_t letters = LettersEnd(text, sign.end, kMaxLetters);
  const size_t digit = letters + (ByteAt(text, letters) == '-' ? 1 : 0);
  const bool code = IsAsciiUpper(follows) && IsAsciiDigit(ByteAt(text, digit));
  const size_t money = CurrencySignBytes(text, sign.end);
  // "Model #: XJ-900".
  const size_t count_end = DigitsEnd(text, sign.end, 8);
  const bool tag = IsAsciiLetter(ByteAt(text, count_end)) &&
                   IsAsciiLetter(ByteAt(text, count_end + 1)) &&
                   IsAsciiLetter(ByteAt(text, count_end + 2));  // "#2024goals"
  // "Tracking # 1Z999".
  const bool apart = follows == ' ' && (IsAsciiDigit(ByteAt(text, sign.end + 1)) ||
                                        IsAsciiDigit(ByteAt(text, sign.end + 2)));
  const bool number = (IsAsciiDigit(follows) && !tag) ||
                      (sign.value == '#' && (code || follows == ':' || apart)) ||
                      (money > 0 && IsAsciiDigit(ByteAt(text, sign.end + money)));
  std::string_view name = SymbolName(sign.value, number);
  if (sign.value == 0xA2 && !context.words.empty() &&
      (context.words.back().text == "one" || MeasuredFollows(text, sign.end) ||
       (NounFollows(text, sign.end) && FollowsArticle(context.words))))
    name = "cent";
  Reading reading{sign.end, {}};
  for (size_t i = 0; i < count; ++i) reading.AppendEach(name);
  // "∑ of all terms" has its "of" already.
  if ((sign.value == 0x2211 || sign.value == 0x222B) && context.last > sign.end &&
      !text.substr(sign.end).starts_with(" of ")) {
    // "∫₀¹", whose limits are folded.
    const char32_t upper = DecodeAt(text, sign.end + 1).value;
    const bool limits = IsAsciiDigit(follows) && (upper == 0xB9 || upper == 0xB2 || upper == 0xB3 ||
                                                  (upper >= 0x2070 && upper <= 0x2079));
    reading.Append(limits ? "from" : "of");
  }
  if (reading.words.empty()) return std::nullopt;
  return reading;
}

}  // namespace millrace::models
