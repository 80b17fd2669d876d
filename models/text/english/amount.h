#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/number_words.h"

namespace millrace::models {

// A written number: "1,000.50" has the whole part "1000" and the fraction "50".
struct Amount {
  size_t end = 0;
  std::string whole;  // ASCII digits; empty in ".5"
  std::string fraction;
  bool grouped = false;  // with commas between thousands

  bool IsOne() const { return whole == "1" && fraction.empty(); }
  // Returns true for four digits that are more likely a year than a count.
  bool IsYear() const;
};

// Parses the number at `at`, which must be a digit or a point before one. Linear time.
std::optional<Amount> ParseAmount(std::string_view text, size_t at);

// Returns "hundreds", "tens of thousands" and the like for 100, 10,000 and other powers of ten;
// empty for other numbers.
std::string_view MultiplesOf(const Amount& amount);

// Returns the bytes of the hyphen or dash of a range at `at`; 0 if there is none.
inline size_t RangeDashBytes(std::string_view text, size_t at) {
  if (text.substr(at, 1) == "-") return 1;
  return text.substr(at, 3) == "–" ? 3 : 0;
}

// Returns the words of a cardinal, with "point" before the digits of the fraction.
std::vector<std::string> AmountWords(const NumberWords& numbers, const Amount& amount);

}  // namespace millrace::models
