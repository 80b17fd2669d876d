#pragma once

#include <cstdint>
#include <optional>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::logging {

// Keeps what others cause from filling the log: lets some lines of one kind through, then one for
// each interval. Thread-safe.
class LineLimiter {
 public:
  // The first `burst` lines of a quiet time pass at once. The clock must outlive it.
  LineLimiter(int burst, Duration interval, Clock& clock = Clock::Real())
      : burst_(burst), interval_(interval), clock_(clock) {}

  // How many lines were held back since the last that passed; none when this one is held back too.
  std::optional<uint64_t> Pass() MILLRACE_EXCLUDES(mu_);

 private:
  const int burst_;
  const Duration interval_;
  Clock& clock_;
  Mutex mu_;
  // When the lines that have passed are paid for, an interval each.
  TimePoint paid_ MILLRACE_GUARDED_BY(mu_);
  uint64_t held_back_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::logging
