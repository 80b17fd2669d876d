#include "models/speech/first_clause.h"

#include <gtest/gtest.h>

namespace millrace::speech {
namespace {

using Units = std::vector<std::string_view>;

Units Cut(Units units) {
  CutFirstClause(units);
  return units;
}

TEST(FirstClauseTest, EndsAtThePauseThatComesFirst) {
  EXPECT_EQ(
      Cut({"When the rain had stopped, we went out, and the sun shone.", "It was late."}),
      (Units{"When the rain had stopped,", "we went out, and the sun shone.", "It was late."}));
  EXPECT_EQ(Cut({"There are three of them: one here, two there."})[0], "There are three of them:");
  EXPECT_EQ(Cut({"I came too late; the train had left."})[0], "I came too late;");
  EXPECT_EQ(Cut({"He said nothing — not a word — all day."}),
            (Units{"He said nothing —", "not a word — all day."}));
  EXPECT_EQ(Cut({"He said nothing—not a word all day."}),
            (Units{"He said nothing—", "not a word all day."}));
  EXPECT_EQ(Cut({"We waited here - as you know - all day."})[0], "We waited here -");
}

TEST(FirstClauseTest, HasWordsEnoughAndLeavesEnough) {
  EXPECT_EQ(Cut({"Well, to be honest, I do not know it."})[0], "Well, to be honest,");
  for (const char* text : {"Well, I do not know.", "I really do not know, sir.",
                           "There is no pause in this one.", "", "One two three,"}) {
    EXPECT_EQ(Cut({text}), Units{text});
  }
  EXPECT_EQ(Cut({}), Units{});
}

TEST(FirstClauseTest, IsNotCutWithinNumbersAndWords) {
  for (const char* text :
       {"It cost about 1,000 to repair that.", "The train at 10:30 was very late.",
        "This is a well-known and old-fashioned thing.",
        "He was there from 1990–1995 and never again."}) {
    EXPECT_EQ(Cut({text}), Units{text});
  }
}

TEST(FirstClauseTest, TakesWhatClosesAQuotation) {
  EXPECT_EQ(Cut({"“I am so glad,” she said to me quietly."})[0], "“I am so glad,”");
  EXPECT_EQ(Cut({"\"I am so glad,\" she said to me."})[0], "\"I am so glad,\"");
}

}  // namespace
}  // namespace millrace::speech
