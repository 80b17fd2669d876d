#include "models/text/english/spoken_code.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

// Returns true if the text goes on with what has the number of a status: "a 404 page".
bool StatusFollows(std::string_view text, size_t at) {
  constexpr std::array<std::string_view, 7> kBehind = {
      " error", " page", " response", " not found", " status", " redirect", " forbidden"};
  std::string rest(text.substr(at, 12));
  for (char& c : rest) c = AsciiLower(c);
  return std::ranges::any_of(kBehind, [&](auto words) { return rest.starts_with(words); });
}

// Returns true for the statuses that servers send, of all the numbers that may count pages.
bool IsCommonStatus(std::string_view digits) {
  return IsOneOf(digits, "200", "201", "204", "301", "302", "304", "307", "308", "400", "401",
                 "403", "404", "405", "409", "410", "422", "429", "500", "502", "503", "504");
}

// Returns "four oh four", "four hundred" and "four twenty nine".
std::vector<std::string> StatusWords(const NumberWords& numbers, uint64_t status) {
  std::vector<std::string> words = numbers.Cardinal(status / 100);
  const uint64_t rest = status % 100;
  if (rest == 0) {
    words.emplace_back("hundred");
    return words;
  }
  if (rest < 10) words.emplace_back("oh");
  for (std::string& word : numbers.Cardinal(rest)) words.push_back(std::move(word));
  return words;
}

// Returns true for words that a number with hyphens follows which is a name.
bool NamesHyphenated(std::string_view word) {
  return IsOneOf(word, "account", "booking", "case", "claim", "invoice", "model", "order", "policy",
                 "ref", "reference", "serial", "ticket");
}

// Reads numbers that are names: "dial 911", "ZIP code 10001".
std::optional<Reading> ReadNamedCode(const NumberWords& numbers, std::string_view text, size_t at,
                                     const NumberContext& context) {
  constexpr size_t kMaxDigits = 8;
  const size_t end = DigitsEnd(text.substr(0, at + kMaxDigits + 1), at);
  const std::string_view digits = text.substr(at, end - at);
  if (digits.size() < 3 || digits.size() > kMaxDigits) return std::nullopt;
  const char follows = ByteAt(text, end);
  if (IsAsciiLetter(follows) || follows == '%' ||
      ((follows == ',' || follows == '.' || follows == '-') &&
       IsAsciiDigit(ByteAt(text, end + 1)))) {
    return std::nullopt;
  }
  const bool service = digits.size() == 3 && (digits.ends_with("11") || digits == "999" ||
                                              digits == "112" || digits == "000");
  // "Dial 911, or 112 in Europe", "text 88022".
  const bool abroad = (context.previous.empty() || context.previous == "or") &&
                      text.substr(end, 4) == " in " && IsAsciiUpper(ByteAt(text, end + 4));
  const bool short_code = digits.size() >= 4 && context.telephone &&
                          (context.previous == "text" || context.previous == "dial" ||
                           (context.previous == "to" && digits.size() >= 5));
  const bool called = (service && (context.telephone || abroad)) || short_code;
  if (!called && !context.code && !NamesCode(context.previous)) return std::nullopt;
  return Reading{end, numbers.Digits(digits)};
}

// Reads the digits of "#12345-67" and "order 114-3941689".
std::optional<Reading> ReadHyphenatedCode(const NumberWords& numbers, std::string_view text,
                                          size_t at, std::string_view previous) {
  constexpr size_t kMaxDigits = 16;
  constexpr size_t kMinDigits = 5;  // "order 3-5" is a range
  const bool numbered = at > 0 && text[at - 1] == '#';
  if (!numbered && !NamesHyphenated(previous)) return std::nullopt;
  std::string digits;
  size_t end = at;
  size_t groups = 0;
  do {
    const size_t begin = end + (groups > 0 ? 1 : 0);
    end = DigitsEnd(text.substr(0, begin + kMaxDigits), begin);
    digits += text.substr(begin, end - begin);
    ++groups;
  } while (ByteAt(text, end) == '-' && IsAsciiDigit(ByteAt(text, end + 1)) && groups < kMaxDigits);
  if (groups < 2 || IsAsciiAlnum(ByteAt(text, end))) return std::nullopt;
  if (!numbered && digits.size() < kMinDigits) return std::nullopt;
  return Reading{end, numbers.Digits(digits)};
}

// Reads the digits between hyphens of a code in capitals, "AB-1234-XY" and "INV-2024-0042", and of
// two letters and four digits, "BA-2490", but not those of "F-150".
std::optional<Reading> ReadCodeOfParts(const NumberWords& numbers, std::string_view text,
                                       size_t at) {
  constexpr size_t kMaxDigits = 8;
  constexpr size_t kMaxCode = 24;
  const size_t end = DigitsEnd(text.substr(0, at + kMaxDigits + 1), at);
  if (at < 3 || text[at - 1] != '-' || end - at < 3 || end - at > kMaxDigits) return std::nullopt;
  const auto is_part = [](char c) { return IsAsciiUpper(c) || IsAsciiDigit(c) || c == '-'; };
  size_t begin = at;
  while (begin > 0 && at - begin < kMaxCode && is_part(text[begin - 1])) --begin;
  if (begin > 0 && IsAsciiAlnum(text[begin - 1])) return std::nullopt;
  const size_t letters = LettersEnd(text.substr(0, at), begin) - begin;
  if (letters < 2) return std::nullopt;
  const bool parts = text.substr(begin, at - 1 - begin).find('-') != std::string_view::npos;
  const bool more = ByteAt(text, end) == '-' &&
                    (IsAsciiUpper(ByteAt(text, end + 1)) || IsAsciiDigit(ByteAt(text, end + 1)));
  const bool flight =
      letters == 2 && end - at == 4 && text[at] != '1' && text.substr(at, 2) != "20";
  if (IsAsciiAlnum(ByteAt(text, end)) || (!parts && !more && !flight)) return std::nullopt;
  return Reading{end, numbers.Digits(text.substr(at, end - at))};
}

// Reads the names of airplanes, "737-800" and "Boeing 747", and of the networks "802.11".
std::optional<Reading> ReadModel(const NumberWords& numbers, std::string_view text, size_t at,
                                 std::string_view previous) {
  constexpr size_t kDigits = 3;
  if (text.substr(at).starts_with("802.11") && !IsAsciiDigit(ByteAt(text, at + 6))) {
    Reading reading{LettersEnd(text.substr(0, at + 9), at + 6),
                    {"eight", "oh", "two", "point", "eleven"}};
    for (size_t i = at + 6; i < reading.end; ++i)
      reading.Append(std::string(1, static_cast<char>(std::toupper(text[i]))) + ".");
    return reading;
  }
  const size_t end = DigitsEnd(text.substr(0, at + kDigits + 1), at);
  if (end != at + kDigits || text[at] != '7' || text[at + 2] != '7') return std::nullopt;
  const size_t variant = end + 1;
  const bool has_variant = ByteAt(text, end) == '-' &&
                           DigitsEnd(text.substr(0, variant + kDigits + 1), variant) == end + 4 &&
                           text.substr(variant + 1, 2) == "00";
  if (!has_variant && (previous != "boeing" || IsAsciiAlnum(ByteAt(text, end))))
    return std::nullopt;
  Reading reading{end, numbers.Cardinal(7)};
  reading.Append(text[at + 1] == '0' ? std::vector<std::string>{"oh", "seven"}
                                     : numbers.Cardinal(ParseDigits(text.substr(at + 1, 2))));
  if (has_variant) {
    reading.Append(numbers.Cardinal(ParseDigits(text.substr(variant, kDigits))));
    reading.end = variant + kDigits;
  }
  return reading;
}

// Reads "0x1F" digit by digit.
std::optional<Reading> ReadHexadecimal(const NumberWords& numbers, std::string_view text,
                                       size_t at) {
  if (text.substr(at, 2) != "0x" && text.substr(at, 2) != "0X") return std::nullopt;
  constexpr size_t kMaxDigits = 16;
  size_t end = at + 2;
  bool letters = false;
  while (end < text.size() && end - at <= kMaxDigits + 2 && std::isxdigit(text[end]) != 0) {
    letters = letters || !IsAsciiDigit(text[end]);
    ++end;
  }
  // "0x4" may be a product.
  if (end < at + 4 || end - at > kMaxDigits + 2 || IsAsciiAlnum(ByteAt(text, end)))
    return std::nullopt;
  Reading reading{end, {"zero", "X."}};
  for (size_t i = at + 2; i < end; ++i) {
    if (IsAsciiDigit(text[i])) {
      reading.Append(numbers.Digits(text.substr(i, 1)));
    } else {
      reading.words.push_back(std::string(1, static_cast<char>(std::toupper(text[i]))) + ".");
    }
  }
  return reading;
}

// Reads the status of HTTP, the mode of a file and a port.
std::optional<Reading> ReadProgrammersCode(const NumberWords& numbers, std::string_view text,
                                           size_t at, std::string_view previous) {
  constexpr size_t kMaxDigits = 5;
  const size_t end = DigitsEnd(text.substr(0, at + kMaxDigits + 1), at);
  const std::string_view digits = text.substr(at, end - at);
  const char follows = ByteAt(text, end);
  if (digits.size() < 3 || digits.size() > kMaxDigits || IsAsciiAlnum(follows) || follows == '%' ||
      ((follows == ',' || follows == '.') && IsAsciiDigit(ByteAt(text, end + 1)))) {
    return std::nullopt;
  }
  const bool octal = std::ranges::all_of(digits, [](char c) { return c < '8'; });
  if (previous == "chmod" || previous == "umask") {
    if (!octal || digits.size() > 4) return std::nullopt;
    return Reading{end, numbers.Digits(digits)};
  }
  // "Port 3000" is three thousand.
  if ((previous == "port" || previous == "ports") && !digits.ends_with("00"))
    return Reading{end, numbers.Digits(digits)};
  const bool named = previous == "http" || previous == "https" || previous == "status" ||
                     previous == "error" || (IsCommonStatus(digits) && StatusFollows(text, end));
  if (!named || digits.size() != 3 || digits[0] < '1' || digits[0] > '5') return std::nullopt;
  return Reading{end, StatusWords(numbers, ParseDigits(digits))};
}

}  // namespace

bool NamesCode(std::string_view word) {
  return IsOneOf(word, "code", "ext", "extension", "passcode", "password", "pin", "postcode", "zip",
                 "otp");
}

std::optional<Reading> ReadSpokenCode(const NumberWords& numbers, std::string_view text, size_t at,
                                      const NumberContext& context) {
  if (auto code = ReadProgrammersCode(numbers, text, at, context.previous)) return code;
  if (auto code = ReadNamedCode(numbers, text, at, context)) return code;
  if (auto code = ReadHyphenatedCode(numbers, text, at, context.previous)) return code;
  if (auto code = ReadCodeOfParts(numbers, text, at)) return code;
  if (auto model = ReadModel(numbers, text, at, context.previous)) return model;
  return ReadHexadecimal(numbers, text, at);
}

}  // namespace millrace::models
