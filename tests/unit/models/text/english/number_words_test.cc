#include "models/text/english/number_words.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"

namespace millrace::models {
namespace {

std::string Cardinal(uint64_t value, EnglishDialect dialect = EnglishDialect::kUs) {
  return absl::StrJoin(NumberWords(dialect).Cardinal(value), " ");
}
std::string Ordinal(uint64_t value) {
  return absl::StrJoin(NumberWords(EnglishDialect::kUs).Ordinal(value), " ");
}
std::string Year(unsigned year) {
  return absl::StrJoin(NumberWords(EnglishDialect::kUs).Year(year), " ");
}

TEST(NumberWordsTest, SpeaksCardinals) {
  EXPECT_EQ(Cardinal(0), "zero");
  EXPECT_EQ(Cardinal(13), "thirteen");
  EXPECT_EQ(Cardinal(40), "forty");
  EXPECT_EQ(Cardinal(99), "ninety nine");
  EXPECT_EQ(Cardinal(100), "one hundred");
  EXPECT_EQ(Cardinal(1'001), "one thousand one");
  EXPECT_EQ(Cardinal(1'234'567),
            "one million two hundred thirty four thousand five hundred sixty seven");
  EXPECT_EQ(Cardinal(999'999'999'999'999).substr(0, 38), "nine hundred ninety nine trillion nine");
}

TEST(NumberWordsTest, BritishCardinalsHaveAnd) {
  EXPECT_EQ(Cardinal(105, EnglishDialect::kGb), "one hundred and five");
  EXPECT_EQ(Cardinal(1'005, EnglishDialect::kGb), "one thousand and five");
  EXPECT_EQ(Cardinal(20, EnglishDialect::kGb), "twenty");
}

TEST(NumberWordsTest, SpeaksOrdinals) {
  EXPECT_EQ(Ordinal(1), "first");
  EXPECT_EQ(Ordinal(12), "twelfth");
  EXPECT_EQ(Ordinal(20), "twentieth");
  EXPECT_EQ(Ordinal(21), "twenty first");
  EXPECT_EQ(Ordinal(100), "one hundredth");
}

TEST(NumberWordsTest, SpeaksYears) {
  EXPECT_EQ(Year(1999), "nineteen ninety nine");
  EXPECT_EQ(Year(1905), "nineteen oh five");
  EXPECT_EQ(Year(1900), "nineteen hundred");
  EXPECT_EQ(Year(2000), "two thousand");
  EXPECT_EQ(Year(2005), "two thousand five");
  EXPECT_EQ(Year(2026), "twenty twenty six");
  EXPECT_EQ(Year(987), "nine eighty seven");
}

TEST(NumberWordsTest, LongNumbersAreReadDigitByDigit) {
  const NumberWords numbers(EnglishDialect::kUs);
  EXPECT_EQ(numbers.Whole("1000000000000000").size(), 16U);
  EXPECT_EQ(numbers.Whole("100000000000000"),
            (std::vector<std::string>{"one", "hundred", "trillion"}));
  EXPECT_EQ(numbers.Whole("007"), (std::vector<std::string>{"zero", "zero", "seven"}));
}

}  // namespace
}  // namespace millrace::models
