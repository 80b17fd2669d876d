#include "models/text/english/phone_reader.h"

#include <array>

#include "models/text/ascii.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxBytes = 32;
constexpr size_t kMaxGroups = 6;

struct Groups {
  std::array<size_t, kMaxGroups> sizes = {};
  size_t count = 0;
  size_t end = 0;
  bool dashes = true;   // every separator is "-"
  bool dots = true;     // every separator is "."
  bool hyphens = true;  // every separator is "-", "." or follows a bracket
  std::string digits;

  bool Are(std::initializer_list<size_t> expected) const {
    if (count != expected.size()) return false;
    size_t i = 0;
    for (const size_t size : expected) {
      if (sizes[i++] != size) return false;
    }
    return true;
  }
};

// Returns the groups of digits from `at` on, with one separator each; a pair of brackets around one
// is allowed.
Groups TakeGroups(std::string_view text, size_t at) {
  text = text.substr(0, at + kMaxBytes);
  Groups groups;
  bool open = false;
  while (groups.count < kMaxGroups) {
    if (ByteAt(text, at) == '(' && !open) {
      open = true;
      ++at;
    }
    const size_t end = DigitsEnd(text, at);
    if (end == at) break;
    groups.sizes[groups.count++] = end - at;
    groups.digits += text.substr(at, end - at);
    at = end;
    bool bracket = false;
    if (open && ByteAt(text, at) == ')') {
      open = false;
      bracket = true;
      ++at;
    }
    groups.end = at;
    const char separator = ByteAt(text, at);
    // "+44 (0)20 7946 0124".
    if (bracket && IsAsciiDigit(separator)) continue;
    if (separator != ' ' && separator != '-' && separator != '.') break;
    const char next = ByteAt(text, at + 1);
    if (!IsAsciiDigit(next) && (next != '(' || open || !IsAsciiDigit(ByteAt(text, at + 2)))) break;
    groups.dashes = groups.dashes && separator == '-';
    groups.dots = groups.dots && separator == '.';
    groups.hyphens = groups.hyphens && (separator != ' ' || bracket);
    ++at;
  }
  if (open) groups.count = 0;
  return groups;
}

// Returns true for the number of a card, whose groups are no years.
bool IsCard(const Groups& groups) {
  if (!groups.Are({4, 4, 4, 4}) && !groups.Are({4, 6, 5})) return false;
  return groups.digits[0] != '1' && groups.digits[0] != '2';
}

// Returns true for the groups behind "DE89", which are an account's.
bool IsAccount(const Groups& groups, std::string_view text, size_t at) {
  // "GB29 NWBK 6016": the letters of the bank.
  constexpr size_t kLetters = 4;
  if (at > 2 * kLetters + 2 && text[at - 1] == ' ' &&
      LettersEnd(text.substr(0, at), at - kLetters - 1) == at - 1 && text[at - kLetters - 2] == ' ')
    at -= kLetters + 1;
  return groups.count >= 3 && groups.sizes[0] == 4 && groups.sizes[1] == 4 && at > 4 &&
         text[at - 1] == ' ' && IsAsciiDigit(text[at - 2]) && IsAsciiDigit(text[at - 3]) &&
         IsAsciiUpper(text[at - 4]) && IsAsciiUpper(text[at - 5]);
}

bool LooksLikePhone(const Groups& groups, bool international, bool bracketed) {
  const size_t digits = groups.digits.size();
  if (international) return groups.count >= 1 && digits >= 8 && digits <= 15;
  if (bracketed)
    return groups.Are({3, 3, 4}) || groups.Are({4, 3, 4}) || groups.Are({3, 4, 4}) ||
           groups.Are({2, 4, 4});
  if (groups.hyphens) {
    if (groups.Are({3, 3, 4}) || groups.Are({1, 3, 3, 4})) return true;
    // This is an ISBN, or the number of a customer or a card, but no address as "255.255.255.0".
    if (groups.count >= 4 && digits >= 9 && !groups.dots) return true;
    // "9-1-1" is dialled.
    if (groups.dashes && groups.count >= 3 && digits == groups.count) return true;
    // The numbers of a taxpayer and of an account.
    if (groups.dashes && (groups.Are({3, 2, 4}) || groups.Are({2, 7}) || groups.Are({3, 3, 3})))
      return true;
    // "300-1500" is a range, and "122.4194" has decimals.
    if (groups.Are({3, 4}) && groups.dashes)
      return !groups.digits.ends_with("00") || groups.digits[3] == '0';
    // The code of a place of delivery.
    if (groups.dashes && groups.Are({5, 4})) return true;
  }
  // "555 123 4567".
  if (groups.Are({3, 3, 4}) && groups.digits[0] > '1' && !groups.digits.ends_with("00"))
    return true;
  // "845 2291 0073" is that of a meeting.
  if (groups.Are({3, 4, 4}) && !groups.digits.ends_with("00")) return true;
  // "0800 1111" is free of charge.
  const bool free = groups.sizes[0] == 4 &&
                    (groups.digits.starts_with("0800") || groups.digits.starts_with("0808"));
  if (groups.Are({3, 4}) && groups.digits.starts_with("555")) return true;
  if (groups.Are({4, 3, 3}) &&
      (groups.digits.starts_with("1300") || groups.digits.starts_with("1800")))
    return true;  // an Australian one
  return groups.count >= 2 && groups.digits.front() == '0' && groups.sizes[0] >= 3 &&
         digits >= (free ? 8U : 9U) && digits <= 12;
}

// Returns true if three digits and a hyphen are at `at`.
bool IsGroupOfThree(std::string_view text, size_t at) {
  return DigitsEnd(text, at, 4) == at + 3 && ByteAt(text, at + 3) == '-';
}

// Reads "1-800-FLOWERS", "1-800-GO-FEDEX" and "1-888-555-HELP", and "a 1-800 number".
std::optional<Reading> ReadNamedPhone(const NumberWords& numbers, std::string_view text,
                                      size_t at) {
  const size_t prefix = text.substr(at).starts_with("1-") ? at + 2 : at;
  const size_t area_end = DigitsEnd(text, prefix, 4);
  if (prefix > at && area_end == prefix + 3 && text[prefix] >= '8' &&
      IsOfKind(LettersAt(text, area_end + 1), "behind-area-code")) {
    Reading area{area_end, {"one"}};
    area.Append(numbers.Cardinal(ParseDigits(text.substr(prefix, 3))));
    return area;
  }
  if (!IsGroupOfThree(text, prefix) || text[prefix] < '8') return std::nullopt;
  const bool exchange = IsGroupOfThree(text, prefix + 4);
  const size_t name = prefix + (exchange ? 8 : 4);
  if (!IsAsciiUpper(ByteAt(text, name)) || !IsAsciiUpper(ByteAt(text, name + 1)))
    return std::nullopt;
  Reading reading{LettersEnd(text, name, kMaxBytes), {}};
  while (ByteAt(text, reading.end) == '-' && IsAsciiUpper(ByteAt(text, reading.end + 1)))
    reading.end = LettersEnd(text.substr(0, reading.end + kMaxBytes), reading.end + 1);
  if (IsAsciiDigit(ByteAt(text, reading.end))) return std::nullopt;
  if (prefix > at) reading.Append("one");
  reading.Append(text.substr(prefix + 1, 2) == "00"
                     ? numbers.Cardinal(ParseDigits(text.substr(prefix, 3)))
                     : numbers.Digits(text.substr(prefix, 3)));
  if (exchange) reading.Append(numbers.Digits(text.substr(prefix + 4, 3)));
  // Letters that are dialled are said as words: "GO-FEDEX".
  for (size_t word = name; word < reading.end;) {
    const size_t end = LettersEnd(text, word);
    const std::string_view letters = text.substr(word, end - word);
    const bool spelled = letters.find_first_of("AEIOUY") == std::string_view::npos;
    reading.Append(spelled ? std::string(letters) : AsciiLower(letters));
    word = end + 1;
  }
  return reading;
}

// Reads the numbers of a lottery, which ascend: "4-8-15-16-23-42".
std::optional<Reading> ReadDrawnNumbers(const NumberWords& numbers, std::string_view text,
                                        size_t at) {
  constexpr size_t kFewest = 4;
  constexpr size_t kMost = 10;
  constexpr uint64_t kHighest = 99;
  Reading reading{at, {}};
  uint64_t last = 0;
  size_t count = 0;
  for (; count < kMost; ++count) {
    const size_t begin = reading.end + (count > 0 ? 1 : 0);
    const size_t end = DigitsEnd(text, begin, 3);
    const uint64_t number = ParseDigits(text.substr(begin, end - begin));
    if (end == begin || number <= last || number > kHighest || text[begin] == '0')
      return std::nullopt;
    last = number;
    reading.Append(numbers.Cardinal(number));
    reading.end = end;
    if (ByteAt(text, end) != '-' || !IsAsciiDigit(ByteAt(text, end + 1))) break;
  }
  return count + 1 < kFewest || last < 10 || IsAsciiAlnum(ByteAt(text, reading.end))
             ? std::nullopt
             : std::optional(reading);
}

}  // namespace

std::optional<Reading> ReadPhone(const NumberWords& numbers, std::string_view text, size_t at) {
  if (auto named = ReadNamedPhone(numbers, text, at)) return named;
  const bool international = ByteAt(text, at) == '+';
  const bool bracketed = ByteAt(text, at) == '(';
  if (auto drawn = ReadDrawnNumbers(numbers, text, at)) return drawn;
  const Groups groups = TakeGroups(text, at + (international ? 1 : 0));
  if (groups.count == 0 || (!LooksLikePhone(groups, international, bracketed) && !IsCard(groups) &&
                            !IsAccount(groups, text, at)))
    return std::nullopt;
  // "555-0123 x45", "555-0123x45".
  const size_t mark = groups.end + (ByteAt(text, groups.end) == ' ' ? 1 : 0);
  const bool extended = ByteAt(text, mark) == 'x' && IsAsciiDigit(ByteAt(text, mark + 1));
  if (IsAsciiAlnum(ByteAt(text, groups.end)) && !extended) return std::nullopt;
  Reading reading{extended ? mark + 1 : groups.end, {}};
  if (international) reading.Append("plus");
  reading.Append(numbers.Digits(groups.digits));
  if (extended) reading.Append("extension");
  return reading;
}

}  // namespace millrace::models
