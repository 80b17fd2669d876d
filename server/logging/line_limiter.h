#pragma once

#include <cstdint>
#include <optional>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::logging {

// Keeps events that others cause from filling the log: passes some lines of one kind, then one for
// each interval. Thread-safe.
class LineLimiter {
 public:
  // The first `burst` lines after a quiet time pass at once. The clock must outlive it.
  LineLimiter(int burst, Duration interval, Clock& clock = Clock::Real())
      : burst_(burst), interval_(interval), clock_(clock) {}

  // Returns the number of lines that were held back since the last one that passed, or nullopt when
  // this line is held back too.
  std::optional<uint64_t> Pass() MILLRACE_EXCLUDES(mu_);

 private:
  const int burst_;
  const Duration interval_;
  Clock& clock_;
  Mutex mu_;
  // The time until which the passed lines have used up their intervals.
  TimePoint paid_ MILLRACE_GUARDED_BY(mu_);
  uint64_t held_back_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::logging
