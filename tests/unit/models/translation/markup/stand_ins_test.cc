#include "models/translation/markup/stand_ins.h"

#include <gtest/gtest.h>

namespace millrace::translation {
namespace {

TEST(StandInsTest, AreNumberedAndSharedByAdjacentSpans) {
  MarkedText marked{.text = "a {b}{c} d {e}",
                    .kept = {{2, 5, "{b}"}, {5, 8, "{c}"}, {11, 14, "{e}"}}};
  PutStandIns(marked);
  EXPECT_EQ(marked.text, "a X1 d X2");
  ASSERT_EQ(marked.kept.size(), 2u);
  EXPECT_EQ(marked.kept[0].becomes, "{b}{c}");
  EXPECT_EQ(marked.kept[1].begin, 7u);
  EXPECT_EQ(Untouched(marked), "a {b}{c} d {e}");
}

TEST(StandInsTest, DifferFromTheWordsOfTheText) {
  MarkedText marked{.text = "X7 and {b}", .kept = {{7, 10, "{b}"}}};
  PutStandIns(marked);
  EXPECT_EQ(marked.text, "X7 and K1");
}

TEST(StandInsTest, AreMarksBesideAWord) {
  MarkedText marked{.text = "a{b} c", .kept = {{1, 4, "{b}"}}};
  PutStandIns(marked);
  EXPECT_EQ(marked.text, "a c");
  EXPECT_TRUE(marked.kept.empty());
  ASSERT_EQ(marked.events.size(), 1u);
  EXPECT_EQ(marked.events[0].at, 1u);
  EXPECT_EQ(marked.events[0].markup, "{b}");
}

TEST(StandInsTest, GiveWayToWhatAModelReads) {
  MarkedText marked{.text = "a – b", .kept = {{2, 5, "–", "-", /*returns=*/true}}};
  PutStandIns(marked);
  EXPECT_EQ(marked.text, "a - b");
  ASSERT_EQ(marked.kept.size(), 1u);
  EXPECT_EQ(marked.kept[0].begin, 2u);
  EXPECT_EQ(marked.kept[0].end, 3u);
}

}  // namespace
}  // namespace millrace::translation
