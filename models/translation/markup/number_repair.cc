#include "models/translation/markup/number_repair.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

std::string DigitsOf(std::string_view number) {
  std::string digits;
  for (const char c : number) {
    if (IsAsciiDigit(c)) digits += c;
  }
  return digits;
}

std::string_view In(std::string_view text, const WrittenNumber& number) {
  return text.substr(number.begin, number.end - number.begin);
}

// Those of a whose digits are not among b's, each of which stands for one.
std::vector<WrittenNumber> Missing(std::string_view a_text, std::span<const WrittenNumber> a,
                                   std::string_view b_text, std::span<const WrittenNumber> b) {
  std::map<std::string, size_t> there;
  for (const WrittenNumber& number : b) ++there[DigitsOf(In(b_text, number))];
  std::vector<WrittenNumber> missing;
  for (const WrittenNumber& number : a) {
    size_t& left = there[DigitsOf(In(a_text, number))];
    if (left > 0) {
      --left;
    } else {
      missing.push_back(number);
    }
  }
  return missing;
}

}  // namespace

std::vector<WrittenNumber> FindNumbers(std::string_view text) {
  std::vector<WrittenNumber> numbers;
  for (size_t at = 0; at < text.size();) {
    if (!IsAsciiDigit(text[at])) {
      ++at;
      continue;
    }
    size_t end = DigitsEnd(text, at);
    while (end < text.size()) {
      const CodePoint c = DecodeAt(text, end);
      const bool joins = c.value == '.' || c.value == ',' || c.value == 0xA0 || c.value == 0x202F;
      if (!joins || !IsAsciiDigit(ByteAt(text, end + c.bytes))) break;
      end = DigitsEnd(text, end + c.bytes);
    }
    numbers.push_back({at, end});
    at = end;
  }
  return numbers;
}

std::vector<NumberRepair> RepairNumbers(std::string_view source, std::string_view target) {
  const std::vector<WrittenNumber> wanted = FindNumbers(source);
  if (wanted.empty()) return {};
  const std::vector<WrittenNumber> got = FindNumbers(target);
  const auto lost = Missing(source, wanted, target, got);
  const auto strange = Missing(target, got, source, wanted);
  if (lost.size() != strange.size()) return {};
  std::vector<NumberRepair> repairs;
  for (size_t i = 0; i < lost.size(); ++i) {
    if (DigitsOf(In(source, lost[i])).size() >= kFewestDigits)
      repairs.push_back({strange[i], In(source, lost[i])});
  }
  return repairs;
}

}  // namespace millrace::models
