#include "models/text/clauses.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::models {
namespace {

using Clauses = std::vector<Clause>;

TEST(ClausesTest, CutsAtMarksThatASpaceOrTheEndFollows) {
  EXPECT_EQ(SplitClauses("Well, it is: fine; go!"),
            (Clauses{{"Well,", ","}, {"it is:", ":"}, {"fine;", ";"}, {"go!", "!"}}));
}

TEST(ClausesTest, KeepsNumbersTimesAndAddressesWhole) {
  EXPECT_EQ(SplitClauses("At 10:30 pay 1,000.50 to a.b?c=d"),
            (Clauses{{"At 10:30 pay 1,000.50 to a.b?c=d", ""}}));
}

TEST(ClausesTest, AFullStopWithinASentenceBelongsToAnAbbreviation) {
  EXPECT_EQ(SplitClauses("Mr. Smith, etc., left."),
            (Clauses{{"Mr. Smith,", ","}, {"etc.,", ","}, {"left.", "."}}));
}

TEST(ClausesTest, TheFirstOfSeveralMarksCounts) {
  EXPECT_EQ(SplitClauses("What?!"), (Clauses{{"What?!", "?"}}));
}

TEST(ClausesTest, QuotesAndBracketsBelongToTheMarkBeforeThem) {
  EXPECT_EQ(SplitClauses("\"Stop!\", he said (twice)."),
            (Clauses{{"\"Stop!\",", "!"}, {"he said (twice).", "."}}));
}

TEST(ClausesTest, AnEllipsisIsAPauseOnlyWithinASentence) {
  EXPECT_EQ(SplitClauses("Wait... what\u2026"), (Clauses{{"Wait...", ","}, {"what\u2026", ""}}));
}

TEST(ClausesTest, ADashBetweenSpacesIsAPause) {
  EXPECT_EQ(SplitClauses("really \u2014 yes\u2013no"),
            (Clauses{{"really", ";"}, {"yes\u2013no", ""}}));
}

TEST(ClausesTest, EastAsianMarksNeedNoSpace) {
  EXPECT_EQ(SplitClauses("はい、そう。"), (Clauses{{"はい、", ","}, {"そう。", "."}}));
}

TEST(ClausesTest, ControlCharactersAndLineBreaksBecomeSpaces) {
  EXPECT_EQ(SplitClauses("a\nb\x1b[31m\r\nc\u2028d"), (Clauses{{"a b [31m  c d", ""}}));
}

TEST(ClausesTest, TakesTheMeaningFromDoubleBrackets) {
  EXPECT_EQ(SplitClauses("[[[h@]]]"), (Clauses{{"[ [ [h@]]]", ""}}));
}

TEST(ClausesTest, CutsAtAWordWhatIsTooLongForALine) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "word ";
  const Clauses clauses = SplitClauses(text + "end.");
  ASSERT_GT(clauses.size(), 10U);
  for (const Clause& clause : clauses) {
    EXPECT_LE(clause.text.size(), kMaxClauseBytes);
    EXPECT_TRUE(clause.text.ends_with("word") || clause.text.ends_with("end."));
  }
  EXPECT_EQ(clauses.front().mark, "");
  EXPECT_EQ(clauses.back().mark, ".");
}

TEST(ClausesTest, NeverCutsWithinACharacter) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\u00e9";
  std::string joined;
  for (const Clause& clause : SplitClauses("x" + text)) {
    EXPECT_NE(static_cast<unsigned char>(clause.text.front()) & 0xC0, 0x80);
    joined += clause.text;
  }
  EXPECT_EQ(joined, "x" + text);
}

TEST(ClausesTest, NothingGivesNothing) {
  EXPECT_TRUE(SplitClauses("").empty());
  EXPECT_TRUE(SplitClauses(" \n ").empty());
}

}  // namespace
}  // namespace millrace::models
