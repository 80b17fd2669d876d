#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/dialect.h"

namespace millrace::models {

// A number with more digits than this is read digit by digit.
inline constexpr size_t kMaxCardinalDigits = 15;

// Turns numbers into English words, in lower case and without hyphens ("twenty", "one"). Immutable,
// so thread-safe.
class NumberWords {
 public:
  explicit NumberWords(EnglishDialect dialect) : and_(dialect == EnglishDialect::kGb) {}

  // 105: "one hundred five"; with "and" in British English. At most 999,999,999,999,999.
  std::vector<std::string> Cardinal(uint64_t value) const;
  // 21: "twenty first". The same range.
  std::vector<std::string> Ordinal(uint64_t value) const;
  // 1905: "nineteen oh five", 2005: "two thousand five". 0..9999.
  std::vector<std::string> Year(unsigned year) const;
  // 1990: "nineteen nineties". A year that ends with 0: 0..9990.
  std::vector<std::string> Decade(unsigned year) const;
  // Returns one word for each ASCII digit.
  std::vector<std::string> Digits(std::string_view digits) const;
  // Reads ASCII digits as a cardinal, or one by one with a leading zero or more than
  // kMaxCardinalDigits.
  std::vector<std::string> Whole(std::string_view digits) const;
  // A denominator: 2 is "half", 4 "quarter", 5 "fifth"; plural when the count above it is not 1.
  std::vector<std::string> Denominator(uint64_t value, bool plural) const;

 private:
  void AppendBelowThousand(unsigned value, bool joined, std::vector<std::string>& words) const;

  const bool and_;
};

// Returns the value of at most kMaxCardinalDigits ASCII digits.
uint64_t ParseDigits(std::string_view digits);

}  // namespace millrace::models
