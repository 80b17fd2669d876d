#include "models/text/english/amount.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/english/letter_run.h"
#include "models/text/english/one_of.h"
#include "models/text/english/units.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMostWholeDigits = 3;

// Returns true if what is measured stands at `at`: "km", "%", " euros", " million".
bool IsMeasureAt(std::string_view text, size_t at) {
  constexpr size_t kLongest = 16;
  const CodePoint first = DecodeAt(text, at);
  const bool spaced = IsSpace(first.value);
  if (spaced) at += first.bytes;
  constexpr std::u32string_view kSigns = U"%‰°€$£¥₹";
  const CodePoint sign = DecodeAt(text, at);
  if (sign.bytes > 0 && kSigns.find(sign.value) != kSigns.npos) return true;
  size_t end = at;
  while (end < text.size() && end - at < kLongest && DecodeAt(text, end).bytes > 0 &&
         (IsLetter(DecodeAt(text, end).value) || text[end] == '/'))
    end += DecodeAt(text, end).bytes;
  const std::string_view word = text.substr(at, end - at);
  if (word == "x" && !spaced) return true;
  if (FindUnit(word, spaced, EnglishDialect::kUs)) return true;
  return IsOfKind(word, "measure-of-decimal");
}

// Returns true if the number at `at` goes on with an item of a list: "1,2 and 3", "items 1,2".
bool IsItemOfList(std::string_view text, size_t at, size_t end) {
  for (const std::string_view joint : {" and ", " or ", " & "}) {
    const size_t next = end + joint.size();
    if (!text.substr(end).starts_with(joint) || !IsAsciiDigit(ByteAt(text, next))) continue;
    return ByteAt(text, DigitsEnd(text, next)) != ',';
  }
  // A plural before it.
  if (at < 2 || text[at - 1] != ' ' || text[at - 2] != 's') return false;
  return !IsOneOf(LettersBefore(text, at - 1, kMaxUnitBytes), "as", "has", "is", "was");
}

// Returns the end of the digits behind a decimal comma at `comma`, with which most languages write
// "1,5 km" and "€12,50"; `comma` if it is none.
size_t DecimalCommaEnd(std::string_view text, size_t at, size_t comma) {
  const size_t digits = comma - at;
  const size_t end = DigitsEnd(text, std::min(comma + 1, text.size()));
  const auto joins = [&](size_t place) {
    return ByteAt(text, place) == ',' && IsAsciiDigit(ByteAt(text, place + 1));
  };
  // "1,2-dichloroethane".
  const bool locants = ByteAt(text, end) == '-' && IsAsciiLower(ByteAt(text, end + 1));
  if (digits == 0 || !joins(comma) || joins(end) || ByteAt(text, end) == '/' || locants ||
      (ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1))))
    return comma;
  const bool opens = at > 0 && (text[at - 1] == ',' || text[at - 1] == '(' || text[at - 1] == '[');
  const bool zero = digits == 1 && text[at] == '0';
  constexpr size_t kMostDecimals = 2;
  if (opens || digits > kMostWholeDigits || (end - comma > kMostDecimals + 1 && !zero))
    return comma;
  if (zero || IsMeasureAt(text, end)) return end;
  if (IsAsciiAlnum(ByteAt(text, end))) return comma;
  return IsItemOfList(text, at, end) ? comma : end;
}

// Returns the end of the whole part of "1.234,56" and "1.000.000", which have their points between
// thousands; `at` if it is none. "192.168.100.200" is an address.
size_t PointGroupsEnd(std::string_view text, size_t at, std::string& whole) {
  constexpr size_t kAddressPoints = 3;
  constexpr uint64_t kMaxOctet = 255;
  size_t end = DigitsEnd(text, at);
  if (end == at || end - at > kMostWholeDigits) return at;
  whole = text.substr(at, end - at);
  size_t points = 0;
  bool octets = ParseDigits(whole) <= kMaxOctet;
  while (ByteAt(text, end) == '.' && DigitsEnd(text.substr(0, end + 5), end + 1) == end + 4) {
    const std::string_view group = text.substr(end + 1, kMostWholeDigits);
    octets = octets && group[0] != '0' && ParseDigits(group) <= kMaxOctet;
    whole += group;
    ++points;
    end += 4;
  }
  if (points == 0) return at;
  const bool comma = ByteAt(text, end) == ',' && IsAsciiDigit(ByteAt(text, end + 1));
  if (comma)
    return DigitsEnd(text, end + 1) <= end + 3 &&
                   !IsAsciiAlnum(ByteAt(text, DigitsEnd(text, end + 1))) &&
                   ByteAt(text, DigitsEnd(text, end + 1)) != ','
               ? end
               : at;
  const bool goes_on = ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1));
  const bool groups = points > 1 && !goes_on && text[at] != '0' &&
                      (points != kAddressPoints || !octets) && !IsAsciiAlnum(ByteAt(text, end));
  return groups ? end : at;
}

}  // namespace

std::string_view MultiplesOf(const Amount& amount) {
  return amount.fraction.empty() ? FindSpoken(amount.whole, "multiples").value_or("") : "";
}

bool Amount::IsYear() const {
  return whole.size() == 4 && fraction.empty() && !grouped && whole >= "1000" && whole <= "2099";
}

std::optional<Amount> ParseAmount(std::string_view text, size_t at) {
  Amount amount;
  if (const size_t groups = PointGroupsEnd(text, at, amount.whole); groups > at) {
    amount.grouped = true;
    amount.end = groups;
    if (ByteAt(text, groups) == ',' && IsAsciiDigit(ByteAt(text, groups + 1))) {
      amount.end = DigitsEnd(text, groups + 1);
      amount.fraction = text.substr(groups + 1, amount.end - groups - 1);
    }
    return amount;
  }
  size_t end = DigitsEnd(text, at);
  amount.whole = text.substr(at, end - at);
  if (!amount.whole.empty() && amount.whole.size() <= 3 && amount.whole != "0") {
    // The Swiss write "1'000".
    const CodePoint mark = DecodeAt(text, end);
    const bool groups = mark.value == ',' || IsApostrophe(mark.value);
    while (groups && DecodeAt(text, end).value == mark.value) {
      const size_t group = end + mark.bytes;
      if (DigitsEnd(text, group, 4) != group + 3) break;
      amount.whole += text.substr(group, 3);
      amount.grouped = true;
      end = group + 3;
    }
  }
  // "1 000 000", "10 000" and, with a space that does not break, "5 500".
  if (!amount.grouped && !amount.whole.empty() && amount.whole.size() <= 3) {
    size_t last = end;
    size_t groups = 0;
    bool unbroken = true;
    std::string digits;
    constexpr size_t kMostGroups = 6;
    while (groups < kMostGroups) {
      const CodePoint space = DecodeAt(text, last);
      if (!IsSpace(space.value) || space.value < ' ') break;
      const size_t begin = last + space.bytes;
      if (DigitsEnd(text, begin, 4) != begin + 3) break;
      digits += text.substr(begin, 3);
      unbroken = unbroken && space.value != ' ';
      last = begin + 3;
      ++groups;
    }
    if (groups > 0 && (unbroken || groups > 1 || digits == "000") &&
        !IsAsciiAlnum(ByteAt(text, last)) && amount.whole[0] != '0') {
      amount.whole += digits;
      amount.grouped = true;
      end = last;
    }
  }
  // Indian numbers have pairs of digits before the last three: "1,00,000".
  if (!amount.grouped && !amount.whole.empty() && amount.whole.size() <= 2) {
    size_t last = end;
    std::string pairs;
    constexpr size_t kMostPairs = 6;
    while (pairs.size() < 2 * kMostPairs && ByteAt(text, last) == ',' &&
           DigitsEnd(text.substr(0, last + 4), last + 1) == last + 3) {
      pairs += text.substr(last + 1, 2);
      last += 3;
    }
    if (!pairs.empty() && ByteAt(text, last) == ',' &&
        DigitsEnd(text.substr(0, last + 5), last + 1) == last + 4) {
      amount.whole += pairs + std::string(text.substr(last + 1, 3));
      amount.grouped = true;
      end = last + 4;
    }
  }
  if (ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1))) {
    const size_t begin = end + 1;
    end = DigitsEnd(text, begin);
    amount.fraction = text.substr(begin, end - begin);
  } else if (!amount.grouped) {
    if (const size_t decimals = DecimalCommaEnd(text, at, end); decimals > end) {
      amount.fraction = text.substr(end + 1, decimals - end - 1);
      end = decimals;
    }
  }
  if (amount.whole.empty() && amount.fraction.empty()) return std::nullopt;
  amount.end = end;
  return amount;
}

std::vector<std::string> AmountWords(const NumberWords& numbers, const Amount& amount) {
  std::vector<std::string> words;
  if (!amount.whole.empty()) words = numbers.Whole(amount.whole);
  if (amount.fraction.empty()) return words;
  words.emplace_back("point");
  for (std::string& digit : numbers.Digits(amount.fraction)) words.push_back(std::move(digit));
  return words;
}

}  // namespace millrace::models
