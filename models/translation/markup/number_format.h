#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::translation {

// The separators with which a language writes numbers.
enum class NumberFormat : uint8_t {
  kCommaGroups,  // 1,234.5
  kStopGroups,   // 1.234,5
  kSpaceGroups,  // 1 234,5
};

// The marks with which a language writes ordinals in digits.
enum class OrdinalStyle : uint8_t {
  kUnknown,
  kEnglish,  // 21st
  kSigns,    // 21º
};

// The number formats of both sides of a translation; nullopt where a language has none that is
// known, so that numbers stay as their source writes them.
struct NumberFormats {
  std::optional<NumberFormat> source = {};
  std::optional<NumberFormat> target = {};
  OrdinalStyle source_ordinals = OrdinalStyle::kUnknown;
  OrdinalStyle target_ordinals = OrdinalStyle::kUnknown;

  bool known() const { return source && target; }
};

// Returns the number format of a language, BCP 47; nullopt for languages and regions that have
// several.
std::optional<NumberFormat> NumberFormatOf(std::string_view language);

// Returns the number formats of two languages, BCP 47.
NumberFormats NumberFormatsOf(std::string_view source_language, std::string_view target_language);

// A number with separators as the other language writes it.
struct ConvertedNumber {
  std::string text;
  // True if the number must not stay as its source writes it, because it has groups, or because
  // the other language would read its fraction as thousands. Others might be the number of a
  // section or a time.
  bool must_convert = false;
};

// Returns a written number, whose value is known by the source's format, in the target's format.
// Nullopt where nothing is to be converted: there are no separators, they group no number (dates,
// addresses), or a format is not known. Linear time.
std::optional<ConvertedNumber> ConvertNumber(std::string_view written,
                                             const NumberFormats& formats);

// Returns true if both are one whole number, the second grouped as the target groups numbers.
bool IsGroupedForm(std::string_view plain, std::string_view grouped, const NumberFormats& formats);

}  // namespace millrace::translation
