#include "models/translation/markup/number_format.h"

#include <algorithm>
#include <span>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kGroupSpace = "\xC2\xA0";  // U+00A0

// A number in parts, as views into the text.
struct NumberParts {
  std::vector<std::string_view> digits;
  std::vector<char> separators;  // '.', ',' or ' '; one fewer than digits
};

NumberParts PartsOf(std::string_view written) {
  NumberParts parts;
  for (size_t at = 0; at < written.size();) {
    const size_t end = models::DigitsEnd(written, at);
    parts.digits.push_back(written.substr(at, end - at));
    at = end;
    if (at >= written.size()) break;
    const models::CodePoint c = models::DecodeAt(written, at);
    parts.separators.push_back(c.value == '.' || c.value == ',' ? static_cast<char>(c.value) : ' ');
    at += c.bytes;
  }
  return parts;
}

// Returns true if the digits are groups of thousands, or of lakhs as in India: 12,34,567.
bool AreGroups(std::span<const std::string_view> digits) {
  constexpr size_t kThousands = 3;
  const std::string_view first = digits.front();
  if (first.empty() || first.size() > kThousands || first.front() == '0') return false;
  if (digits.back().size() != kThousands) return false;
  const auto middle = digits.subspan(1, digits.size() - 2);
  const auto all = [&middle](size_t size) {
    return std::ranges::all_of(middle,
                               [size](std::string_view part) { return part.size() == size; });
  };
  return all(kThousands) || (all(2) && first.size() <= 2);
}

bool IsInternetAddress(const NumberParts& parts) {
  constexpr size_t kParts = 4;
  constexpr int kGreatest = 255;
  if (parts.digits.size() != kParts) return false;
  return std::ranges::all_of(parts.separators, [](char c) { return c == '.'; }) &&
         std::ranges::all_of(parts.digits, [](std::string_view part) {
           int value = 0;
           for (const char c : part) value = std::min(value * 10 + (c - '0'), kGreatest + 1);
           return value <= kGreatest;
         });
}

char GroupOf(NumberFormat format) {
  switch (format) {
    case NumberFormat::kCommaGroups:
      return ',';
    case NumberFormat::kStopGroups:
      return '.';
    case NumberFormat::kSpaceGroups:
      break;
  }
  return ' ';
}

char DecimalOf(NumberFormat format) { return format == NumberFormat::kCommaGroups ? '.' : ','; }

// A number as it was read: its whole part, whether that is in groups, and its fraction.
struct ReadNumber {
  std::string whole;
  bool has_groups = false;
  std::optional<std::string_view> fraction = {};
};

// Reads a number of at least two parts.
std::optional<ReadNumber> Read(const NumberParts& parts, NumberFormat format) {
  if (IsInternetAddress(parts)) return std::nullopt;
  const std::vector<char>& separators = parts.separators;
  const char last = separators.back();
  const auto others = std::span(separators).first(separators.size() - 1);
  const auto all_are = [](std::span<const char> some, char c) {
    return std::ranges::all_of(some, [c](char other) { return other == c; });
  };
  const std::span<const std::string_view> digits = parts.digits;
  ReadNumber read;
  const auto take_whole = [&read](std::span<const std::string_view> whole) {
    for (const std::string_view part : whole) read.whole += part;
    read.has_groups = whole.size() > 1;
  };
  // A number may be written as in another language where it cannot be read in two ways.
  const bool only_groups = all_are(others, last) && AreGroups(digits) &&
                           (last == GroupOf(format) || last == ' ' || separators.size() > 1);
  if (only_groups) {
    take_whole(digits);
    return read;
  }
  const auto whole = digits.first(digits.size() - 1);
  const bool is_fraction = last != ' ' && (last == DecimalOf(format) || !others.empty());
  if (!is_fraction) return std::nullopt;
  if (!others.empty() &&
      (others.front() == last || !all_are(others, others.front()) || !AreGroups(whole))) {
    return std::nullopt;
  }
  take_whole(whole);
  read.fraction = digits.back();
  return read;
}

std::string Write(const ReadNumber& number, NumberFormat format) {
  constexpr size_t kThousands = 3;
  std::string text;
  for (size_t i = 0; i < number.whole.size(); ++i) {
    if (number.has_groups && i > 0 && (number.whole.size() - i) % kThousands == 0) {
      if (format == NumberFormat::kSpaceGroups) {
        text += kGroupSpace;
      } else {
        text += GroupOf(format);
      }
    }
    text += number.whole[i];
  }
  if (number.fraction) {
    text += DecimalOf(format);
    text += *number.fraction;
  }
  return text;
}

}  // namespace

std::optional<NumberFormat> NumberFormatOf(std::string_view language) {
  std::string tag = models::AsciiLower(language);
  std::ranges::replace(tag, '_', '-');
  if (IsListed("other regions", tag)) return std::nullopt;
  tag.resize(std::min(tag.find('-'), tag.size()));
  if (tag.empty()) return std::nullopt;
  if (IsListed("comma groups", tag)) return NumberFormat::kCommaGroups;
  if (IsListed("stop groups", tag)) return NumberFormat::kStopGroups;
  if (IsListed("space groups", tag)) return NumberFormat::kSpaceGroups;
  return std::nullopt;
}

NumberFormats NumberFormatsOf(std::string_view source_language, std::string_view target_language) {
  const auto ordinals = [](std::string_view language) {
    const std::string tag = PrimarySubtag(language);
    if (tag == "en") return OrdinalStyle::kEnglish;
    return IsListed("ordinal signs", tag) ? OrdinalStyle::kSigns : OrdinalStyle::kUnknown;
  };
  return {NumberFormatOf(source_language), NumberFormatOf(target_language),
          ordinals(source_language), ordinals(target_language)};
}

std::optional<ConvertedNumber> ConvertNumber(std::string_view written,
                                             const NumberFormats& formats) {
  constexpr size_t kThousands = 3;
  if (!formats.known()) return std::nullopt;
  const NumberParts parts = PartsOf(written);
  if (parts.separators.empty()) return std::nullopt;
  const std::optional<ReadNumber> read = Read(parts, *formats.source);
  if (!read) return std::nullopt;
  const bool must = read->has_groups || (read->fraction && read->fraction->size() == kThousands);
  return ConvertedNumber{Write(*read, *formats.target), must};
}

bool IsGroupedForm(std::string_view plain, std::string_view grouped, const NumberFormats& formats) {
  if (!formats.target) return false;
  const ReadNumber number{.whole = std::string(plain), .has_groups = true};
  return Write(number, *formats.target) == grouped;
}

}  // namespace millrace::translation
