#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/number_words.h"

namespace millrace::models {

// A number as it is written: "1,000.50" has the whole part "1000" and the fraction "50".
struct Amount {
  size_t end = 0;
  std::string whole;  // ASCII digits; empty in ".5"
  std::string fraction;
  bool grouped = false;  // with commas between thousands

  bool IsOne() const { return whole == "1" && fraction.empty(); }
  // Four digits that are more likely a year than a count.
  bool IsYear() const;
};

// What stands at `at`, which must be a digit, or a point before one. Time linear in it.
std::optional<Amount> ParseAmount(std::string_view text, size_t at);

// As a cardinal, with "point" before the digits of the fraction.
std::vector<std::string> AmountWords(const NumberWords& numbers, const Amount& amount);

}  // namespace millrace::models
