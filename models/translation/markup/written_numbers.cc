#include "models/translation/markup/written_numbers.h"

#include <algorithm>
#include <cstddef>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {

std::string DigitsOf(std::string_view number) {
  std::string digits;
  for (const char c : number) {
    if (models::IsAsciiDigit(c)) digits += c;
  }
  return digits;
}

std::string_view In(std::string_view text, const WrittenNumber& number) {
  return text.substr(number.begin, number.end - number.begin);
}

std::vector<WrittenNumber> FindNumbers(std::string_view text, bool joins_spaces) {
  constexpr size_t kThousands = 3;
  std::vector<WrittenNumber> numbers;
  for (size_t at = 0; at < text.size();) {
    if (!models::IsAsciiDigit(text[at])) {
      ++at;
      continue;
    }
    const size_t first = models::DigitsEnd(text, at);
    size_t end = first;
    while (end < text.size()) {
      const models::CodePoint c = models::DecodeAt(text, end);
      const size_t next = models::DigitsEnd(text, end + c.bytes);
      const bool joins = c.value == '.' || c.value == ',' || c.value == 0xA0 || c.value == 0x202F ||
                         (c.value == ' ' && joins_spaces && first - at <= kThousands &&
                          next - end == 1 + kThousands);
      if (!joins || next == end + c.bytes) break;
      end = next;
    }
    numbers.push_back({at, end});
    at = end;
  }
  return numbers;
}

std::vector<WrittenNumber> FindCodes(std::string_view text) {
  constexpr std::string_view kJoints = "/:-";
  constexpr size_t kFewestParts = 3;
  constexpr size_t kManyGroups = 2;  // separators of a number, of which a short one follows
  const auto separators = [text](const WrittenNumber& number) {
    return std::ranges::count_if(In(text, number), [](char c) { return c == '.' || c == ','; });
  };
  const std::vector<WrittenNumber> numbers = FindNumbers(text);
  std::vector<WrittenNumber> codes;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1].begin == numbers[last].end + 1 &&
           kJoints.find(text[numbers[last].end]) != std::string_view::npos) {
      ++last;
    }
    const bool is_pair = last == i + 1 && separators(numbers[last]) == 0 &&
                         static_cast<size_t>(separators(numbers[i])) >= kManyGroups;
    // 00:01.000
    const bool is_time = last == i + 1 && text[numbers[i].end] == ':' &&
                         separators(numbers[i]) == 0 && separators(numbers[last]) == 1;
    if (last + 1 - i >= kFewestParts || is_pair || is_time)
      codes.push_back({numbers[i].begin, numbers[last].end});
    i = last + 1;
  }
  return codes;
}

}  // namespace millrace::translation
