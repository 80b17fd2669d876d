#include "models/translation/markup/word_bounds.h"

#include <gtest/gtest.h>

#include <string_view>

namespace millrace::translation {
namespace {

constexpr std::string_view kText = "for US$ 1,250.5k, naïve";

TEST(WordBoundsTest, EndAtSigns) {
  const WordBounds words(kText, KnowsAll);
  EXPECT_EQ(words.WordBegin(6, 0), 4u);
  EXPECT_EQ(words.WordEnd(4), 6u);
  EXPECT_EQ(words.WordEnd(6), 6u);
  EXPECT_EQ(words.WordBegin(kText.size(), 0), kText.find("na"));
}

TEST(WordBoundsTest, JoinTheDigitsOfANumber) {
  const WordBounds words(kText, KnowsAll);
  EXPECT_EQ(words.NumberEnd(8), kText.find(", "));
  EXPECT_EQ(words.NumberBegin(kText.find("k,"), 0), 8u);
}

TEST(WordBoundsTest, StayWithinTheRangeAndTheLimit) {
  WordBounds words(kText, KnowsAll);
  words.SetRange(10, 12);
  EXPECT_EQ(words.NumberEnd(10), 12u);
  EXPECT_EQ(words.Before(10), 0u);
  EXPECT_EQ(words.At(12).bytes, 0u);
  EXPECT_EQ(words.NumberBegin(12, 11), 11u);
}

// 中 is no letter of a script with spaces, but nothing reads it for a model that lacks it.
TEST(WordBoundsTest, TakeInLettersThatTheAlphabetLacks) {
  const std::string_view text = "a中b";
  const auto lacks = [](char32_t c) {
    return c == U'中' ? CharacterFit::kUnknown : CharacterFit::kKnown;
  };
  EXPECT_EQ(WordBounds(text, KnowsAll).WordEnd(0), 1u);
  EXPECT_EQ(WordBounds(text, lacks).WordEnd(0), text.size());
}

}  // namespace
}  // namespace millrace::translation
