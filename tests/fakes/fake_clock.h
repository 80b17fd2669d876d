#pragma once

#include <atomic>
#include <chrono>

#include "mps_runtime/base/clock.h"

namespace millrace::testing {

// A clock that stands still until the test moves it. Thread-safe. Real waits on it look at the time
// every millisecond, so that a waiter sees an Advance without the clock knowing its condition
// variable.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(TimePoint start = TimePoint(std::chrono::hours(1))) : now_(start) {}

  TimePoint Now() const override { return now_.load(); }
  bool WaitUntil(CondVar& cv, Mutex& mu, TimePoint deadline) override MILLRACE_REQUIRES(mu) {
    if (Now() >= deadline) return false;
    cv.WaitUntil(mu, std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
    return Now() < deadline;
  }

  void Advance(Duration by) { now_.store(now_.load() + by); }

 private:
  std::atomic<TimePoint> now_;
};

}  // namespace millrace::testing
