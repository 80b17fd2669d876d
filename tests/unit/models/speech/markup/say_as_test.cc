#include "models/speech/markup/say_as.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::speech {
namespace {

std::string Words(const std::string& interpret_as, const std::string& text,
                  const std::string& format = "", const std::string& language = "en-US") {
  const auto words = SayAs(interpret_as, format, text, language);
  return words.ok() ? *words : std::string(words.status().message());
}

TEST(SayAsTest, SaysTextsInWords) {
  EXPECT_EQ(Words("cardinal", "1,234"), "one thousand two hundred thirty four");
  EXPECT_EQ(Words("cardinal", "105", "", "en-GB"), "one hundred and five");
  EXPECT_EQ(Words("number", "-3.14"), "minus three point one four");
  EXPECT_EQ(Words("ordinal", "21"), "twenty first");
  EXPECT_EQ(Words("ordinal", "3rd"), "third");
  EXPECT_EQ(Words("digits", "1984"), "one nine eight four");
  EXPECT_EQ(Words("characters", "aB-12"), "A.B. one two");
  EXPECT_EQ(Words("spell-out", "x"), "X.");
  EXPECT_EQ(Words("telephone", "+1 (555) 010"), "plus one, five five five, zero one zero");
  EXPECT_EQ(Words("date", "2026-11-24"), "november twenty fourth twenty twenty six");
  EXPECT_EQ(Words("date", "24.11.2026", "dmy"), "November 24, 2026");
  EXPECT_EQ(Words("date", "11/2026", "my"), "November 2026");
  EXPECT_EQ(Words("time", "5:05pm"), "five oh five P.M.");
  EXPECT_EQ(Words("currency", "$3.50"), "three dollars and fifty cents");
}

TEST(SayAsTest, WhatCannotBeReadIsNamed) {
  EXPECT_EQ(Words("cardinal", "five"),
            "'five' cannot be read as cardinal; it is a number such as 1234, 1,234, -5 or 3.14");
  EXPECT_EQ(Words("ordinal", "3xx"),
            "'3xx' cannot be read as ordinal; it is a whole number such as 3 or 3rd");
  EXPECT_EQ(Words("date", "24/24/2026", "mdy"),
            "'24/24/2026' cannot be read as date in the format mdy; it is numbers with - / . or a "
            "space between them");
  EXPECT_EQ(Words("date", "1", "q"),
            "format: 'q' is not supported; it is one of mdy, dmy, ymd, md, dm, my, ym, y, m");
  EXPECT_EQ(Words("time", "25"), "'25' cannot be read as time; it is as 23:55, 5:05pm or 11 a.m.");
  EXPECT_EQ(Words("currency", "3.50"),
            "'3.50' cannot be read as currency; it is a sign and an amount, as $3.50");
  EXPECT_EQ(
      Words("characters", "é"),
      "'é' cannot be read as characters; it is of ASCII letters and digits, with spaces and - "
      ". / between them");
  EXPECT_EQ(Words("cardinal", "3", "x"),
            "format: 'x' is not supported with interpret-as 'cardinal'; only with date");
  EXPECT_EQ(Words("cardinal", "3", "", "de-DE"),
            "is supported for English only; the language is 'de-DE'");
}

}  // namespace
}  // namespace millrace::speech
