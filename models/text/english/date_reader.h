#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/dialect.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads dates. Immutable, so thread-safe; every function looks at most 40 bytes ahead.
class DateReader {
 public:
  explicit DateReader(EnglishDialect dialect) : dialect_(dialect), numbers_(dialect) {}

  // Reads "2026-11-21", "11/21/2026" (en-GB: "21/11/2026"), "21.11.2026", "2023-06", "2008/09".
  std::optional<Reading> ReadNumeric(std::string_view text, size_t at) const;
  // Reads "12/25" (en-GB: "25/12") where a date is meant: "on 12/25", "the week of 3/4".
  std::optional<Reading> ReadMonthAndDay(std::string_view text, size_t at,
                                         std::string_view previous) const;
  // Reads "21 Nov 2026", "21st November", "1 Jan – 5 Feb". previous: the word before, in lower
  // case.
  std::optional<Reading> ReadDayMonth(std::string_view text, size_t at,
                                      std::string_view previous) const;
  // Reads "Nov. 21, 2026", "November 21st", "Jan 2026", "Jan 30-Feb 2".
  std::optional<Reading> ReadMonthDay(std::string_view text, size_t at) const;
  // Reads "Mon-Fri", "Jan–Mar": two days of the week or two months.
  std::optional<Reading> ReadNameRange(std::string_view text, size_t at) const;
  // Reads the digits of "'09", of which the zero is an "oh".
  std::optional<Reading> ReadShortYear(std::string_view text, size_t at) const;
  // Reads "FY2024", "FY 25", "CY2024", "FY2024-25".
  std::optional<Reading> ReadFiscalYear(std::string_view text, size_t at) const;

 private:
  // Reads the date of "20241105".
  std::optional<Reading> ReadStamp(std::string_view text, size_t at) const;
  // Reads the month and the day of "3/14", whatever is behind it.
  std::optional<Reading> ReadNumericDay(std::string_view text, size_t at) const;
  // Reads "2023-06", "06/2023" and the season "2008/09".
  std::optional<Reading> ReadPair(size_t end, char separator, size_t bytes, unsigned first,
                                  unsigned second) const;
  std::optional<Reading> ReadOneDayMonth(std::string_view text, size_t at,
                                         std::string_view previous) const;
  std::optional<Reading> ReadOneMonthDay(std::string_view text, size_t at) const;
  // Takes the dash and the last day of a range.
  void TakeLastDate(std::string_view text, Reading& reading) const;
  Reading SpokenDay(size_t end, unsigned month, unsigned day) const;
  Reading Spoken(size_t end, unsigned year, unsigned month, unsigned day, bool short_year) const;

  const EnglishDialect dialect_;
  const NumberWords numbers_;
};

}  // namespace millrace::models
