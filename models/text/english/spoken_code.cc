#include "models/text/english/spoken_code.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "models/text/ascii.h"

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
  constexpr std::array<std::string_view, 21> kStatuses = {
      "200", "201", "204", "301", "302", "304", "307", "308", "400", "401", "403",
      "404", "405", "409", "410", "422", "429", "500", "502", "503", "504"};
  return std::ranges::binary_search(kStatuses, digits);
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

}  // namespace

std::optional<Reading> ReadSpokenCode(const NumberWords& numbers, std::string_view text, size_t at,
                                      std::string_view previous) {
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

}  // namespace millrace::models
