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
  MarkedText marked{.text = "{c} – b", .kept = {{0, 3, "{c}"}, {4, 7, "–", "-", /*returns=*/true}}};
  PutStandIns(marked);
  EXPECT_EQ(marked.text, "X1 - b");
  ASSERT_EQ(marked.kept.size(), 2u);
  EXPECT_EQ(marked.kept[1].begin, 3u);
  EXPECT_EQ(marked.kept[1].end, 4u);
}

}  // namespace
}  // namespace millrace::translation
