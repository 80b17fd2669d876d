#include "models/text/english/number_words.h"

#include <array>
#include <utility>

namespace millrace::models {
namespace {

constexpr std::array<std::string_view, 20> kOnes = {
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens = {
    "", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<std::pair<uint64_t, std::string_view>, 4> kScales = {
    {{1'000'000'000'000, "trillion"},
     {1'000'000'000, "billion"},
     {1'000'000, "million"},
     {1'000, "thousand"}}};

std::string OrdinalOf(std::string_view cardinal) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kIrregular = {
      {{"one", "first"},
       {"two", "second"},
       {"three", "third"},
       {"five", "fifth"},
       {"eight", "eighth"},
       {"nine", "ninth"},
       {"twelve", "twelfth"}}};
  for (const auto& [from, to] : kIrregular) {
    if (cardinal == from) return std::string(to);
  }
  std::string word(cardinal);
  if (word.ends_with('y')) word.replace(word.size() - 1, 1, "ie");
  return word + "th";
}

std::string PluralOf(std::string word) {
  if (word.ends_with('y')) return word.replace(word.size() - 1, 1, "ies");
  return word + (word.ends_with('x') ? "es" : "s");
}

}  // namespace

void NumberWords::AppendBelowThousand(unsigned value, bool joined,
                                      std::vector<std::string>& words) const {
  if (value >= 100) {
    words.emplace_back(kOnes[value / 100]);
    words.emplace_back("hundred");
    value %= 100;
    joined = true;
  }
  if (value == 0) return;
  if (joined && and_) words.emplace_back("and");
  if (value < kOnes.size()) {
    words.emplace_back(kOnes[value]);
    return;
  }
  words.emplace_back(kTens[value / 10]);
  if (value % 10 != 0) words.emplace_back(kOnes[value % 10]);
}

std::vector<std::string> NumberWords::Cardinal(uint64_t value) const {
  if (value == 0) return {std::string(kOnes[0])};
  std::vector<std::string> words;
  for (const auto& [scale, name] : kScales) {
    if (value < scale) continue;
    AppendBelowThousand(static_cast<unsigned>(value / scale), false, words);
    words.emplace_back(name);
    value %= scale;
  }
  AppendBelowThousand(static_cast<unsigned>(value), !words.empty(), words);
  return words;
}

std::vector<std::string> NumberWords::Ordinal(uint64_t value) const {
  std::vector<std::string> words = Cardinal(value);
  words.back() = OrdinalOf(words.back());
  return words;
}

std::vector<std::string> NumberWords::Year(unsigned year) const {
  const unsigned century = year / 100;
  const unsigned rest = year % 100;
  // "two thousand five", but "nineteen oh five" and "twenty twenty six".
  if (century == 0 || (century % 10 == 0 && rest < 10)) return Cardinal(year);
  std::vector<std::string> words = Cardinal(century);
  if (rest == 0) {
    words.emplace_back("hundred");
    return words;
  }
  if (rest < 10) words.emplace_back("oh");
  AppendBelowThousand(rest, false, words);
  return words;
}

std::vector<std::string> NumberWords::Decade(unsigned year) const {
  std::vector<std::string> words = Year(year);
  words.back() = PluralOf(words.back());
  return words;
}

std::vector<std::string> NumberWords::Digits(std::string_view digits) const {
  std::vector<std::string> words;
  words.reserve(digits.size());
  for (const char digit : digits) words.emplace_back(kOnes[static_cast<size_t>(digit - '0')]);
  return words;
}

std::vector<std::string> NumberWords::Whole(std::string_view digits) const {
  const bool padded = digits.size() > 1 && digits.front() == '0';
  if (padded || digits.size() > kMaxCardinalDigits) return Digits(digits);
  return Cardinal(ParseDigits(digits));
}

std::vector<std::string> NumberWords::Denominator(uint64_t value, bool plural) const {
  if (value == 2) return {plural ? "halves" : "half"};
  std::vector<std::string> words =
      value == 4 ? std::vector<std::string>{"quarter"} : Ordinal(value);
  // "One hundredth" would be two numbers.
  if (words.size() == 2 && words.front() == "one") words.erase(words.begin());
  if (plural) words.back() = PluralOf(words.back());
  return words;
}

uint64_t ParseDigits(std::string_view digits) {
  uint64_t value = 0;
  for (const char digit : digits) value = value * 10 + static_cast<uint64_t>(digit - '0');
  return value;
}

}  // namespace millrace::models
