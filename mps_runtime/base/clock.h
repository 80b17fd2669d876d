#pragma once

#include <chrono>

#include "mps_runtime/base/mutex.h"

namespace millrace {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

// The source of time for code that tests have to control. Thread-safe. Real() lives for the whole
// process.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
  // Waits on cv until it is notified or this clock reaches the deadline; returns false when the
  // deadline passed. May wake spuriously.
  virtual bool WaitUntil(CondVar& cv, Mutex& mu, TimePoint deadline) MILLRACE_REQUIRES(mu) = 0;

  static Clock& Real();
};

}  // namespace millrace
