#include "server/calibrate/progress.h"

#include <gtest/gtest.h>

#include "tests/fakes/fake_clock.h"

namespace millrace {
namespace {

using std::chrono::seconds;

TEST(CalibrationProgressTest, GrowsWithRunsAndCells) {
  testing::FakeClock clock;
  CalibrationProgress progress(4, 10, clock);
  EXPECT_EQ(progress.Fraction(), 0);
  EXPECT_EQ(progress.Left(), std::nullopt);
  EXPECT_EQ(progress.Text(), "0 %");
  clock.Advance(seconds(30));
  progress.OnRun(5);
  EXPECT_DOUBLE_EQ(progress.Fraction(), 0.125);
  EXPECT_EQ(progress.Left(), seconds(210));
  EXPECT_EQ(progress.Text(), "12 %, about 3 min left");
  progress.OnCell(true, false);
  EXPECT_DOUBLE_EQ(progress.Fraction(), 0.25);
  progress.OnRun(3);
  progress.OnCell(/*planned=*/false, false);  // found on the way
  EXPECT_DOUBLE_EQ(progress.Fraction(), 0.25);
  EXPECT_EQ(progress.Bar(8), "[##......]");
}

TEST(CalibrationProgressTest, WhatIsKnownTellsNothingOfThePace) {
  testing::FakeClock clock;
  CalibrationProgress progress(4, 10, clock);
  progress.OnCell(true, true);
  progress.OnCell(true, true);
  EXPECT_EQ(progress.Left(), std::nullopt);
  clock.Advance(seconds(10));
  progress.OnCell(true, false);
  EXPECT_EQ(progress.Left(), seconds(10));
}

TEST(CalibrationProgressTest, EndsAtAHundred) {
  testing::FakeClock clock;
  CalibrationProgress progress(1, 10, clock);
  clock.Advance(seconds(1));
  progress.OnCell(true, false);
  EXPECT_EQ(progress.Text(), "100 %");
  EXPECT_EQ(progress.Bar(3), "[###]");
}

}  // namespace
}  // namespace millrace
