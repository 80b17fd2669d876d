#include "models/speech/markup/say_as.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/language_tag.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/english/amount.h"
#include "models/text/english/date_reader.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"
#include "models/text/english/time_reader.h"

namespace millrace::speech {
namespace {

constexpr std::string_view kKnown =
    "characters, spell-out, verbatim, digits, telephone, cardinal, number, ordinal, date, time and "
    "currency";
constexpr std::array<std::string_view, 9> kDateFormats = {"mdy", "dmy", "ymd", "md", "dm",
                                                          "my",  "ym",  "y",   "m"};
constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

absl::Status CannotRead(std::string_view text, std::string_view interpret_as,
                        std::string_view wanted) {
  return InvalidArgument(Shown(text), " cannot be read as ", interpret_as, "; it is ", wanted);
}

// Returns the letters with stops, which are read by their names, and the digits as words.
absl::StatusOr<std::string> Spell(std::string_view text, const models::NumberWords& numbers) {
  std::string spelled;
  bool letters = false;  // the last character was one
  for (const char c : text) {
    if (models::IsAsciiLetter(c)) {
      if (!letters && !spelled.empty()) spelled += ' ';
      spelled += StrCat(
          std::string(1, models::IsAsciiLower(c) ? static_cast<char>(c - 'a' + 'A') : c), ".");
      letters = true;
      continue;
    }
    letters = false;
    if (models::IsAsciiDigit(c)) {
      if (!spelled.empty()) spelled += ' ';
      spelled += numbers.Digits(std::string_view(&c, 1)).front();
    } else if (c != ' ' && c != '-' && c != '.' && c != '/') {
      return CannotRead(text, "characters",
                        "of ASCII letters and digits, with spaces and - . / between them");
    }
  }
  return spelled;
}

absl::StatusOr<std::string> Telephone(std::string_view text, const models::NumberWords& numbers) {
  std::string words;
  bool grouped = false;  // digits stand before, and a separator behind them
  for (const char c : text) {
    if (models::IsAsciiDigit(c)) {
      if (grouped) words += ',';
      if (!words.empty()) words += ' ';
      words += numbers.Digits(std::string_view(&c, 1)).front();
      grouped = false;
    } else if (c == '+' && words.empty()) {
      words = "plus";
    } else if (std::string_view(" -.()/").find(c) != std::string_view::npos) {
      grouped = !words.empty() && words != "plus";
    } else {
      return CannotRead(text, "telephone",
                        "of digits, with a + before and spaces and - . / ( ) "
                        "between them");
    }
  }
  return words;
}

absl::StatusOr<std::string> Number(std::string_view text, const models::NumberWords& numbers) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  std::optional<models::Amount> amount;
  if (!digits.empty() && (models::IsAsciiDigit(digits[0]) ||
                          (digits[0] == '.' && models::IsAsciiDigit(models::ByteAt(digits, 1)))))
    amount = models::ParseAmount(digits, 0);
  if (!amount || amount->end != digits.size())
    return CannotRead(text, "cardinal", "a number such as 1234, 1,234, -5 or 3.14");
  return StrCat(negative ? "minus " : "",
                absl::StrJoin(models::AmountWords(numbers, *amount), " "));
}

absl::StatusOr<std::string> Ordinal(std::string_view text, const models::NumberWords& numbers) {
  std::string_view digits = text.substr(0, models::DigitsEnd(text, 0));
  const std::string_view ending = text.substr(digits.size());
  const bool usual =
      ending.empty() || ending == "st" || ending == "nd" || ending == "rd" || ending == "th";
  if (digits.empty() || digits.size() > models::kMaxCardinalDigits || !usual)
    return CannotRead(text, "ordinal", "a whole number such as 3 or 3rd");
  return absl::StrJoin(numbers.Ordinal(models::ParseDigits(digits)), " ");
}

// Reads a date whose parts stand in the order of the format's letters. The result is written as
// "May 5, 1990", which the reader of the voice knows.
absl::StatusOr<std::string> DateOf(std::string_view text, std::string_view format) {
  unsigned day = 0;
  unsigned month = 0;
  unsigned year = 0;
  size_t at = 0;
  bool good = !format.empty() && format.size() <= 3;
  for (size_t i = 0; good && i < format.size(); ++i) {
    if (i > 0)
      good =
          at < text.size() && std::string_view("-/. ").find(text[at++]) != std::string_view::npos;
    const size_t end = models::DigitsEnd(text, at);
    good = good && end > at && end - at <= 4;
    if (!good) break;
    const auto value = static_cast<unsigned>(models::ParseDigits(text.substr(at, end - at)));
    unsigned& part = format[i] == 'd' ? day : format[i] == 'm' ? month : year;
    good = part == 0 && value > 0;
    part = value;
    at = end;
  }
  if (std::ranges::find(kDateFormats, format) == kDateFormats.end()) {
    std::string names;
    for (const std::string_view known : kDateFormats)
      names += StrCat(names.empty() ? "" : ", ", known);
    return InvalidArgument("format: ", Shown(format), " is not supported; it is one of ", names);
  }
  if (!good || at != text.size() || month > 12 || day > 31)
    return CannotRead(text, StrCat("date in the format ", format),
                      "numbers with - / . or a space between them");
  std::string written;
  if (month > 0) written = kMonths[month - 1];
  if (day > 0) written += StrCat(" ", day);
  if (year > 0) written += StrCat(written.empty() ? "" : day > 0 ? ", " : " ", year);
  return written;
}

// Returns the words if the reading covers the whole text.
absl::StatusOr<std::string> Words(const std::optional<models::Reading>& reading,
                                  std::string_view text, std::string_view interpret_as,
                                  std::string_view wanted) {
  if (!reading || reading->end != text.size()) return CannotRead(text, interpret_as, wanted);
  return absl::StrJoin(reading->words, " ");
}

}  // namespace

absl::StatusOr<std::string> SayAs(std::string_view interpret_as, std::string_view format,
                                  std::string_view text, std::string_view language) {
  const std::string tag = models::CanonicalLanguage(language);
  if (tag != "en" && !tag.starts_with("en-")) {
    return InvalidArgument("is supported for English only; the language is ", Shown(language));
  }
  if (!format.empty() && interpret_as != "date") {
    return InvalidArgument("format: ", Shown(format), " is not supported with interpret-as ",
                           Shown(interpret_as), "; only with date");
  }
  const auto dialect = tag == "en-GB" ? models::EnglishDialect::kGb : models::EnglishDialect::kUs;
  const models::NumberWords numbers(dialect);
  if (interpret_as == "characters" || interpret_as == "spell-out" || interpret_as == "verbatim")
    return Spell(text, numbers);
  if (interpret_as == "telephone") return Telephone(text, numbers);
  if (interpret_as == "cardinal" || interpret_as == "number") return Number(text, numbers);
  if (interpret_as == "ordinal") return Ordinal(text, numbers);
  if (interpret_as == "digits") {
    if (models::DigitsEnd(text, 0) != text.size()) return CannotRead(text, "digits", "of digits");
    return absl::StrJoin(numbers.Digits(text), " ");
  }
  if (interpret_as == "date") {
    if (!format.empty()) return DateOf(text, format);
    return Words(models::DateReader(dialect).ReadNumeric(text, 0), text, "date",
                 "as 2026-11-21, or in the order that the attribute format names");
  }
  if (interpret_as == "time") {
    return Words(models::ReadTime(numbers, text, 0), text, "time", "as 23:55, 5:05pm or 11 a.m.");
  }
  if (interpret_as == "currency") {
    return Words(models::ReadMoney(numbers, text, 0, /*article=*/false), text, "currency",
                 "a sign and an amount, as $3.50");
  }
  return InvalidArgument("interpret-as: ", Shown(interpret_as), " is not supported; it is one of ",
                         kKnown);
}

}  // namespace millrace::speech
