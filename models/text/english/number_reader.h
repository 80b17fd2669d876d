#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/amount.h"
#include "models/text/english/date_reader.h"
#include "models/text/english/dialect.h"
#include "models/text/english/number_context.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads what begins with a digit, a point before a digit, a bracket or "+" of a telephone number,
// or a currency sign: dates, times, sums, fractions, ranges, measures, ordinals, years, versions.
// Immutable, so thread-safe. Time is linear in what is read.
class NumberReader {
 public:
  explicit NumberReader(EnglishDialect dialect)
      : dialect_(dialect), numbers_(dialect), dates_(dialect) {}

  std::optional<Reading> Read(std::string_view text, size_t at, const NumberContext& context) const;

  const DateReader& dates() const { return dates_; }
  const NumberWords& numbers() const { return numbers_; }

 private:
  Reading ReadPlain(std::string_view text, const Amount& amount,
                    const NumberContext& context) const;
  // Reads "e-3" and "⁻³"; returns false when there is neither.
  bool TakePower(std::string_view text, const Amount& amount, Reading& reading) const;
  // Takes a factorial where a calculation or a verb follows, so that ! ends no sentence.
  bool TakeFactorial(std::string_view text, const Amount& amount, Reading& reading) const;
  // Reads "-20" of "10-20". amount: the last number before it.
  Amount TakeRange(std::string_view text, const Amount& amount, const NumberContext& context,
                   Reading& reading) const;
  std::vector<std::string> PlainWords(const Amount& amount) const;

  const EnglishDialect dialect_;
  const NumberWords numbers_;
  const DateReader dates_;
};

}  // namespace millrace::models
