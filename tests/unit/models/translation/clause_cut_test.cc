#include "models/translation/clause_cut.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millrace::translation {
namespace {

// Returns the text with | where it is cut, anywhere but in its outer fifths.
std::string Cut(std::string text, std::string_view language = "en") {
  const size_t margin = text.size() / 5;
  const size_t cut = FindClauseCut(text, margin, text.size() - margin, language);
  return cut == 0 ? text : text.insert(cut, "|");
}

TEST(ClauseCutTest, ASemicolonIsStrongerThanACommaAndACommaThanAWord) {
  EXPECT_EQ(Cut("the bank pays, the city builds; the owner and the guest wait"),
            "the bank pays, the city builds; |the owner and the guest wait");
  EXPECT_EQ(Cut("the bank and the city pay, the owner waits"),
            "the bank and the city pay, |the owner waits");
  EXPECT_EQ(Cut("the bank pays and the city builds the house"),
            "the bank pays |and the city builds the house");
}

TEST(ClauseCutTest, ACommaBeforeAConjunctionBeginsAClause) {
  EXPECT_EQ(Cut("he sold red, blue and old cars in town, and she kept the books"),
            "he sold red, blue and old cars in town, |and she kept the books");
}

TEST(ClauseCutTest, OfEqualBoundariesTheMiddleOneIsTaken) {
  EXPECT_EQ(Cut("one thing, two things, three things, four things"),
            "one thing, two things, |three things, four things");
}

TEST(ClauseCutTest, ConjunctionsAreThoseOfTheLanguage) {
  EXPECT_EQ(Cut("nós vimos o castelo e gostamos muito de tudo", "pt-BR"),
            "nós vimos o castelo |e gostamos muito de tudo");
  EXPECT_EQ(Cut("nós vimos o castelo e gostamos muito de tudo", "en"),
            "nós vimos o castelo e gostamos muito de tudo");
}

TEST(ClauseCutTest, NumbersAndTimesAreNoBoundaries) {
  EXPECT_EQ(Cut("it has 1,234 at 12:30 today"), "it has 1,234 at 12:30 today");
}

TEST(ClauseCutTest, BracketsStayTogetherWhereThatIsPossible) {
  EXPECT_EQ(Cut("the old house (red, green, blue) was sold, the rest stayed"),
            "the old house (red, green, blue) was sold, |the rest stayed");
}

TEST(ClauseCutTest, NoSpaceFollowsAWideComma) {
  EXPECT_EQ(Cut("我们去了海边，然后看到了城堡", "zh"), "我们去了海边，|然后看到了城堡");
}

TEST(ClauseCutTest, AWordBeginsNearTheMiddle) {
  const std::string_view text = "aaa bbb ccc ddd eee fff";
  EXPECT_EQ(FindWordCut(text, 4, 20), size_t{12});
  EXPECT_EQ(FindWordCut("aaaaaaaaaaaaaaaa", 4, 12), size_t{0});
}

}  // namespace
}  // namespace millrace::translation
