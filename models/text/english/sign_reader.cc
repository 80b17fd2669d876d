#include "models/text/english/sign_reader.h"

#include "models/text/ascii.h"
#include "models/text/english/attributive.h"
#include "models/text/english/measure_reader.h"
#include "models/text/english/number_context.h"
#include "models/text/english/one_of.h"
#include "models/text/english/spoken_symbols.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

bool IsTimeZone(std::string_view word) {
  return IsOneOf(word, "bst", "cest", "cet", "cst", "edt", "est", "gmt", "ist", "mst", "pdt", "pst",
                 "utc");
}

bool EraOrNumberFollows(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  return IsAsciiDigit(ByteAt(rest, 0)) || rest.starts_with("AD ") || rest.starts_with("CE ");
}

// Reads the sharp of "C#" and "F♯", which are a half-tone higher, and the flat of "B♭".
std::optional<Reading> ReadKeyOfMusic(std::string_view text, const Sign& sign) {
  const size_t at = sign.begin;
  if ((sign.value != '#' && sign.value != U'♯' && sign.value != U'♭') || sign.count != 1 ||
      at == 0 || text[at - 1] < 'A' || text[at - 1] > 'G' ||
      (at > 1 && IsAsciiAlnum(text[at - 2])) || IsAsciiAlnum(ByteAt(text, sign.end)))
    return std::nullopt;
  return Reading{sign.end, {sign.value == U'♭' ? "flat" : "sharp"}};
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
  const size_t capitals = LettersEnd(text.substr(0, sign.end + kMaxExtension + 1), sign.end);
  const bool file = IsOneOf(text.substr(sign.end, capitals - sign.end), "CSV", "DOC", "DOCX", "EXE",
                            "GIF", "HTML", "ISO", "JPEG", "JPG", "JS", "MOV", "MP", "PDF", "PNG",
                            "PPT", "TXT", "WAV", "XLS", "XLSX", "XML", "ZIP");
  if (file && !IsAsciiLetter(ByteAt(text, capitals))) return Reading{sign.end, {"dot"}};
  if (end == sign.end || end - sign.end > kMaxExtension || IsAsciiAlnum(ByteAt(text, end)))
    return std::nullopt;
  // A series of a reporter of courts: "F.3d", "P.2d", "F.4th".
  const bool initial = IsAsciiUpper(text[sign.begin - 1]) &&
                       (sign.begin == 1 || !IsAsciiAlnum(text[sign.begin - 2]));
  const std::string_view series = text.substr(sign.end, end - sign.end);
  if (initial && IsOneOf(series, "2d", "3d", "4th", "5th")) return Reading{sign.end, {}};
  return Reading{sign.end, {"dot"}};
}

// Reads the sign of "a 12\" pizza", unless it closes a quotation.
std::optional<Reading> ReadInches(std::string_view text, const Sign& sign,
                                  const SignContext& context) {
  if (sign.value != '"' || sign.begin == 0 || sign.begin != context.number_end || context.quoting)
    return std::nullopt;
  const std::string_view rest = text.substr(sign.end);
  const bool sides = (rest.starts_with(" by ") && IsAsciiDigit(ByteAt(rest, 4))) ||
                     (rest.starts_with(" x ") && IsAsciiDigit(ByteAt(rest, 3)));
  const std::span<const SpokenWord> words = context.words;
  size_t number = words.size();
  while (number > 0 && words[number - 1].begin == words.back().begin) --number;
  const bool counted = number > 0 && IsArticle(words[number - 1].text, false);
  const bool pointed = number > 0 && IsArticle(words[number - 1].text, true);
  const std::string unnamed;
  const bool article = FindNumberContext(text, sign.begin, words, unnamed, true, {}).article;
  // "A 3/4\" bolt" is three quarters of an inch.
  const bool part =
      !words.empty() && (IsOneOf(words.back().text, "half", "quarter", "quarters") ||
                         words.back().text.ends_with("th") || words.back().text.ends_with("ths"));
  const bool one = (!words.empty() && words.back().text == "one") || (sides && counted) || part ||
                   ((article || pointed) && NounFollows(text, sign.end));
  return Reading{sign.end, {one ? "inch" : "inches"}};
}

// Reads a hyphen or dash that is a minus or a "to" where it stands.
std::optional<Reading> ReadDash(std::string_view text, const Sign& sign, std::string_view before) {
  if (sign.count != 1) return std::nullopt;
  const char follows = ByteAt(text, sign.end);
  if ((sign.value == '-' || sign.value == 0x2212) && IsAsciiDigit(follows) && IsTimeZone(before))
    return Reading{sign.end, {"minus"}};
  // "T-10 seconds".
  if (sign.value == '-' && before == "t" && IsAsciiDigit(follows))
    return Reading{sign.end, {"minus"}};
  // "200 BC–AD 300".
  if ((sign.value == '-' || sign.value == 0x2013) &&
      IsOneOf(before, "bc", "bce", "ad", "ce", "a.d.") &&
      EraOrNumberFollows(text, sign.end + (follows == ' ' ? 1 : 0)))
    return Reading{sign.end, {"to"}};
  return std::nullopt;
}

// Reads the slash of "7 L/100 km", "$5/page" and "3/week".
std::optional<Reading> ReadSlash(std::string_view text, const Sign& sign,
                                 const SignContext& context) {
  if (sign.value != '/' || sign.begin == 0) return std::nullopt;
  // "a = F/m".
  const bool variables = IsAsciiLetter(text[sign.begin - 1]) &&
                         IsAsciiLetter(ByteAt(text, sign.end)) &&
                         !IsAsciiAlnum(ByteAt(text, sign.end + 1));
  if (variables && sign.begin > 3 && text.substr(sign.begin - 3, 2) == "= ")
    return Reading{sign.end, {"over"}};
  if (sign.begin != context.number_end) return std::nullopt;
  if (IsAsciiLetter(text[sign.begin - 1]) && text.substr(sign.end).starts_with("100"))
    return Reading{sign.end, {"per"}};
  if (IsAsciiLetter(ByteAt(text, sign.end))) return ReadPer(text, sign.end);
  return std::nullopt;
}

}  // namespace

std::optional<Reading> ReadSign(std::string_view text, const Sign& sign,
                                const SignContext& context) {
  if (auto key = ReadKeyOfMusic(text, sign)) return key;
  if (auto dot = ReadLeadingDot(text, sign)) return dot;
  if (auto inches = ReadInches(text, sign, context)) return inches;
  const std::string before = context.words.empty() ? "" : AsciiLower(context.words.back().text);
  if (auto dash = ReadDash(text, sign, before)) return dash;
  // "n! = 120".
  const bool behind_group =
      sign.begin > 2 && text[sign.begin - 1] == ')' && IsAsciiDigit(text[sign.begin - 2]);
  if (sign.value == '!' && sign.count == 1 && (before.size() == 1 || behind_group) &&
      (text.substr(sign.end).starts_with(" =") || (behind_group && text.find('=') < sign.begin))) {
    return Reading{sign.end, {"factorial"}};
  }
  if (auto dot = ReadInnerDot(text, sign)) return dot;
  if (auto slash = ReadSlash(text, sign, context)) return slash;
  // "C:\\Users".
  if (sign.value == ':' && ByteAt(text, sign.end) == '\\') return Reading{sign.end, {"colon"}};
  // "x % 2".
  if (sign.value == '%' && before.size() == 1 && sign.begin > 0 && text[sign.begin - 1] == ' ' &&
      ByteAt(text, sign.end) == ' ' && IsAsciiAlnum(ByteAt(text, sign.end + 1)))
    return Reading{sign.end, {"mod"}};
  // "16:9".
  if (sign.value == ':' && sign.count == 1 && IsAsciiDigit(ByteAt(text, sign.end)) &&
      sign.begin > 0 && IsAsciiDigit(text[sign.begin - 1])) {
    return Reading{sign.end, {"to"}};
  }
  return std::nullopt;
}

std::optional<Reading> ReadSignName(std::string_view text, const Sign& sign,
                                    const SignContext& context) {
  // Rulers of "====" say nothing.
  const size_t count = sign.value == '&' ? 1 : sign.count;
  if (count >= 3) return std::nullopt;
  const char follows = ByteAt(text, sign.end);
  // "#A12" is a number, too.
  const bool code = IsAsciiUpper(follows) && IsAsciiDigit(ByteAt(text, sign.end + 1));
  const std::string_view name =
      SymbolName(sign.value, IsAsciiDigit(follows) || (sign.value == '#' && code));
  Reading reading{sign.end, {}};
  for (size_t i = 0; i < count; ++i) reading.AppendEach(name);
  // "∑ of all terms" has its "of" already.
  if ((sign.value == 0x2211 || sign.value == 0x222B) && context.last > sign.end &&
      !text.substr(sign.end).starts_with(" of ")) {
    reading.Append("of");
  }
  if (reading.words.empty()) return std::nullopt;
  return reading;
}

}  // namespace millrace::models
