#include "models/translation/subject_repair.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace millrace::translation {
namespace {

TEST(SubjectRepairTest, ASubjectIsTheWordsBeforeAVerb) {
  EXPECT_EQ(SubjectBytes("The red house is big.", "en-US"), 13u);
  EXPECT_EQ(SubjectBytes("A casa vermelha era grande.", "pt"), 15u);
  EXPECT_EQ(SubjectBytes("Is the red house big?", "en"), 0u);
  EXPECT_EQ(SubjectBytes("The house, which is old, is big.", "en"), 0u);
  EXPECT_EQ(SubjectBytes("We went to see the house that is old.", "en"), 0u);
  EXPECT_EQ(SubjectBytes("The red house is big.", "pl"), 0u);
}

TEST(SubjectRepairTest, FewerWordsBeforeTheVerbAreALack) {
  EXPECT_TRUE(LacksSubjectWord("The red house is big.", "en", "A casa é grande.", "pt"));
  EXPECT_FALSE(LacksSubjectWord("The red house is big.", "en", "A casa vermelha é grande.", "pt"));
  EXPECT_FALSE(LacksSubjectWord("Por que o céu é azul?", "pt", "Why is the sky blue?", "en"));
  EXPECT_FALSE(LacksSubjectWord("It is late.", "en", "É tarde.", "pt"));
  EXPECT_FALSE(LacksSubjectWord("The red house burned down.", "en", "A casa queimou.", "pt"));
  EXPECT_FALSE(LacksSubjectWord("The old man has a dog.", "en", "Der Alte schläft.", "de"));
}

TEST(SubjectRepairTest, ABeginningShowsThatNoWordIsLacking) {
  const auto may_lack = [](std::string_view beginning) {
    return MayLackSubjectWord("The red house is big.", "en", beginning, "pt");
  };
  EXPECT_TRUE(may_lack(""));
  EXPECT_TRUE(may_lack("A casa"));
  EXPECT_TRUE(may_lack("A casa é"));  // the beginning of "época"
  EXPECT_TRUE(may_lack("A casa é grande"));
  EXPECT_FALSE(may_lack("A casa vermelha é grande"));
  EXPECT_FALSE(may_lack("Sim, a"));
  EXPECT_FALSE(MayLackSubjectWord("It is late.", "en", "", "pt"));
  EXPECT_FALSE(MayLackSubjectWord("The red house is big.", "en", "", "pl"));
}

TEST(SubjectRepairTest, WhatTheSubjectHasBesidesIsPutBack) {
  // A casa | é grande; A casa vermelha
  auto completed = WithSubject({{1, 2, 8, 9}, {0, 2, 3, 4}}, 2, {{1, 2, 5, 6}, {0, 2, 1, 1}});
  ASSERT_TRUE(completed);
  EXPECT_EQ(completed->tokens, (std::vector<int32_t>{1, 2, 5, 6, 8, 9}));
  EXPECT_EQ(completed->alignment, (std::vector<int32_t>{0, 2, 1, 1, 3, 4}));
  // The verb was aligned with the adjective that was lost.
  completed = WithSubject({{1, 2, 8, 9}, {0, 2, 1, 4}}, 2, {{1, 2, 5, 6}, {0, 2, 1, 1}});
  ASSERT_TRUE(completed);
  EXPECT_EQ(completed->alignment, (std::vector<int32_t>{0, 2, 1, 1, 3, 4}));
  // A casa | é; A velha casa
  completed = WithSubject({{1, 2, 8}, {}}, 2, {{1, 5, 2}, {}});
  ASSERT_TRUE(completed);
  EXPECT_EQ(completed->tokens, (std::vector<int32_t>{1, 5, 2, 8}));
}

TEST(SubjectRepairTest, TheEndOfASubjectIsPutBackWhereItsBeginningDiffers) {
  // Nossos novos e baratos | são; Os nossos novos e baratos telefones
  auto completed =
      WithSubject({{1, 2, 3, 4, 9}, {0, 1, 2, 3, 5}}, 4, {{5, 6, 2, 3, 4, 7}, {0, 0, 1, 2, 3, 4}});
  ASSERT_TRUE(completed);
  EXPECT_EQ(completed->tokens, (std::vector<int32_t>{1, 2, 3, 4, 7, 9}));
  EXPECT_EQ(completed->alignment, (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(WithSubject({{1, 2, 3, 9}, {}}, 3, {{5, 6, 2, 3}, {}}));     // nothing is lost
  EXPECT_FALSE(WithSubject({{1, 2, 3, 9}, {}}, 3, {{5, 6, 2, 3, 9}, {}}));  // it stands elsewhere
  EXPECT_FALSE(WithSubject({{1, 2, 9}, {}}, 2, {{5, 2, 7}, {}}));           // too little is common
}

TEST(SubjectRepairTest, ASubjectThatDiffersOtherwiseChangesNothing) {
  EXPECT_FALSE(WithSubject({{1, 2, 8}, {}}, 2, {{1, 2}, {}}));
  // "Why the sky is blue?" and "Why is the sky" have the same words.
  EXPECT_FALSE(WithSubject({{1, 2, 8}, {}}, 2, {{1, 8, 2}, {}}));
  EXPECT_FALSE(WithSubject({{1, 2, 8}, {}}, 2, {{7, 5, 2}, {}}));
  EXPECT_FALSE(WithSubject({{1, 2, 8}, {}}, 2, {{1, 5, 3}, {}}));
  EXPECT_FALSE(WithSubject({{1, 2, 8}, {0, 1, 2}}, 2, {{1, 5, 2}, {}}));
}

TEST(SubjectRepairTest, ANegationBeforeTheVerbIsNoPartOfTheSubject) {
  EXPECT_EQ(SubjectBytes("O link n\u00E3o foi encontrado", "pt"), 6U);
  EXPECT_EQ(SubjectBytes("La casa no es roja", "es"), 7U);
  EXPECT_FALSE(LacksSubjectWord("O link n\u00E3o \u00E9 novo", "pt", "The link is not new", "en"));
}

}  // namespace
}  // namespace millrace::translation
