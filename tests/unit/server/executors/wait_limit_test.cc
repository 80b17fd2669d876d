#include "server/executors/wait_limit.h"

#include <gtest/gtest.h>

#include "tests/fakes/fake_clock.h"

namespace millrace::server {
namespace {

using std::chrono::seconds;

TEST(WaitLimitTest, IsOverAfterItsTime) {
  testing::FakeClock clock;
  WaitLimit wait(clock, seconds(10));
  for (int second = 1; second < 10; ++second) {
    clock.Advance(seconds(1));
    EXPECT_FALSE(wait.IsOver()) << second;
  }
  clock.Advance(seconds(1));
  EXPECT_TRUE(wait.IsOver());
  EXPECT_EQ(wait.Took(), seconds(10));
  wait.Begin();
  EXPECT_FALSE(wait.IsOver());
}

TEST(WaitLimitTest, DoesNotCountATimeInWhichNobodyLookedOnceInAWait) {
  testing::FakeClock clock;
  WaitLimit wait(clock, seconds(10));
  clock.Advance(seconds(4));
  EXPECT_FALSE(wait.IsOver());
  clock.Advance(std::chrono::hours(8));  // as of a machine that sleeps
  EXPECT_EQ(wait.Took(), seconds(4));
  clock.Advance(seconds(4));
  EXPECT_FALSE(wait.IsOver());
  clock.Advance(seconds(6));
  EXPECT_TRUE(wait.IsOver());
  wait.Begin();
  clock.Advance(std::chrono::hours(8));
  EXPECT_FALSE(wait.IsOver());
}

}  // namespace
}  // namespace millrace::server
