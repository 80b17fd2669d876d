#include "models/text/code_token.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"
#include "models/text/code_words.h"

namespace millrace::models {
namespace {

constexpr size_t kLongestToken = 256;

constexpr std::array<std::string_view, 23> kOperators = {
    "-*.", "_*.", "\\d", "\\w",  "\\s",  "\\b",  "\\D", "\\W", "\\S", "\\.", "\\/", "]+",
    "]*",  "]{",  "(?",  "[a-z", "[A-Z", "[0-9", "&&",  "||",  "==",  "**/", "/*."};

bool IsNameByteOfCode(char c) { return IsAsciiAlnum(c) || c == '_'; }
bool IsHexByte(char c) {
  return IsAsciiDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool Has(std::string_view token, std::string_view part) {
  return token.find(part) != std::string_view::npos;
}

// Returns the token up to a space, a quote or a letter beyond ASCII, without the marks of the
// sentence behind it; empty if it is too long.
std::string_view TokenAt(std::string_view text, size_t at) {
  const std::string_view window = text.substr(at, kLongestToken + 1);
  const size_t length = static_cast<size_t>(
      std::ranges::find_if(window,
                           [](char c) {
                             const auto byte = static_cast<unsigned char>(c);
                             return byte <= ' ' || byte >= 0x80 || c == '"' || c == '\'';
                           }) -
      window.begin());
  if (length > kLongestToken) return {};
  std::string_view token = window.substr(0, length);
  constexpr std::string_view kMarks = ".,;:!?";
  while (!token.empty() && kMarks.find(token.back()) != std::string_view::npos)
    token.remove_suffix(1);
  if (token.ends_with(')') && std::ranges::count(token, '(') < std::ranges::count(token, ')'))
    token.remove_suffix(1);
  return token;
}

bool IsExpressionOfCode(std::string_view token) {
  // *.log, notes/*
  if (token.size() > 2 &&
      (token.starts_with("*.") ? IsAsciiLower(token[2]) : token.ends_with("/*")))
    return true;
  if (token.size() > 2 && token.front() == '^' && token.back() == '$') return true;
  // The * behind ".*" is that of a footnote.
  const size_t any = token.find(".*");
  if (any != std::string_view::npos &&
      (any == 0 || (any + 2 < token.size() && token[any + 2] != '*')))
    return token.size() > 2;
  return std::ranges::any_of(kOperators, [token](std::string_view sign) {
    const size_t found = token.find(sign);
    return found != std::string_view::npos && (found > 0 || token.size() > sign.size());
  });
}

// Returns true for std::vector and for 2001:db8::1, 00:1a:2b:3c.
bool IsJoinedByColons(std::string_view token) {
  if (!IsNameByteOfCode(token.back())) return false;
  if (!std::ranges::all_of(token, [](char c) { return IsNameByteOfCode(c) || c == ':'; }))
    return false;
  if (Has(token, "::")) return !Has(token, ":::");
  // user:pass
  if (std::ranges::all_of(token, [](char c) { return IsAsciiLower(c) || c == ':'; }) &&
      std::ranges::count(token, ':') == 1 && token.front() != ':')
    return true;
  constexpr std::ptrdiff_t kFewestColons = 3;
  return std::ranges::count(token, ':') >= kFewestColons &&
         std::ranges::all_of(token, [](char c) { return IsHexByte(c) || c == ':'; });
}

bool IsMediaType(std::string_view token) {
  const size_t slash = token.find('/');
  return slash != std::string_view::npos && IsCodeWord(token.substr(0, slash), "media") &&
         (IsCodeWord(token.substr(slash + 1), "subtype") ||
          token.substr(slash + 1).starts_with("vnd.") || token.substr(slash + 1).starts_with("x-"));
}

bool IsHexNumber(std::string_view token) {
  return token.size() > 2 && token[0] == '0' && (token[1] == 'x' || token[1] == 'X') &&
         std::ranges::all_of(token.substr(2), IsHexByte);
}

// Returns true for the names that POSIX and programs give to errors and signals: ENOENT, SIGTERM,
// TypeError.
bool IsNameOfError(std::string_view token) {
  for (const std::string_view kind : {"Exception", "Error"}) {
    if (token.ends_with(kind) && token.size() > kind.size() && IsAsciiUpper(token.front()) &&
        IsAsciiLower(token[token.size() - kind.size() - 1]))
      return true;
  }
  if (token.starts_with("SIG") && token.size() > 5)
    return std::ranges::all_of(token, [](char c) { return IsAsciiUpper(c) || IsAsciiDigit(c); }) &&
           token.find("IGN", 3) == std::string_view::npos;
  return IsCodeWord(token, "error");
}

// Returns true for userName, not for iPhone, which is a word of the language.
bool HasInnerCapital(std::string_view token) {
  constexpr size_t kFewestSmall = 3;
  size_t small = 0;
  while (small < token.size() && token[small] >= 'a' && token[small] <= 'z') ++small;
  return small >= kFewestSmall && small < token.size() && IsAsciiUpper(token[small]) &&
         std::ranges::all_of(token, IsNameByteOfCode);
}

// Returns true for a name that a reader replaces: your-name.
bool IsOwnName(std::string_view token) {
  return (token.starts_with("your-") || token.starts_with("YOUR-") || token.starts_with("my-")) &&
         token.back() != '-' &&
         std::ranges::all_of(token, [](char c) { return IsNameByteOfCode(c) || c == '-'; });
}

// Returns true for a member of what programs have under such a name: this.state, self.name.
bool IsMember(std::string_view token) {
  const size_t dot = token.find('.');
  return IsCodeWord(token.substr(0, dot), "owner") && dot + 1 < token.size() &&
         IsAsciiLetter(token[dot + 1]) &&
         std::ranges::all_of(token, [](char c) { return IsNameByteOfCode(c) || c == '.'; });
}

// Returns true for the pattern of a date or a time: YYYY-MM-DD, dd/MM/yyyy, HH:mm.
bool IsDatePattern(std::string_view token) {
  constexpr std::string_view kLetters = "YyMmDdHhSsAa";
  constexpr std::string_view kJoints = "-/:.";
  constexpr size_t kShortest = 2;
  constexpr size_t kLongest = 4;
  size_t parts = 0;
  for (size_t at = 0; at < token.size();) {
    if (kLetters.find(token[at]) == std::string_view::npos) return false;
    const size_t end = std::min(token.find_first_not_of(token[at], at), token.size());
    if (end - at < kShortest || end - at > kLongest) return false;
    ++parts;
    if (end == token.size()) break;
    if (kJoints.find(token[end]) == std::string_view::npos || end + 1 == token.size()) return false;
    at = end + 1;
  }
  return parts > 1;
}

// Returns true for an offset from the time of the world: UTC+3.
bool IsTimeOffset(std::string_view token) {
  return (token.starts_with("UTC") || token.starts_with("GMT")) && token.size() > 4 &&
         (token[3] == '+' || token[3] == '-') && IsAsciiDigit(token[4]);
}

// Returns true for a key or a checksum, in which letters and digits change often.
bool IsKey(std::string_view token) {
  constexpr size_t kShortest = 16;
  constexpr size_t kFewestChanges = 4;
  if (token.size() < kShortest) return false;
  size_t changes = 0;
  for (size_t i = 0; i < token.size(); ++i) {
    if (!IsNameByteOfCode(token[i]) && token[i] != '.' && token[i] != '-') return false;
    if (i > 0 && IsAsciiDigit(token[i]) != IsAsciiDigit(token[i - 1])) ++changes;
  }
  return changes >= kFewestChanges && std::ranges::any_of(token, IsAsciiLetter);
}

// Returns the end of a type with its parameters: List<String>, Map<string, number>; 0 if there is
// none.
size_t GenericTypeEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 64;
  size_t end = at;
  while (IsNameByteOfCode(ByteAt(text, end)) || ByteAt(text, end) == ':') ++end;
  if (end == at || ByteAt(text, end) != '<' || IsAsciiDigit(text[at])) return 0;
  const bool is_name = IsAsciiUpper(text[at]) || text.substr(at, end - at).find("::") != text.npos;
  size_t open = 0;
  for (; is_name && end < text.size() && end - at < kLongest; ++end) {
    const char c = text[end];
    if (c == '<') ++open;
    if (c == '>' && --open == 0) return end + 1;
    const bool behind_comma = c == ' ' && text[end - 1] == ',';
    constexpr std::string_view kOthers = "<>,:[]?*&";
    if (!IsNameByteOfCode(c) && !behind_comma && kOthers.find(c) == std::string_view::npos)
      return 0;
  }
  return 0;
}

// Returns the end of the parameter behind a media type: "; charset=utf-8"; `end` if there is none.
size_t MediaParameterEnd(std::string_view text, size_t end) {
  if (text.substr(std::min(end, text.size()), 2) != "; ") return end;
  size_t at = end + 2;
  while (IsNameByteOfCode(ByteAt(text, at))) ++at;
  if (at == end + 2 || ByteAt(text, at) != '=') return end;
  const size_t value = at + 1;
  for (at = value; IsNameByteOfCode(ByteAt(text, at)) || ByteAt(text, at) == '-';) ++at;
  return at > value ? at : end;
}

// Returns the end of the condition of a version: >=3.8, ^1.2, ~> 2.1; 0 if there is none.
size_t VersionConditionEnd(std::string_view text, size_t at) {
  constexpr std::array<std::string_view, 6> kConditions = {"<=", "==", ">=", "^", "~=", "~>"};
  for (const std::string_view condition : kConditions) {
    if (!text.substr(at).starts_with(condition)) continue;
    const size_t number = at + condition.size() +
                          (condition == "~>" && ByteAt(text, at + condition.size()) == ' ' ? 1 : 0);
    size_t end = DigitsEnd(text, number);
    while (end > number && ByteAt(text, end) == '.' && DigitsEnd(text, end + 1) > end + 1)
      end = DigitsEnd(text, end + 1);
    if (end == number) return 0;
    // >=3.8,<4
    if (ByteAt(text, end) == ',' && (ByteAt(text, end + 1) == '<' || ByteAt(text, end + 1) == '!'))
      end = std::max(end, DigitsEnd(text, text.find_first_not_of("<!=", end + 1)));
    return end;
  }
  return 0;
}

// Returns the end of an attribute with a value of one word: width="100%"; 0 if there is none.
size_t AttributeEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 64;
  size_t end = at;
  while (IsNameByteOfCode(ByteAt(text, end)) || (end > at && ByteAt(text, end) == '-')) ++end;
  const char quote = ByteAt(text, end + 1);
  if (end == at || ByteAt(text, end) != '=' || (quote != '"' && quote != '\'')) return 0;
  const size_t close = text.substr(0, end + kLongest).find(quote, end + 2);
  return close != std::string_view::npos &&
                 text.substr(end, close - end).find_first_of(" \n") == std::string_view::npos
             ? close + 1
             : 0;
}

// Returns the end of operators that stand between spaces, with the short names and numbers beside
// them: a && b, x ? y : 0; 0 if there is none.
size_t OperationEnd(std::string_view text, size_t at) {
  constexpr std::array<std::string_view, 8> kCertain = {
      "!=", "!==", "&&", "==", "===", "=>", "??", "||"};
  // Between two names alone.
  constexpr std::string_view kSigns = "?^";
  constexpr std::string_view kFurtherSigns = ":+-*/%<>";  // beside another operator alone
  constexpr size_t kLongestName = 2;
  const auto name_end = [text](size_t from) {
    size_t end = from;
    while (IsNameByteOfCode(ByteAt(text, end)) && !IsAsciiUpper(text[end])) ++end;
    return end > from && end - from <= kLongestName ? end : from;
  };
  size_t end = name_end(at);
  const bool has_name = end > at;
  size_t behind = has_name ? 0 : at;
  while (true) {
    const size_t sign = end + (end > at ? 1 : 0);
    if (end > at && ByteAt(text, end) != ' ') break;
    const size_t sign_end = std::min(text.find(' ', sign), text.size());
    const std::string_view written = text.substr(std::min(sign, text.size()), sign_end - sign);
    const size_t name = std::min(sign_end + 1, text.size());
    const size_t next = name_end(name);
    const bool is_certain = std::ranges::find(kCertain, written) != kCertain.end();
    const bool has_names = (has_name || behind > at) && next > name;
    const auto is_one_of = [&](std::string_view signs) {
      return has_names && written.size() == 1 && signs.find(written[0]) != signs.npos;
    };
    // Numbers have other signs between them.
    const bool is_sign = is_one_of(kSigns) || (is_one_of("&") && IsAsciiLetter(text[at]) &&
                                               IsAsciiLetter(text[name]) && next == name + 1);
    const bool is_further_sign = is_one_of(kFurtherSigns);
    if (!is_certain && !is_sign && !is_further_sign) break;
    // Both also stand between the items of a list: "about us || contact".
    if (written == "||" && !has_name) behind = std::max(behind, sign_end);
    if ((written == "||" && !has_name) || ((written == "||" || written == "=>") && next == name))
      break;
    // The names beside a further sign are code once there is another operator.
    if (!is_further_sign || behind > at) behind = next > name ? next : sign_end;
    if (next == name) break;
    end = next;
  }
  return behind > at ? behind : 0;
}

}  // namespace

size_t CodeTokenEnd(std::string_view text, size_t at) {
  if (const size_t end = VersionConditionEnd(text, at); end > 0) return end;
  if (const size_t end = OperationEnd(text, at); end > 0) return end;
  if (const size_t end = GenericTypeEnd(text, at); end > 0) return end;
  if (const size_t end = AttributeEnd(text, at); end > 0) return end;
  const std::string_view token = TokenAt(text, at);
  if (token.size() < 3) return 0;
  if (IsMediaType(token)) return MediaParameterEnd(text, at + token.size());
  // Most tokens are words.
  const bool is_word = std::ranges::all_of(token, IsAsciiLetter);
  if (is_word && !HasInnerCapital(token) && !IsNameOfError(token)) return 0;
  const bool is_code = IsNameOfError(token) || IsExpressionOfCode(token) ||
                       IsJoinedByColons(token) || IsMember(token) || IsHexNumber(token) ||
                       HasInnerCapital(token) || IsDatePattern(token) || IsTimeOffset(token) ||
                       IsKey(token) || IsOwnName(token);
  return is_code ? at + token.size() : 0;
}

}  // namespace millrace::models
