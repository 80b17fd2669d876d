#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/amount.h"
#include "models/text/english/date_reader.h"
#include "models/text/english/dialect.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// The context of a number, as far as it changes how the number is read.
struct NumberContext {
  std::string_view previous;  // the word before, in lower case
  bool label = false;      // letters and hyphens right behind the number belong to it: "seat 12A"
  bool article = false;    // a noun is to come: "a 5 km run"
  bool telephone = false;  // the sentence speaks of calling somebody
  bool code = false;       // the number is a name: "the PIN is 4821"
};

// Returns true for words that a number follows which is a name, in lower case: "PIN".
bool NamesCode(std::string_view word);

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
  std::optional<Reading> ReadFraction(std::string_view text, size_t at,
                                      std::string_view previous) const;
  std::optional<Reading> ReadHyphenatedCode(std::string_view text, size_t at,
                                            std::string_view previous) const;
  std::optional<Reading> ReadHexadecimal(std::string_view text, size_t at) const;
  std::optional<Reading> ReadNamedVersion(std::string_view text, size_t at,
                                          std::string_view previous) const;
  std::optional<Reading> ReadVersion(std::string_view text, size_t at) const;
  // Reads numbers that are names: "dial 911", "ZIP code 10001".
  std::optional<Reading> ReadCode(std::string_view text, size_t at,
                                  const NumberContext& context) const;
  // Reads measures of several units: "1h 30m 15s", "9st 7lb".
  std::optional<Reading> ReadCompound(std::string_view text, size_t at) const;
  // Reads the "30m" of "2h 30m".
  std::optional<Reading> ReadMinutes(std::string_view text, size_t at,
                                     std::string_view previous) const;
  Reading ReadPlain(std::string_view text, const Amount& amount,
                    const NumberContext& context) const;
  // Reads ordinal and plural endings; returns false when there is none.
  bool TakeEnding(std::string_view text, const Amount& amount, const NumberContext& context,
                  Reading& reading) const;
  // Reads "e-3" and "⁻³"; returns false when there is neither.
  bool TakePower(std::string_view text, const Amount& amount, Reading& reading) const;
  // Takes the end of a range of ordinals: 1st-3rd.
  void TakeLastOrdinal(std::string_view text, Reading& reading) const;
  // Takes a factorial where a calculation or a verb follows, so that ! ends no sentence.
  bool TakeFactorial(std::string_view text, const Amount& amount, Reading& reading) const;
  // Reads "5'10\"" and "9' wall".
  bool TakeFeet(std::string_view text, const Amount& amount, const NumberContext& context,
                Reading& reading) const;
  // Reads "-20" of "10-20", "%", "°C", "km". amount: the last number before it.
  Amount TakeRange(std::string_view text, const Amount& amount, bool article,
                   Reading& reading) const;
  bool TakeMixedFraction(std::string_view text, Reading& reading) const;
  // one: the number before is one, or any number that a noun follows.
  bool TakeMeasure(std::string_view text, bool one, bool article, Reading& reading) const;
  // Returns the unit at `at`, also one of two parts ("mg/L", "sq ft"), and moves `at` behind it.
  std::optional<std::string> TakeUnit(std::string_view text, size_t& at, bool spaced, bool one,
                                      bool article) const;
  std::vector<std::string> PlainWords(const Amount& amount) const;

  const EnglishDialect dialect_;
  const NumberWords numbers_;
  const DateReader dates_;
};

// Returns the words of ½ and similar signs at `at`, as "one half"; nullopt if there is none.
std::optional<Reading> ReadFractionSign(std::string_view text, size_t at);

}  // namespace millrace::models
