#include "server/scheduling/deadline_load.h"

#include <gtest/gtest.h>

#include <limits>

namespace millrace::server {
namespace {

using std::chrono::seconds;

// The load of two workers.
class DeadlineLoadTest : public ::testing::Test {
 protected:
  DeadlineLoadTest() { load_.Begin(now_, 0, 2); }
  // Adds a request of so many seconds for one worker.
  void Add(int due, double work) { load_.Add(now_ + seconds(due), work / 2, work); }

  const TimePoint now_ = TimePoint(std::chrono::hours(1));
  DeadlineLoad load_;
};

TEST_F(DeadlineLoadTest, CountsWhatIsDueByThen) {
  Add(30, 8);
  Add(10, 4);
  Add(20, 2);
  load_.Build();
  EXPECT_EQ(load_.DueBy(now_ + seconds(9)), 0);
  EXPECT_EQ(load_.DueBy(now_ + seconds(10)), 2);
  EXPECT_EQ(load_.DueBy(now_ + seconds(25)), 3);
  EXPECT_EQ(load_.DueBy(TimePoint::max()), 7);
  EXPECT_EQ(load_.earliest(), now_ + seconds(10));
}

TEST_F(DeadlineLoadTest, WithoutWorkThereIsRoomForAny) {
  load_.Build();
  EXPECT_EQ(load_.Room(now_), std::numeric_limits<double>::infinity());
  EXPECT_LT(load_.Excess(1), 0);
  EXPECT_EQ(load_.earliest(), TimePoint::max());
}

TEST_F(DeadlineLoadTest, RoomIsWhatTheTightestLaterDeadlineLeaves) {
  Add(10, 4);
  Add(20, 4);
  Add(21, 16);  // begins after four seconds and takes sixteen
  Add(90, 2);
  load_.Build();
  EXPECT_EQ(load_.Room(now_), 1);
  EXPECT_EQ(load_.Room(now_ + seconds(21)), 1);
  EXPECT_EQ(load_.Room(now_ + seconds(22)), 90 - 14);
}

TEST_F(DeadlineLoadTest, AsManyAsWorkersBeginAtOnce) {
  Add(10, 9);
  Add(10, 9);
  load_.Build();
  EXPECT_EQ(load_.Excess(1), -1);
}

TEST_F(DeadlineLoadTest, ExcessNamesTheDeadlineThatIsMissed) {
  for (int i = 0; i < 4; ++i) Add(10, 6);
  Add(100, 6);
  load_.Build();
  TimePoint deadline;
  EXPECT_EQ(load_.Excess(1, &deadline), 9 + 6 - 10);
  EXPECT_EQ(deadline, now_ + seconds(10));
  EXPECT_EQ(load_.Excess(2), 30 - 10);
}

TEST_F(DeadlineLoadTest, WorkMustBeDoneSoLongBeforeItsDeadline) {
  load_.Begin(now_, 3, 2);
  Add(10, 6);
  load_.Build();
  EXPECT_EQ(load_.Excess(1), -1);
}

TEST_F(DeadlineLoadTest, WhatCannotBeDoneAnyMoreTakesOnlyTheTimeItHas) {
  Add(10, 1000);
  Add(20, 2);
  Add(-1, 1000);
  load_.Build();
  EXPECT_EQ(load_.DueBy(TimePoint::max()), 11);
  EXPECT_EQ(load_.Excess(1), 0);
}

}  // namespace
}  // namespace millrace::server
