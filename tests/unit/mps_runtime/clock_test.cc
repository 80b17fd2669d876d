#include "mps_runtime/base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace millrace {
namespace {

TEST(RealClockTest, ReportsThatTheDeadlineHasPassed) {
  Mutex mu;
  CondVar cv;
  MutexLock lock(mu);
  EXPECT_FALSE(Clock::Real().WaitUntil(cv, mu, Clock::Real().Now() - std::chrono::seconds(1)));
}

TEST(RealClockTest, WakesBeforeTheDeadlineWhenNotified) {
  Mutex mu;
  CondVar cv;
  bool ready = false;
  std::thread notifier([&] {
    MutexLock lock(mu);
    ready = true;
    cv.NotifyOne();
  });
  {
    MutexLock lock(mu);
    const TimePoint deadline = Clock::Real().Now() + std::chrono::hours(1);
    while (!ready) ASSERT_TRUE(Clock::Real().WaitUntil(cv, mu, deadline));
  }
  notifier.join();
}

}  // namespace
}  // namespace millrace
